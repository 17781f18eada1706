"""Accumulated gradient normalization: centers follow the mean of a worker's gradients."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib.opt.center_variables import CenterGetter, InitialCentersHook, local_step
from penstock.train.optimizer import Optimizer

__all__ = ["AGNCustomGetter", "AGNOptimizer"]


class AGNCustomGetter(CenterGetter):
    """Makes a local variable, a global center and a variable for the sum of gradients.

    Args:
      worker_device: The device of local variables.
    """

    local_companion = "grad_variable"

    def __init__(self, worker_device: str):
        super().__init__(worker_device)
        self._grad_map = self._companions


class AGNOptimizer(Optimizer):
    """Trains local variables; after each period the centers, from which the worker goes on.

    Args:
      optimizer: The optimizer of both.
      num_worker: The number of workers.
      custom_getter: The getter that made the variables.
      communication_period: The number of local steps in a period.
    """

    def __init__(
        self,
        optimizer: Any,
        num_worker: int,
        custom_getter: AGNCustomGetter,
        communication_period: int = 10,
        use_locking: bool = True,
        name: str = "AGNOptimizer",
    ):
        super().__init__(use_locking, name)
        self._opt = optimizer
        self._num_worker = num_worker
        self._period = communication_period
        self._global_map = custom_getter._global_map
        self._grad_map = custom_getter._grad_map
        self._local_step = local_step()
        optimizer._prepare()

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Updates local variables, and the centers after each period."""
        pairs = [(g, v) for g, v in grads_and_vars if g is not None]
        with tf.variable_creator_scope(_local_creator):
            applied = self._opt.apply_gradients(pairs)
        summed = [tf.assign_add(self._grad_map[v], g) for g, v in pairs]
        counted = tf.assign_add(self._local_step, 1, name="local_step_update").op
        with tf.control_dependencies([counted]):
            ended = tf.equal(tf.mod(self._local_step, self._period), 0)
        with tf.control_dependencies([applied, *summed]):
            return tf.cond(
                ended, lambda: self._update_centers([v for _, v in pairs], global_step), tf.no_op
            )

    def _update_centers(self, variables: list[Any], global_step: Any) -> Any:
        sums = [self._grad_map[v] for v in variables]
        centers = [self._global_map[v] for v in variables]
        means = [tf.assign(each, each / self._period) for each in sums]
        with tf.control_dependencies(means):
            applied = self._opt.apply_gradients(list(zip(sums, centers, strict=True)))
        with tf.control_dependencies([applied]):
            updates = [
                tf.assign(v, center.read_value())
                for v, center in zip(variables, centers, strict=True)
            ]
            updates += [tf.assign(each, tf.zeros_like(each)) for each in sums]
            if global_step is not None:
                with tf.colocate_with(global_step):
                    updates.append(tf.assign_add(global_step, 1))
            return tf.group(*updates)

    def get_init_op(self, task_index: int) -> Any:
        """Gives the worker's variables the values of the centers."""
        variables = tf.trainable_variables()
        if not variables:
            raise ValueError(
                "The lists of local_variables, global_center_variables,grad_center_variables "
                "should not be empty"
            )
        assigned = [tf.assign(v, self._global_map[v]) for v in variables]
        sums = [self._grad_map[v] for v in variables]
        return tf.group(*assigned, *[tf.assign(each, tf.zeros_like(each)) for each in sums])

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> InitialCentersHook:
        """The hook that initializes the worker's variables."""
        return InitialCentersHook(self, is_chief, task_index)


def _local_creator(next_creator: Any, collections: Any = None, **kwargs: Any) -> Any:
    """What the optimizer keeps for a worker's variables is the worker's own."""
    kept = [key for key in collections or () if key != tf.GraphKeys.GLOBAL_VARIABLES]
    return next_creator(collections=[*kept, tf.GraphKeys.LOCAL_VARIABLES], **kwargs)
