"""Parts of models that are made for TPUs, as they are without."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import penstock as tf


class CrossShardOptimizer(tf.train.Optimizer):
    """Averages gradients over the cores of a TPU; there is one core here, so it only applies them.

    Args:
      opt: the optimizer that applies the gradients.
      reduction: `tf.losses.Reduction.SUM` or `MEAN`.
    """

    def __init__(
        self,
        opt: Any,
        reduction: str = tf.losses.Reduction.MEAN,
        name: str = "CrossShardOptimizer",
        group_assignment: Any = None,
    ):
        if reduction not in (tf.losses.Reduction.SUM, tf.losses.Reduction.MEAN):
            raise ValueError(f"Unsupported reduction: {reduction}.")
        super().__init__(False, name)
        self._opt = opt
        self._reduction = reduction

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        return self._opt.apply_gradients(list(grads_and_vars), global_step, name)

    def get_slot(self, var: Any, name: str) -> Any:
        return self._opt.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        return list(self._opt.get_slot_names())

    def variables(self) -> list[Any]:
        """The variables of the optimizer inside."""
        return list(self._opt.variables())


@contextmanager
def bfloat16_scope() -> Iterator[Any]:
    """A variable scope whose variables are kept as floats and read as bfloat16."""

    def getter(wrapped: Any, *args: Any, **kwargs: Any) -> Any:
        dtype = kwargs.get("dtype")
        if dtype is None or tf.as_dtype(dtype) != tf.bfloat16:
            return wrapped(*args, **kwargs)
        kwargs["dtype"] = tf.float32
        return tf.cast(wrapped(*args, **kwargs), tf.bfloat16)

    with tf.variable_scope("", custom_getter=getter) as scope:
        yield scope


def cross_replica_sum(x: Any, group_assignment: Any = None, name: str | None = None) -> Any:
    """The sum over the cores of a TPU: there is one."""
    return tf.identity(x, name=name)
