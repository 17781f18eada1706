"""Bijectors of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf
from penstock.distributions.bijector import Bijector
from penstock.ir.constants import constant_value
from penstock.shapes import TensorShape

__all__ = ["Ordered", "Permute", "SoftmaxCentered"]


class _OfVectors(Bijector):
    """A function of the last axis."""

    def __init__(self, validate_args: bool, name: str, **kwargs: Any):
        super().__init__(
            validate_args=validate_args, name=name, forward_min_event_ndims=1, **kwargs
        )


class SoftmaxCentered(_OfVectors):
    """The softmax of a vector with a zero put at its end: one element more."""

    def __init__(self, validate_args: bool = False, name: str = "softmax_centered"):
        super().__init__(validate_args, name)

    def _changed(self, shape: TensorShape, by: int) -> Any:
        if shape.ndims is None:
            return TensorShape([None])
        if shape.ndims < 1:
            raise ValueError("the events of SoftmaxCentered are vectors")
        size = shape.as_list()[-1]
        return shape[:-1].concatenate([None if size is None else size + by])

    def _forward_event_shape(self, input_shape: TensorShape) -> Any:
        return self._changed(input_shape, 1)

    def _inverse_event_shape(self, output_shape: TensorShape) -> Any:
        return self._changed(output_shape, -1)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return tf.concat([input_shape[:-1], input_shape[-1:] + 1], 0)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return tf.concat([output_shape[:-1], output_shape[-1:] - 1], 0)

    def _forward(self, x: Any) -> Any:
        return tf.nn.softmax(tf.concat([x, tf.zeros_like(x[..., :1])], axis=-1))

    def _inverse(self, y: Any) -> Any:
        logs = tf.log(y)
        return logs[..., :-1] - logs[..., -1:]

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -tf.reduce_sum(tf.log(y), axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        normalization = tf.nn.softplus(tf.reduce_logsumexp(x, axis=-1, keepdims=True))
        inside = tf.reduce_sum(x - normalization, axis=-1, keepdims=True)
        return tf.squeeze(inside - normalization, axis=-1)


class Ordered(_OfVectors):
    """Increasing vectors as free ones: the first element and the logarithms of the steps."""

    def __init__(self, validate_args: bool = False, name: str = "ordered"):
        super().__init__(validate_args, name)

    def _steps(self, x: Any) -> Any:
        steps = x[..., 1:] - x[..., :-1]
        if not self.validate_args:
            return steps
        message = "Forward transformation input must be strictly increasing."
        with tf.control_dependencies([tf.assert_positive(steps, message=message)]):
            return tf.identity(steps)

    def _forward(self, x: Any) -> Any:
        return tf.concat([x[..., :1], tf.log(self._steps(x))], axis=-1)

    def _inverse(self, y: Any) -> Any:
        return tf.cumsum(tf.concat([y[..., :1], tf.exp(y[..., 1:])], axis=-1), axis=-1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return tf.reduce_sum(y[..., 1:], axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -tf.reduce_sum(tf.log(self._steps(x)), axis=-1)


class Permute(_OfVectors):
    """The elements of a vector in another order."""

    def __init__(self, permutation: Any, validate_args: bool = False, name: str | None = None):
        name = name or "permute"
        with tf.name_scope(name, values=[permutation]):
            permutation = tf.convert_to_tensor(permutation, name="permutation")
            if not permutation.dtype.is_integer:
                raise TypeError(
                    f"permutation.dtype ({permutation.dtype.name}) should be `int`-like."
                )
            known = constant_value(permutation)
            if known is not None and not np.array_equal(np.sort(known), np.arange(known.size)):
                raise ValueError(
                    "Permutation over `d` must contain exactly one of each of `{0, 1, ..., d}`."
                )
            self._permutation = permutation
        super().__init__(
            validate_args, name, is_constant_jacobian=True, graph_parents=[permutation]
        )

    @property
    def permutation(self) -> Any:
        return self._permutation

    def _forward(self, x: Any) -> Any:
        return tf.gather(x, self.permutation, axis=-1)

    def _inverse(self, y: Any) -> Any:
        return tf.gather(y, tf.invert_permutation(self.permutation), axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return tf.constant(0.0, dtype=x.dtype.base_dtype)
