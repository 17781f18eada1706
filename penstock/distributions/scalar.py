"""Distributions of numbers, whose parameters are broadcast to the shape of the batch."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import numpy as np

import penstock as tf
from penstock.distributions.distribution import Distribution
from penstock.shapes import TensorShape


class ScalarDistribution(Distribution):
    """Draws are numbers; `_named_parameters` are the attributes that make the batch's shape."""

    _named_parameters: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> Any:
        shape = tf.convert_to_tensor(sample_shape, dtype=tf.int32)
        return dict.fromkeys(cls._named_parameters, shape)

    def _tensors(self) -> list[Any]:
        return [getattr(self, name) for name in self._named_parameters]

    def _batch_shape_tensor(self) -> Any:
        return functools.reduce(
            tf.broadcast_dynamic_shape, [tf.shape(each) for each in self._tensors()]
        )

    def _batch_shape(self) -> Any:
        return functools.reduce(
            tf.broadcast_static_shape, [each.get_shape() for each in self._tensors()]
        )

    def _event_shape_tensor(self) -> Any:
        return tf.constant([], dtype=tf.int32)

    def _event_shape(self) -> Any:
        return TensorShape([])

    def _draws_shape(self, n: Any) -> Any:
        """The shape of n draws of each distribution of the batch."""
        return tf.concat([[n], self.batch_shape_tensor()], 0)

    def _ones(self) -> Any:
        return tf.ones(self.batch_shape_tensor(), dtype=self.dtype)

    def _number(self, value: float) -> Any:
        return np.array(value, self.dtype.as_numpy_dtype)

    def _where_defined(self, parameter: Any, above: float, result: Any, message: str) -> Any:
        """A statistic that exists above a bound: NaN or an error elsewhere."""
        if self.allow_nan_stats:
            nan = tf.fill(self.batch_shape_tensor(), self._number(np.nan), name="nan")
            return tf.where_v2(parameter > self._number(above), result, nan)
        bound = tf.constant(above, dtype=self.dtype)
        with tf.control_dependencies([tf.assert_less(bound, parameter, message=message)]):
            return tf.identity(result)
