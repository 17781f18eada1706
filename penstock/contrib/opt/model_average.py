"""Model averaging: workers train on their own and now and then take the mean of their variables."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib.opt.center_variables import GLOBAL_VARIABLE_NAME, local_step
from penstock.train.optimizer import Optimizer

__all__ = ["ModelAverageCustomGetter", "ModelAverageOptimizer"]


class ModelAverageCustomGetter:
    """A custom getter: trained variables are local, each with a global one for the mean.

    Args:
      worker_device: The device of local variables.
    """

    def __init__(self, worker_device: str):
        self._worker_device = worker_device
        self._local_2_global: dict[Any, Any] = {}

    def __call__(
        self, getter: Any, name: str, trainable: bool, collections: Any, *args: Any, **kwargs: Any
    ) -> Any:
        local = tf.GraphKeys.LOCAL_VARIABLES
        if not trainable:
            on_worker = local in (collections or ())
            with tf.device(self._worker_device if on_worker else None):
                return getter(name, *args, trainable=False, collections=collections, **kwargs)
        with tf.device(self._worker_device):
            variable = getter(name, *args, trainable=True, collections=[local], **kwargs)
        self._local_2_global[variable] = tf.Variable(
            name=f"{GLOBAL_VARIABLE_NAME}/{name}",
            initial_value=variable.initialized_value(),
            trainable=False,
            collections=[tf.GraphKeys.GLOBAL_VARIABLES],
        )
        return variable


class ModelAverageOptimizer(Optimizer):
    """Trains local variables, and replaces them by the workers' mean after each interval.

    Args:
      opt: The optimizer of the local variables.
      num_worker: The number of workers.
      is_chief: Whether this worker computes the mean.
      ma_custom_getter: The getter that made the variables.
      interval_steps: The number of steps in an interval.
    """

    def __init__(
        self,
        opt: Any,
        num_worker: int,
        is_chief: bool,
        ma_custom_getter: ModelAverageCustomGetter,
        interval_steps: int = 100,
        use_locking: bool = True,
        name: str = "ModelAverageOptimizer",
    ):
        super().__init__(use_locking, name)
        self._opt = opt
        self._num_worker = num_worker
        self._is_chief = is_chief
        self._local_2_global = ma_custom_getter._local_2_global
        self._interval_steps = interval_steps
        self._accumulator_list: list[tuple[Any, str]] = []
        self._chief_init_op: Any = None
        self._local_step = local_step()
        opt._prepare()

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """The gradients, of the inner optimizer."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Updates local variables, and takes the mean after each interval."""
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required")
        with tf.control_dependencies([self._opt.apply_gradients(pairs)]):
            counted = tf.assign_add(self._local_step, 1, name="local_step_update").op
        variables = [v for g, v in pairs if g is not None]
        with tf.control_dependencies([counted]):
            update = tf.cond(
                tf.equal(tf.mod(self._local_step, self._interval_steps), 0),
                lambda: self._take_mean(variables, global_step),
                tf.no_op,
            )
        ready = []
        for accumulator, device in self._accumulator_list:
            with tf.device(device):
                ready.append(accumulator.set_global_step(global_step, name="SetGlobalStep"))
        self._chief_init_op = tf.group(*ready)
        return update

    def _take_mean(self, variables: list[Any], global_step: Any) -> Any:
        with tf.colocate_with(global_step):
            queue = tf.FIFOQueue(-1, [tf.bool], shapes=[[]], shared_name="sync_queue")
        given, means = [], []
        with tf.name_scope(None, self._name + "/global"):
            for variable in variables:
                shared = self._local_2_global[variable]
                with tf.device(shared.device):
                    accumulator = tf.ConditionalAccumulator(
                        variable.dtype.base_dtype,
                        shape=variable.shape,
                        shared_name=f"{shared.name}/var_accum",
                    )
                    given.append(accumulator.apply_grad(variable, local_step=global_step))
                    means.append(accumulator.take_grad(self._num_worker))
                    self._accumulator_list.append((accumulator, shared.device))
        with tf.control_dependencies(given):
            met = self._publish(variables, means, queue, global_step)
        with tf.control_dependencies([met]):
            return self._local_vars_update(variables)

    def _publish(self, variables: list[Any], means: list[Any], queue: Any, global_step: Any) -> Any:
        """The chief sets the means and tells the other workers, who wait for that."""
        with tf.device(global_step.device):
            if not self._is_chief:
                return queue.dequeue()
            updates = [
                tf.assign(self._local_2_global[v], mean)
                for v, mean in zip(variables, means, strict=True)
            ]
            updates.append(tf.assign_add(global_step, 1))
            with tf.control_dependencies(updates):
                return queue.enqueue_many(tf.fill([self._num_worker - 1], tf.constant(False)))

    def _local_vars_update(self, var_list: Any) -> Any:
        if not var_list:
            raise ValueError("The list of local_variables should not be empty")
        updates = []
        for variable in var_list:
            with tf.device(variable.device):
                updates.append(tf.assign(variable, self._local_2_global[variable].read_value()))
        return tf.group(*updates)

    def get_init_op(self) -> Any:
        """Gives the worker's variables the values of the global ones."""
        return self._local_vars_update(tf.trainable_variables())

    def make_session_run_hook(self) -> tf.train.SessionRunHook:
        """The hook that initializes the worker's variables."""
        return _ModelAverageOptimizerHook(self, self._is_chief)


class _ModelAverageOptimizerHook(tf.train.SessionRunHook):
    def __init__(self, ma_optimizer: ModelAverageOptimizer, is_chief: bool):
        self._ma_optimizer = ma_optimizer
        self._is_chief = is_chief

    def begin(self) -> None:
        self._local_init_op = tf.local_variables_initializer()
        self._global_init_op = None
        if self._is_chief:
            self._global_init_op = tf.global_variables_initializer()
            self._chief_init_op = self._ma_optimizer._chief_init_op
        self._variable_init_op = self._ma_optimizer.get_init_op()
