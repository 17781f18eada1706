"""Training of several tasks in turn: variables that a step does not concern stay as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf

_UPDATES = ("_apply_dense", "_resource_apply_dense", "_apply_sparse", "_resource_apply_sparse")


def _is_all_zeros(gradient: Any) -> Any:
    values = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
    return tf.equal(tf.count_nonzero(values), 0)


def _skipping_zeros(update: Callable[..., Any]) -> Callable[..., Any]:
    """An update that does nothing, also not to slots, if the gradient is zero."""

    def skipping(gradient: Any, *args: Any, **kwargs: Any) -> Any:
        def run() -> Any:
            with tf.control_dependencies([update(gradient, *args, **kwargs)]):
                return tf.no_op()

        return tf.cond(_is_all_zeros(gradient), tf.no_op, run)

    return skipping


class MultitaskOptimizerWrapper:
    """Makes an optimizer leave variables and slots alone where the gradient is zero."""

    def __init__(self, opt: Any):
        if not isinstance(opt, tf.train.Optimizer):
            raise TypeError("Supplied optimizer must be an instance of tf.train.Optimizer")
        self._opt = opt
        for name in _UPDATES:
            setattr(opt, name, _skipping_zeros(getattr(opt, name)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opt, name)


def clip_gradients_by_global_norm(
    gradients_variables: list[tuple[Any, Any]], clip_norm: float = 20.0
) -> tuple[list[tuple[Any, Any]], Any]:
    """Clips gradients by the norm of those that are not zero; gives that norm too."""
    gradients = [gradient for gradient, _ in gradients_variables]

    def or_scalar_zero(gradient: Any) -> Any:
        return tf.cond(
            _is_all_zeros(gradient), lambda: tf.zeros([], gradient.dtype), lambda: gradient
        )

    present = [None if each is None else or_scalar_zero(each) for each in gradients]
    norm = tf.global_norm(present)
    clipped, _ = tf.clip_by_global_norm(gradients, clip_norm, use_norm=norm)
    return [
        (gradient, variable)
        for gradient, (_, variable) in zip(clipped, gradients_variables, strict=True)
    ], norm
