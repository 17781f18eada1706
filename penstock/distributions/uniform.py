"""The uniform distribution."""

from __future__ import annotations

import math
from typing import Any

import penstock as tf
from penstock.distributions.distribution import FULLY_REPARAMETERIZED
from penstock.distributions.scalar import ScalarDistribution

__all__ = ["Uniform"]


class Uniform(ScalarDistribution):
    """The uniform distribution on [low, high)."""

    _named_parameters = ("low", "high")

    def __init__(
        self,
        low: Any = 0.0,
        high: Any = 1.0,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Uniform",
    ):
        with tf.name_scope(name, values=[low, high]) as scope:
            checks = []
            if validate_args:
                message = "uniform not defined when low >= high."
                checks = [tf.assert_less(low, high, message=message)]
            with tf.control_dependencies(checks):
                self._low = tf.identity(low, name="low")
                self._high = tf.identity(high, name="high")
                tf.assert_same_float_dtype([self._low, self._high])
        super().__init__(
            dtype=self._low.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            graph_parents=[self._low, self._high],
            name=scope,
        )

    @property
    def low(self) -> Any:
        """The lower bound."""
        return self._low

    @property
    def high(self) -> Any:
        """The upper bound."""
        return self._high

    def range(self, name: str = "range") -> Any:
        """The distance of the bounds."""
        with self._name_scope(name):
            return self.high - self.low

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        drawn = tf.random_uniform(self._draws_shape(n), dtype=self.dtype, seed=seed)
        return self.low + self.range() * drawn

    def _prob(self, x: Any) -> Any:
        x = x * self._ones()
        outside = tf.logical_or(x < self.low, x >= self.high)
        density = tf.where_v2(outside, tf.zeros_like(x), tf.ones_like(x) / self.range())
        return tf.where_v2(tf.is_nan(x), x, density)

    def _cdf(self, x: Any) -> Any:
        shape = tf.broadcast_dynamic_shape(tf.shape(x), self.batch_shape_tensor())
        zeros, ones = tf.zeros(shape, dtype=self.dtype), tf.ones(shape, dtype=self.dtype)
        below = tf.where_v2(x < self.low, zeros, (x * ones - self.low) / self.range())
        return tf.where_v2(x >= self.high, ones, below)

    def _entropy(self) -> Any:
        return tf.log(self.range())

    def _mean(self) -> Any:
        return (self.low + self.high) / 2.0

    def _variance(self) -> Any:
        return tf.square(self.range()) / 12.0

    def _stddev(self) -> Any:
        return self.range() / math.sqrt(12.0)
