"""Student's t distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import penstock as tf
from penstock.distributions.argument_checks import gen_new_seed
from penstock.distributions.distribution import FULLY_REPARAMETERIZED
from penstock.distributions.scalar import ScalarDistribution

__all__ = ["StudentT", "StudentTWithAbsDfSoftplusScale"]


class StudentT(ScalarDistribution):
    """Student's t distribution with `df` degrees of freedom around `loc`."""

    _named_parameters = ("df", "loc", "scale")

    def __init__(
        self,
        df: Any,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "StudentT",
    ):
        with tf.name_scope(name, values=[df, loc, scale]) as scope:
            checks = [tf.assert_positive(df)] if validate_args else []
            with tf.control_dependencies(checks):
                self._df = tf.identity(df, name="df")
                self._loc = tf.identity(loc, name="loc")
                self._scale = tf.identity(scale, name="scale")
                tf.assert_same_float_dtype([self._df, self._loc, self._scale])
        super().__init__(
            dtype=self._scale.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            graph_parents=[self._df, self._loc, self._scale],
            name=scope,
        )

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self._df

    @property
    def loc(self) -> Any:
        """The center."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The scale, which is not the standard deviation."""
        return self._scale

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        """A normal number divided by the root of a chi-squared one over its degrees."""
        normal = tf.random_normal(self._draws_shape(n), dtype=self.dtype, seed=seed)
        df = self.df * self._ones()
        gamma = tf.random_gamma(
            [n], 0.5 * df, beta=0.5, dtype=self.dtype, seed=gen_new_seed(seed, "student_t")
        )
        return normal * tf.rsqrt(gamma / df) * self.scale + self.loc

    def _log_prob(self, x: Any) -> Any:
        return self._log_unnormalized_prob(x) - self._log_normalization()

    def _log_unnormalized_prob(self, x: Any) -> Any:
        y = (x - self.loc) / self.scale
        return -0.5 * (self.df + 1.0) * tf.log1p(y**2.0 / self.df)

    def _log_normalization(self) -> Any:
        return (
            tf.log(tf.abs(self.scale))
            + 0.5 * tf.log(self.df)
            + 0.5 * math.log(math.pi)
            + tf.lgamma(0.5 * self.df)
            - tf.lgamma(0.5 * (self.df + 1.0))
        )

    def _cdf(self, x: Any) -> Any:
        y = (x - self.loc) / tf.abs(self.scale)
        half = tf.constant(0.5, dtype=self.dtype)
        tail = 0.5 * tf.betainc(0.5 * self.df, half, self.df / (y**2.0 + self.df))
        return tf.where_v2(y < 0.0, tail, 1.0 - tail)

    def _entropy(self) -> Any:
        ones = self._ones()[..., tf.newaxis]
        both = tf.concat([ones * self.df[..., tf.newaxis], ones], -1) / 2.0
        digammas = tf.digamma(0.5 * (self.df + 1.0)) - tf.digamma(0.5 * self.df)
        return (
            tf.log(tf.abs(self.scale))
            + 0.5 * tf.log(self.df)
            + tf.lbeta(both)
            + 0.5 * (self.df + 1.0) * digammas
        )

    def _mean(self) -> Any:
        mean = self.loc * self._ones()
        return self._where_defined(self.df, 1.0, mean, "mean not defined for components of df <= 1")

    def _variance(self) -> Any:
        """Infinite for 1 < df <= 2."""
        degrees = self.df * self._ones()
        rest = tf.where_v2(degrees > 2.0, degrees - 2.0, tf.ones_like(degrees))
        infinite = tf.fill(self.batch_shape_tensor(), self._number(np.inf), name="inf")
        finite = tf.square(self.scale) * degrees / rest
        variance = tf.where_v2(degrees > 2.0, finite, infinite)
        message = "variance not defined for components of df <= 1"
        return self._where_defined(self.df, 1.0, variance, message)

    def _mode(self) -> Any:
        return tf.identity(self.loc)


class StudentTWithAbsDfSoftplusScale(StudentT):
    """Student's t distribution with `floor(abs(df))` degrees and the scale `softplus(scale)`."""

    def __init__(
        self,
        df: Any,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "StudentTWithAbsDfSoftplusScale",
    ):
        with tf.name_scope(name, values=[df, scale]) as scope:
            positive = tf.nn.softplus(scale, name="softplus_scale")
            degrees = tf.floor(tf.abs(df))
            super().__init__(degrees, loc, positive, validate_args, allow_nan_stats, scope)
