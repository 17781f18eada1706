"""An optimizer around another that drops gradients of old values."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.train.optimizer import Optimizer

__all__ = ["DropStaleGradientOptimizer"]


class DropStaleGradientOptimizer(Optimizer):
    """Applies gradients only if few steps were made by others since they were computed.

    Args:
      opt: The optimizer that applies them.
      staleness: How many steps are allowed.
    """

    def __init__(
        self, opt: Any, staleness: int, use_locking: bool = False, name: str = "DropStaleGradient"
    ):
        super().__init__(use_locking, name)
        self._opt = opt
        self._staleness = staleness

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        """The gradients, of the inner optimizer; the global step before them is remembered."""
        with tf.colocate_with(loss):
            self._local_step = tf.train.get_global_step() + 0
        with tf.control_dependencies([self._local_step]):
            return self._opt.compute_gradients(tf.identity(loss), *args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """A slot of the inner optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """The names of the inner optimizer's slots."""
        return self._opt.get_slot_names(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Applies the gradients or counts them as stale; gives the number of stale ones."""
        pairs = list(grads_and_vars)
        with tf.colocate_with(global_step):
            stale = tf.get_variable(
                "stale_counter", [], initializer=tf.zeros_initializer(), trainable=False
            )

        def accept() -> Any:
            with tf.control_dependencies(
                [self._opt.apply_gradients(pairs, global_step=global_step, name=name)]
            ):
                return tf.identity(0.0)

        computed = [gradient.op for gradient, _ in pairs if gradient is not None]
        with tf.control_dependencies(computed), tf.colocate_with(global_step):
            staleness = tf.reshape(global_step - self._local_step, shape=())
        update = stale.assign_add(
            tf.cond(staleness <= self._staleness, accept, lambda: tf.identity(1.0))
        )
        steps = tf.cast(global_step + 1, tf.float32)
        tf.summary.scalar("Gradient staleness percentage", stale / steps)
        return update
