"""The normal distribution."""

from __future__ import annotations

import math
from typing import Any

import penstock as tf
from penstock.distributions import special_math
from penstock.distributions.distribution import FULLY_REPARAMETERIZED
from penstock.distributions.kullback_leibler import RegisterKL
from penstock.distributions.scalar import ScalarDistribution

__all__ = ["Normal", "NormalWithSoftplusScale"]


class Normal(ScalarDistribution):
    """The normal distribution with mean `loc` and standard deviation `scale`."""

    _named_parameters = ("loc", "scale")

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Normal",
    ):
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
        """The mean."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The standard deviation."""
        return self._scale

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        drawn = tf.random_normal(self._draws_shape(n), dtype=self.loc.dtype, seed=seed)
        return drawn * self.scale + self.loc

    def _log_prob(self, x: Any) -> Any:
        return self._log_unnormalized_prob(x) - self._log_normalization()

    def _log_cdf(self, x: Any) -> Any:
        return special_math.log_ndtr(self._z(x))

    def _cdf(self, x: Any) -> Any:
        return special_math.ndtr(self._z(x))

    def _log_survival_function(self, x: Any) -> Any:
        return special_math.log_ndtr(-self._z(x))

    def _survival_function(self, x: Any) -> Any:
        return special_math.ndtr(-self._z(x))

    def _log_unnormalized_prob(self, x: Any) -> Any:
        return -0.5 * tf.square(self._z(x))

    def _log_normalization(self) -> Any:
        return 0.5 * math.log(2.0 * math.pi) + tf.log(self.scale)

    def _entropy(self) -> Any:
        return 0.5 * math.log(2.0 * math.pi * math.e) + tf.log(self._stddev())

    def _mean(self) -> Any:
        return self.loc * tf.ones_like(self.scale)

    def _quantile(self, p: Any) -> Any:
        return special_math.ndtri(p) * self.scale + self.loc

    def _stddev(self) -> Any:
        return self.scale * tf.ones_like(self.loc)

    def _mode(self) -> Any:
        return self._mean()

    def _z(self, x: Any) -> Any:
        with tf.name_scope("standardize", values=[x]):
            return (x - self.loc) / self.scale


class NormalWithSoftplusScale(Normal):
    """A normal distribution with the standard deviation `softplus(scale)`."""

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "NormalWithSoftplusScale",
    ):
        with tf.name_scope(name, values=[scale]) as scope:
            positive = tf.nn.softplus(scale, name="softplus_scale")
            super().__init__(loc, positive, validate_args, allow_nan_stats, scope)


@RegisterKL(Normal, Normal)
def _kl_normal_normal(n_a: Normal, n_b: Normal, name: str | None = None) -> Any:
    with tf.name_scope(name, "kl_normal_normal", [n_a.loc, n_b.loc]):
        variance = tf.square(n_b.scale)
        ratio = tf.square(n_a.scale) / variance
        distance = tf.squared_difference(n_a.loc, n_b.loc) / (2.0 * variance)
        return distance + 0.5 * (ratio - 1.0 - tf.log(ratio))
