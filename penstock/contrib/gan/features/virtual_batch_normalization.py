"""Batch normalization by the statistics of a batch that stays the same (Salimans, 2016)."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.ir.constants import constant_value

__all__ = ["VBN"]


def _static_or_dynamic_batch_size(tensor: Any, batch_axis: int) -> Any:
    size = tf.shape(tensor)[batch_axis]
    return constant_value(size) or size


def _statistics(x: Any, axes: list[int]) -> tuple[Any, Any]:
    """The mean and the mean of squares, in float32 if `x` is of half precision."""
    y = tf.cast(x, tf.float32) if x.dtype == tf.float16 else x
    shift = tf.stop_gradient(tf.reduce_mean(y, axes, keepdims=True))
    mean = tf.reduce_mean(y - shift, axes, keepdims=True) + shift
    squares = tf.reduce_mean(tf.square(y), axes, keepdims=True)
    mean, squares = tf.squeeze(mean, axes), tf.squeeze(squares, axes)
    if x.dtype == tf.float16:
        return tf.cast(mean, tf.float16), tf.cast(squares, tf.float16)
    return mean, squares


def _checked_axis(reference_batch: Any, axis: int) -> int:
    rank = reference_batch.shape.ndims
    if rank is None:
        raise ValueError("`reference_batch` has unknown dimensions.")
    used = rank + axis if axis < 0 else axis
    if not 0 <= used < rank:
        raise ValueError(
            f"Value of `axis` argument {used} is out of range for input with rank {rank}"
        )
    return used


class VBN:
    """Normalizes each example together with a reference batch, whatever batch it comes in.

    Offset and scale are variables that all calls share.
    """

    def __init__(
        self,
        reference_batch: Any,
        axis: int = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = tf.zeros_initializer(),  # noqa: B008
        gamma_initializer: Any = tf.ones_initializer(),  # noqa: B008
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        trainable: bool = True,
        name: str | None = None,
        batch_axis: int = 0,
    ):
        axis = _checked_axis(reference_batch, axis)
        self._epsilon = epsilon
        self._beta: Any = 0
        self._gamma: Any = 1
        self._batch_axis = _checked_axis(reference_batch, batch_axis)
        if axis == self._batch_axis:
            raise ValueError("`axis` and `batch_axis` cannot be the same.")
        self._reference_batch = reference_batch
        with tf.variable_scope(name, "VBN", values=[reference_batch]) as self._vs:
            sizes = reference_batch.shape.as_list()
            rank = len(sizes)
            self._broadcast_shape: list[Any] = [1] * rank
            self._broadcast_shape[axis] = sizes[axis]
            self._example_axes = [i for i in range(rank) if i not in (axis, self._batch_axis)]
            self._needs_broadcasting = self._example_axes != list(range(rank))[:-2]
            self._ref_mean, self._ref_squares = _statistics(
                reference_batch, [i for i in range(rank) if i != axis]
            )
            self._ref_variance = self._ref_squares - tf.square(self._ref_mean)
            size = _static_or_dynamic_batch_size(reference_batch, self._batch_axis)
            self._example_weight = 1.0 / (tf.cast(size, tf.float32) + 1.0)
            self._ref_weight = 1.0 - self._example_weight
            if center:
                self._beta = tf.get_variable(
                    "beta",
                    (sizes[axis],),
                    initializer=beta_initializer,
                    regularizer=beta_regularizer,
                    trainable=trainable,
                )
            if scale:
                self._gamma = tf.get_variable(
                    "gamma",
                    (sizes[axis],),
                    initializer=gamma_initializer,
                    regularizer=gamma_regularizer,
                    trainable=trainable,
                )

    def _broadcast(self, value: Any, shape: list[Any] | None = None) -> Any:
        if not self._needs_broadcasting:
            return value
        return tf.reshape(value, shape or self._broadcast_shape)

    def reference_batch_normalization(self) -> Any:
        """The reference batch, normalized by its own statistics."""
        with tf.name_scope(self._vs.name):
            return tf.nn.batch_normalization(
                self._reference_batch,
                self._broadcast(self._ref_mean),
                self._broadcast(self._ref_variance),
                self._broadcast(self._beta),
                self._broadcast(self._gamma),
                self._epsilon,
            )

    def _check_like_reference(self, inputs: Any) -> None:
        ours, theirs = (
            [size for i, size in enumerate(each.shape.as_list()) if i != self._batch_axis]
            for each in (inputs, self._reference_batch)
        )
        tf.TensorShape(ours).assert_is_compatible_with(theirs)

    def __call__(self, inputs: Any) -> Any:
        """A batch whose examples are normalized, each with the reference batch."""
        self._check_like_reference(inputs)
        with tf.name_scope(self._vs.name, values=[inputs, self._reference_batch]):
            mean, squares = (
                self._example_weight * own + self._ref_weight * reference
                for own, reference in zip(
                    _statistics(inputs, self._example_axes),
                    (self._ref_mean, self._ref_squares),
                    strict=True,
                )
            )
            variance = squares - tf.square(mean)
            shape = list(self._broadcast_shape)
            shape[self._batch_axis] = _static_or_dynamic_batch_size(inputs, self._batch_axis)
            return tf.nn.batch_normalization(
                inputs,
                self._broadcast(mean, shape),
                self._broadcast(variance, shape),
                self._broadcast(self._beta),
                self._broadcast(self._gamma),
                self._epsilon,
            )
