"""Choices that are made when the graph runs: by a condition, or by the learning phase."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras.backend.session import learning_phase
from penstock.keras.backend.tensors import ndim

__all__ = ["in_test_phase", "in_train_phase", "switch"]


def _value(expression: Any) -> Any:
    return expression() if callable(expression) else expression


def switch(condition: Any, then_expression: Any, else_expression: Any) -> Any:
    """One of two tensors, or of functions that make them, by a condition.

    A scalar condition chooses the whole tensor, one of higher rank chooses values (it is broadcast
    along the last axes).
    """
    if condition.dtype.base_dtype != tf.bool:
        condition = tf.cast(condition, tf.bool)
    rank = ndim(condition)
    if not rank:
        return tf.cond(condition, lambda: _value(then_expression), lambda: _value(else_expression))
    then_value, else_value = _value(then_expression), _value(else_expression)
    value_rank = ndim(then_value)
    if rank > value_rank:
        raise ValueError(
            "Rank of `condition` should be less than or equal to rank of `then_expression` and "
            f"`else_expression`. ndim(condition)={rank}, ndim(then_expression)={value_rank}"
        )
    if rank > 1:
        sizes = tf.concat([tf.shape(condition), [1] * (value_rank - rank)], axis=0)
        wanted = tf.shape(then_value)
        repeats = tf.where(wanted - sizes > 0, wanted, tf.ones_like(wanted))
        condition = tf.tile(tf.reshape(condition, sizes), repeats)
    return tf.where(condition, then_value, else_value)


def in_train_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """`x` while training, else `alt`; either may be a function that makes the tensor."""
    phase = learning_phase() if training is None else training
    if not isinstance(phase, (tf.Tensor, tf.Variable)):
        return _value(x if phase else alt)
    return switch(phase, x, alt)


def in_test_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """`x` while testing, else `alt`; either may be a function that makes the tensor."""
    return in_train_phase(alt, x, training=training)
