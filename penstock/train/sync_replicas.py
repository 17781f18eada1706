"""`tf.train.SyncReplicasOptimizer`: gradients of replicas are averaged, then applied."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.collections import GraphKeys
from penstock.ir.composite import IndexedSlices
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops.control import group, no_op
from penstock.ops.filling import fill
from penstock.ops.variable_collections import global_variables, report_uninitialized_variables
from penstock.ops.variable_updates import assign
from penstock.ops.variables import Variable
from penstock.platform import logging
from penstock.train.optimizer import Optimizer
from penstock.train.session_manager import _ready
from penstock.train.session_run_hook import SessionRunHook

__all__ = ["SyncReplicasOptimizer"]


class SyncReplicasOptimizer(Optimizer):
    """Collects the gradients of replicas, and applies their average once for all of them.

    Each replica adds its gradients to accumulators on the parameter servers and waits for a token.
    The chief applies the average of `replicas_to_aggregate` gradients when they are there, and then
    gives out a token, which is the new global step, for every replica. Gradients that were computed
    for an older step are dropped.

    Args:
      opt: the optimizer that applies the gradients.
      replicas_to_aggregate: how many gradients are averaged.
      total_num_replicas: how many replicas there are, if more or fewer than these.
      variable_averages: an `ExponentialMovingAverage` to apply after each update.
      variables_to_average: the variables that it averages.
      use_locking: whether to lock variables.
      name: a name for the operations.
    """

    def __init__(
        self,
        opt: Any,
        replicas_to_aggregate: int,
        total_num_replicas: int | None = None,
        variable_averages: Any = None,
        variables_to_average: Any = None,
        use_locking: bool = False,
        name: str = "sync_replicas",
    ):
        if total_num_replicas is None:
            total_num_replicas = replicas_to_aggregate
        super().__init__(use_locking, name)
        logging.info(
            "SyncReplicasV2: replicas_to_aggregate=%s; total_num_replicas=%s",
            replicas_to_aggregate,
            total_num_replicas,
        )
        self._opt = opt
        self._replicas_to_aggregate = replicas_to_aggregate
        self._total_num_replicas = total_num_replicas
        self._tokens_per_step = max(total_num_replicas, replicas_to_aggregate)
        self._variable_averages = variable_averages
        self._variables_to_average = variables_to_average
        self._gradients_applied = False
        self._global_step: Any = None
        self._sync_token_queue: Any = None
        self._chief_queue_runner: Any = None
        self._accumulator_list: list[tuple[Any, str]] = []

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """The gradients, as the wrapped optimizer computes them."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """The operation of a replica: adds its gradients and waits for the next step."""
        grads_and_vars = list(grads_and_vars) if grads_and_vars else grads_and_vars
        if not grads_and_vars:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        self._global_step = global_step
        graph = get_default_graph()
        anchor = no_op()
        with graph.colocate_with(anchor):
            self._local_step = Variable(
                initial_value=0,
                trainable=False,
                collections=[GraphKeys.LOCAL_VARIABLES],
                dtype=global_step.dtype.base_dtype,
                name="sync_rep_local_step",
            )
        self.local_step_init_op = assign(self._local_step, global_step)
        self.ready_for_local_init_op = report_uninitialized_variables(global_variables())
        with name_scope(None, self._name):
            added, averaged = self._accumulate(grads_and_vars)
            with graph.device(global_step.device), name_scope(""):
                update = self._opt.apply_gradients(averaged, global_step)
            with graph.device(global_step.device), name_scope(""):
                train_op = self._exchange_tokens(added, update, global_step)
            chief_init_ops = [self.local_step_init_op]
            for accumulator, device in self._accumulator_list:
                with graph.device(device):
                    chief_init_ops.append(
                        accumulator.set_global_step(global_step, name="SetGlobalStep")
                    )
            self.chief_init_op = group(*chief_init_ops)
            self._gradients_applied = True
            return train_op

    def _accumulate(self, grads_and_vars: Any) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """Operations that add this replica's gradients, and the averages with their variables."""
        added, averaged = [], []
        for grad, var in grads_and_vars:
            with get_default_graph().device(var.device):
                if grad is None:
                    averaged.append((None, var))
                    continue
                add, average = self._accumulate_one(grad, var)
                added.append(add)
                averaged.append((average, var))
        return added, averaged

    def _accumulate_one(self, grad: Any, var: Any) -> tuple[Any, Any]:
        from penstock.ops.accumulators import (
            ConditionalAccumulator,
            SparseConditionalAccumulator,
        )

        name = f"{var.name}/grad_accum"
        count = self._replicas_to_aggregate
        accumulator: Any
        if isinstance(grad, Tensor):
            accumulator = ConditionalAccumulator(
                grad.dtype, shape=var.get_shape(), shared_name=name
            )
            add = accumulator.apply_grad(grad, local_step=self._local_step)
            average = accumulator.take_grad(count)
        elif isinstance(grad, IndexedSlices):
            accumulator = SparseConditionalAccumulator(grad.dtype, shape=(), shared_name=name)
            add = accumulator.apply_indexed_slices_grad(grad, local_step=self._local_step)
            average = accumulator.take_indexed_slices_grad(count)
        else:
            raise ValueError("Unknown grad type!")
        self._accumulator_list.append((accumulator, var.device))
        return add, average

    def _exchange_tokens(self, added: list[Any], update: Any, global_step: Any) -> Any:
        """The replica's wait for a token; the chief's queue runner gives them out."""
        from penstock.ops.queues import FIFOQueue
        from penstock.train.queue_runner import QueueRunner

        graph = get_default_graph()
        tokens = FIFOQueue(
            -1,
            global_step.dtype.base_dtype,
            shapes=(),
            name="sync_token_q",
            shared_name="sync_token_q",
        )
        self._sync_token_queue = tokens
        # A queue runner belongs to a queue: to this one, since the tokens must not be closed.
        unused = FIFOQueue(
            1, dtypes.int32, shapes=(), name="dummy_queue", shared_name="dummy_queue"
        )
        with graph.control_dependencies(added):
            token = tokens.dequeue()
        train_op = assign(self._local_step, token)
        with graph.control_dependencies([update]):
            # The global step is read after the update, so that tokens are of the next step.
            sync_op = tokens.enqueue_many((fill([self._tokens_per_step], global_step),))
        if self._variable_averages is not None:
            with graph.control_dependencies([sync_op]), name_scope(""):
                sync_op = self._variable_averages.apply(self._variables_to_average)
        self._chief_queue_runner = QueueRunner(unused, [sync_op])
        return train_op

    def get_chief_queue_runner(self) -> Any:
        """The queue runner that the chief must start: it applies gradients and gives out tokens."""
        if not self._gradients_applied:
            raise ValueError("Should be called after apply_gradients().")
        return self._chief_queue_runner

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """A slot of the wrapped optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def variables(self) -> Any:
        """The variables of the wrapped optimizer."""
        return self._opt.variables()

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """The names of the wrapped optimizer's slots."""
        return self._opt.get_slot_names(*args, **kwargs)

    def get_init_tokens_op(self, num_tokens: int = -1) -> Any:
        """An operation that the chief runs once: it gives out the first tokens."""
        if not self._gradients_applied:
            raise ValueError("get_init_tokens_op() should be called after apply_gradients().")
        needed = self._replicas_to_aggregate - self._total_num_replicas
        if num_tokens == -1:
            num_tokens = self._replicas_to_aggregate
        elif num_tokens < needed:
            raise ValueError(
                f"Too few tokens to finish the first step: {num_tokens} (given) vs {needed} "
                "(needed)"
            )
        if num_tokens <= 0:
            return no_op(name="no_init_tokens")
        with get_default_graph().device(self._global_step.device), name_scope(""):
            tokens = fill([num_tokens], self._global_step)
            return self._sync_token_queue.enqueue_many((tokens,))

    def make_session_run_hook(self, is_chief: bool, num_tokens: int = -1) -> SessionRunHook:
        """The hook that a training session needs: it initializes, and starts the chief's part."""
        return _SyncReplicasOptimizerHook(self, is_chief, num_tokens)


