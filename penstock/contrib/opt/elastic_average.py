"""Elastic averaging: workers explore on their own, held by a center (Zhang et al., 2015)."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib.opt.center_variables import CenterGetter, InitialCentersHook, local_step
from penstock.train.optimizer import Optimizer
from penstock.train.saveables import op_list_to_dict

__all__ = ["ElasticAverageCustomGetter", "ElasticAverageOptimizer"]


class ElasticAverageCustomGetter(CenterGetter):
    """Makes a local variable, a global center and the worker's copy of the center.

    Args:
      worker_device: The device of local variables.
    """

    local_companion = "local_center_variable"

    def __init__(self, worker_device: str):
        super().__init__(worker_device)
        self._local_map = self._companions


class ElasticAverageOptimizer(Optimizer):
    """Trains local variables, which are drawn to the centers and draw them.

    Args:
      opt: The optimizer of the local variables.
      num_worker: The number of workers.
      ea_custom_getter: The getter that made the variables.
      communication_period: After how many steps a worker meets the centers.
      moving_rate: How far they then move; 0.9 / period / workers if None.
      rho: The weight of the distance in the loss; the moving rate by the learning rate if None.
      synchronous: Whether workers wait for each other before the first step.
    """

    BETA = 0.9

    def __init__(
        self,
        opt: Any,
        num_worker: int,
        ea_custom_getter: ElasticAverageCustomGetter,
        communication_period: int = 10,
        moving_rate: float | None = None,
        rho: float | None = None,
        use_locking: bool = True,
        synchronous: bool = False,
        name: str = "ElasticAverageOptimizer",
    ):
        super().__init__(use_locking, name)
        self._opt = opt
        self._num_worker = num_worker
        self._period = communication_period
        self._local_map = ea_custom_getter._local_map
        self._global_map = ea_custom_getter._global_map
        self._synchronous = synchronous
        default = self.BETA / communication_period / num_worker
        self._moving_rate = default if moving_rate is None else moving_rate
        self._rho = self._moving_rate / opt._learning_rate if rho is None else rho
        self._local_step = local_step()
        opt._prepare()

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> Any:
        """The gradients of the loss and of the distance to the centers."""
        variables = var_list or tf.trainable_variables()
        distances = [tf.nn.l2_loss(v - self._local_map[v]) for v in variables]
        return self._opt.compute_gradients(
            loss + self._rho * tf.add_n(distances),
            variables,
            gate_gradients,
            aggregation_method,
            colocate_gradients_with_ops,
            grad_loss,
        )

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Updates local variables, and the centers after each period."""
        pairs = list(grads_and_vars)
        before = set(tf.global_variables())
        applied = self._opt.apply_gradients(pairs)
        _make_local(set(tf.global_variables()) - before)
        with tf.control_dependencies([applied]):
            counted = tf.assign_add(self._local_step, 1, name="local_step_update").op
        with tf.control_dependencies([counted]):
            return tf.cond(
                tf.equal(tf.mod(self._local_step, self._period), 0),
                lambda: self._meet_centers([v for g, v in pairs if g is not None], global_step),
                tf.no_op,
            )

    def _meet_centers(self, variables: list[Any], global_step: Any) -> Any:
        copied = [self._local_map[v].assign(self._global_map[v]) for v in variables]
        updates = []
        with tf.control_dependencies(copied):
            for variable in variables:
                with tf.device(variable.device):
                    move = self._moving_rate * tf.subtract(variable, self._local_map[variable])
                updates.append(tf.assign_sub(variable, move))
                updates.append(tf.assign_add(self._global_map[variable], move))
            if global_step is not None:
                with tf.colocate_with(global_step):
                    updates.append(tf.assign_add(global_step, 1))
        return tf.group(*updates)

    def get_init_op(self, task_index: int) -> Any:
        """Gives the worker's variables the values of the centers."""
        variables = tf.trainable_variables()
        if not variables:
            raise ValueError(
                "The lists of local_variables, global_center_variables, local_center_variables "
                "should not be empty  "
            )
        assigned = []
        for v in variables:
            center = self._global_map[v]
            assigned += [tf.assign(v, center), tf.assign(self._local_map[v], center)]
        init_op = tf.group(*assigned)
        return self._barrier(init_op, task_index) if self._synchronous else init_op

    def _barrier(self, after: Any, task_index: int) -> Any:
        """Tells each other worker, and waits for a word of each."""
        queues = [
            tf.FIFOQueue(
                self._num_worker,
                [tf.bool],
                shapes=[[]],
                shared_name=f"variable_init_sync_queue{i}",
            )
            for i in range(self._num_worker)
        ]
        with tf.control_dependencies([after]):
            told = [q.enqueue(False) for i, q in enumerate(queues) if i != task_index]
        return tf.group(*told, queues[task_index].dequeue_many(self._num_worker - 1))

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> InitialCentersHook:
        """The hook that initializes the worker's variables."""
        return InitialCentersHook(self, is_chief, task_index)

    def swapping_saver(
        self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any
    ) -> Any:
        """A saver of the centers under the names of the variables."""
        if not self._global_map:
            raise RuntimeError(
                "global_center_variable is empty, please make sure this is called after model "
                "created and ElasticAverageCustomGetter is used when declaring you model"
            )
        given = tf.trainable_variables() if var_list is None else var_list
        named = given if isinstance(given, dict) else op_list_to_dict(given)
        centers = {variable.op.name: center for variable, center in self._global_map.items()}
        swapped = {
            # A list of variables comes back as tensors, under the variables' names.
            key: [centers.get(part.op.name, part) for part in each]
            if isinstance(each, list)
            else centers.get(key if each.op.type == "ReadVariableOp" else each.op.name, each)
            for key, each in named.items()
        }
        return tf.train.Saver(swapped, name=name, **kwargs)


def _make_local(variables: set[Any]) -> None:
    """What an optimizer keeps for a worker's variables is the worker's own."""
    shared = tf.get_collection_ref(tf.GraphKeys.GLOBAL_VARIABLES)
    for variable in [v for v in shared if v in variables]:
        tf.add_to_collection(tf.GraphKeys.LOCAL_VARIABLES, variable)
        shared.remove(variable)
