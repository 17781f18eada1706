"""Further distributions of numbers."""

from __future__ import annotations

import math
from typing import Any

import penstock as tf
from penstock.distributions.distribution import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED
from penstock.distributions.scalar import ScalarDistribution

__all__ = ["Cauchy", "Logistic", "Poisson"]


class _LocationScale(ScalarDistribution):
    """A distribution of `loc + scale * z`."""

    _named_parameters = ("loc", "scale")

    def __init__(self, loc: Any, scale: Any, validate_args: bool, allow_nan_stats: bool, name: str):
        with tf.name_scope(name, values=[loc, scale]) as scope:
            checks = [tf.assert_positive(scale)] if validate_args else []
            with tf.control_dependencies(checks):
                self._loc = tf.identity(loc, name="loc")
                self._scale = tf.identity(scale, name="scale")
                tf.assert_same_float_dtype([self._loc, self._scale])
        super().__init__(
            dtype=self._scale.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            graph_parents=[self._loc, self._scale],
            name=scope,
        )

    @property
    def loc(self) -> Any:
        """The center."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The scale."""
        return self._scale

    def _z(self, x: Any) -> Any:
        return (x - self.loc) / self.scale

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        """By inversion of uniform numbers."""
        uniform = tf.random_uniform(self._draws_shape(n), dtype=self.dtype, seed=seed)
        return self._quantile(uniform)

    def _quantile(self, p: Any) -> Any:
        raise NotImplementedError

    def _mode(self) -> Any:
        return self.loc * tf.ones_like(self.scale)


class Cauchy(_LocationScale):
    """The Cauchy distribution, which has no mean."""

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Cauchy",
    ):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _log_prob(self, x: Any) -> Any:
        return -tf.log1p(tf.square(self._z(x))) - math.log(math.pi) - tf.log(self.scale)

    def _cdf(self, x: Any) -> Any:
        return tf.atan(self._z(x)) / math.pi + 0.5

    def _entropy(self) -> Any:
        return math.log(4 * math.pi) + tf.log(self.scale * tf.ones_like(self.loc))

    def _quantile(self, p: Any) -> Any:
        return self.loc + self.scale * tf.tan(math.pi * (p - 0.5))

    def _mean(self) -> Any:
        return self._undefined("mean")

    def _stddev(self) -> Any:
        return self._undefined("standard deviation")

    def _undefined(self, what: str) -> Any:
        if not self.allow_nan_stats:
            raise ValueError(f"`{what}` is undefined for Cauchy distribution.")
        return tf.fill(self.batch_shape_tensor(), self._number(math.nan))


class Logistic(_LocationScale):
    """The logistic distribution, whose cumulative function is a sigmoid."""

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Logistic",
    ):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _log_prob(self, x: Any) -> Any:
        z = self._z(x)
        return -z - 2.0 * tf.nn.softplus(-z) - tf.log(self.scale)

    def _log_cdf(self, x: Any) -> Any:
        return -tf.nn.softplus(-self._z(x))

    def _cdf(self, x: Any) -> Any:
        return tf.sigmoid(self._z(x))

    def _log_survival_function(self, x: Any) -> Any:
        return -tf.nn.softplus(self._z(x))

    def _survival_function(self, x: Any) -> Any:
        return tf.sigmoid(-self._z(x))

    def _quantile(self, p: Any) -> Any:
        return self.loc + self.scale * (tf.log(p) - tf.log1p(-p))

    def _entropy(self) -> Any:
        return 2.0 + tf.log(self.scale * tf.ones_like(self.loc))

    def _mean(self) -> Any:
        return self.loc * tf.ones_like(self.scale)

    def _stddev(self) -> Any:
        return self.scale * tf.ones_like(self.loc) * math.pi / math.sqrt(3)


class Poisson(ScalarDistribution):
    """The Poisson distribution of counts, with mean `rate` (or `exp(log_rate)`)."""

    _named_parameters = ("rate",)

    def __init__(
        self,
        rate: Any = None,
        log_rate: Any = None,
        interpolate_nondiscrete: bool = True,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Poisson",
    ):
        with tf.name_scope(name, values=[v for v in (rate, log_rate) if v is not None]) as scope:
            if (rate is None) == (log_rate is None):
                raise ValueError("Must specify exactly one of `rate` and `log_rate`.")
            given = tf.convert_to_tensor(log_rate if rate is None else rate)
            if not given.dtype.is_floating:
                raise TypeError(f"rate.dtype ({given.dtype.name}) is a not a float-type.")
            checks = [tf.assert_positive(given)] if validate_args and rate is not None else []
            with tf.control_dependencies(checks):
                self._rate = tf.identity(given) if rate is not None else tf.exp(given)
                self._log_rate = tf.log(given) if rate is not None else tf.identity(given)
        self._interpolate_nondiscrete = interpolate_nondiscrete
        super().__init__(
            dtype=self._rate.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            graph_parents=[self._rate],
            name=scope,
        )

    @property
    def rate(self) -> Any:
        """The mean."""
        return self._rate

    @property
    def log_rate(self) -> Any:
        """The logarithm of the mean."""
        return self._log_rate

    @property
    def interpolate_nondiscrete(self) -> bool:
        """Whether probabilities are those of a smooth function also between whole numbers."""
        return self._interpolate_nondiscrete

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return tf.random_poisson(self.rate, [n], dtype=self.dtype, seed=seed)

    def _log_prob(self, x: Any) -> Any:
        smooth = x * self.log_rate - tf.lgamma(1.0 + x) - self.rate
        if self.interpolate_nondiscrete:
            return smooth
        never = tf.fill(tf.shape(smooth), self._number(-math.inf))
        return tf.where_v2(tf.logical_or(x < 0.0, tf.floor(x) < x), never, smooth)

    def _cdf(self, x: Any) -> Any:
        x = x if self.interpolate_nondiscrete else tf.floor(x)
        inside = tf.igammac(tf.maximum(1.0 + x, self._number(1e-30)), self.rate)
        return tf.where_v2(x < 0.0, tf.zeros_like(inside), inside)

    def _mean(self) -> Any:
        return tf.identity(self.rate)

    def _variance(self) -> Any:
        return tf.identity(self.rate)

    def _mode(self) -> Any:
        return tf.floor(self.rate)