class _SyncReplicasOptimizerHook(SessionRunHook):
    """Initializes the local step and, in the chief, the tokens; starts the chief's queue runner."""

    def __init__(self, sync_optimizer: SyncReplicasOptimizer, is_chief: bool, num_tokens: int):
        self._sync_optimizer = sync_optimizer
        self._is_chief = is_chief
        self._num_tokens = num_tokens

    def begin(self) -> None:
        optimizer = self._sync_optimizer
        if not optimizer._gradients_applied:
            raise ValueError(
                "SyncReplicasOptimizer.apply_gradient should be called before using the hook."
            )
        self._ready_for_local_init_op = optimizer.ready_for_local_init_op
        self._q_runner: Any = None
        self._init_tokens_op: Any = None
        if self._is_chief:
            self._local_init_op: Any = optimizer.chief_init_op
            self._q_runner = optimizer.get_chief_queue_runner()
            self._init_tokens_op = optimizer.get_init_tokens_op(self._num_tokens)
        else:
            self._local_init_op = optimizer.local_step_init_op

    def after_create_session(self, session: Any, coord: Any) -> None:
        ready, problem = _ready(
            self._ready_for_local_init_op,
            session,
            "Model is not ready for SyncReplicasOptimizer local init.",
        )
        if not ready:
            raise RuntimeError(
                "Init operations did not make model ready for SyncReplicasOptimizer local_init. "
                f"Init op: {self._local_init_op.name}, error: {problem}"
            )
        session.run(self._local_init_op)
        if self._init_tokens_op is not None:
            session.run(self._init_tokens_op)
        if self._q_runner is not None:
            self._q_runner.create_threads(
                session, coord=_NotAwaited(coord), daemon=True, start=True
            )

    def end(self, session: Any) -> None:
        """Lets go replicas that wait for a token, so that they can see that the end has come.

        The chief has no more to give out; a replica that lent its tokens to faster ones would wait
        without end.
        """
        if self._init_tokens_op is None or self._init_tokens_op.type == "NoOp":
            return
        optimizer = self._sync_optimizer
        at_once = self._num_tokens if self._num_tokens > 0 else optimizer._replicas_to_aggregate
        for _ in range(0, optimizer._total_num_replicas, at_once):
            session.run(self._init_tokens_op)


class _NotAwaited:
    """A coordinator that does not wait for the chief's thread to end.

    The thread waits for gradients, which nobody sends any more at the end of a job: it ends when
    the session is closed, which happens after the wait.
    """

    def __init__(self, coord: Any):
        self._coord = coord

    def __getattr__(self, name: str) -> Any:
        return getattr(self._coord, name)

    def register_thread(self, thread: Any) -> None:
        pass

    def request_stop(self, ex: Any = None) -> None:
        if not self._coord.joined:  # else the thread was stopped, by the end of its session
            self._coord.request_stop(ex)
