"""Regularizers: functions of a variable whose value is added to the loss."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Any

import penstock as tf
from penstock import logging

__all__ = [
    "apply_regularization",
    "l1_l2_regularizer",
    "l1_regularizer",
    "l2_regularizer",
    "sum_regularizer",
]

Regularizer = Callable[[Any], Any]


def _scaled(
    scale: Any, penalty: Callable[[Any], Any], scope: str | None, default_scope: str
) -> Regularizer:
    """A regularizer of `scale * penalty(weights)`, after a check of the scale."""
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"scale cannot be an integer: {scale}")
    if isinstance(scale, numbers.Real):
        if scale < 0.0:
            raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale:g}")
        if scale == 0.0:
            logging.info("Scale of 0 disables regularizer.")
            return lambda _: None

    def regularizer(weights: Any, name: str | None = None) -> Any:
        with tf.name_scope(scope, default_scope, [weights]) as full_name:
            factor = tf.convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return tf.multiply(factor, penalty(weights), name=full_name)

    return regularizer


def l1_regularizer(scale: Any, scope: str | None = None) -> Regularizer:
    """A regularizer that adds `scale` times the sum of absolute values."""
    return _scaled(scale, lambda weights: tf.reduce_sum(tf.abs(weights)), scope, "l1_regularizer")


def l2_regularizer(scale: Any, scope: str | None = None) -> Regularizer:
    """A regularizer that adds `scale` times half the sum of squares."""
    return _scaled(scale, tf.nn.l2_loss, scope, "l2_regularizer")


def l1_l2_regularizer(
    scale_l1: Any = 1.0, scale_l2: Any = 1.0, scope: str | None = None
) -> Regularizer | None:
    """The sum of an L1 and an L2 regularizer."""
    for name, scale in (("scale_l1", scale_l1), ("scale_l2", scale_l2)):
        if isinstance(scale, numbers.Integral):
            raise ValueError(f"{name} cannot be an integer: {scale}")
    scope = scope or "l1_l2_regularizer"
    if scale_l1 == 0.0:
        return l2_regularizer(scale_l2, scope)
    if scale_l2 == 0.0:
        return l1_regularizer(scale_l1, scope)
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope=scope)


def sum_regularizer(
    regularizer_list: Sequence[Regularizer | None], scope: str | None = None
) -> Regularizer | None:
    """The sum of several regularizers; None if there are none."""
    regularizers = [each for each in regularizer_list if each is not None]
    if not regularizers:
        return None

    def sum_reg(weights: Any) -> Any:
        with tf.name_scope(scope, "sum_regularizer", [weights]) as name:
            penalties = [regularizer(weights) for regularizer in regularizers]
            present = [penalty for penalty in penalties if penalty is not None]
            return tf.add_n(present, name=name) if present else None

    return sum_reg


def apply_regularization(
    regularizer: Regularizer, weights_list: Sequence[Any] | None = None
) -> Any:
    """The regularizer's sum over variables, added to the regularization losses.

    Args:
      weights_list: the variables; by default those of the collection `WEIGHTS`.
    """
    weights = weights_list or tf.get_collection(tf.GraphKeys.WEIGHTS)
    if not weights:
        raise ValueError("No weights to regularize.")
    with tf.name_scope("get_regularization_penalty", values=weights) as scope:
        penalties = [regularizer(each) for each in weights]
        penalties = [tf.constant(0.0) if each is None else each for each in penalties]
        for each in penalties:
            if each.get_shape().ndims != 0:
                raise ValueError(
                    "regularizer must return a scalar Tensor instead of a Tensor with rank "
                    f"{each.get_shape().ndims}."
                )
        total = tf.add_n(penalties, name=scope)
        tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, total)
        return total
