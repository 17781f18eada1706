"""The gamma distribution, and the exponential one."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

import penstock as tf
from penstock.distributions.argument_checks import checked
from penstock.distributions.distribution import FULLY_REPARAMETERIZED
from penstock.distributions.kullback_leibler import RegisterKL
from penstock.distributions.scalar import ScalarDistribution

__all__ = [
    "Exponential",
    "ExponentialWithSoftplusRate",
    "Gamma",
    "GammaWithSoftplusConcentrationRate",
]


class Gamma(ScalarDistribution):
    """The gamma distribution with density `x ** (concentration - 1) * exp(-rate * x) / Z`."""

    _named_parameters: ClassVar[tuple[str, ...]] = ("concentration", "rate")

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Gamma",
    ):
        with tf.name_scope(name, values=[concentration, rate]) as scope:
            checks = []
            if validate_args:
                checks = [tf.assert_positive(concentration), tf.assert_positive(rate)]
            with tf.control_dependencies(checks):
                self._concentration = tf.identity(concentration, name="concentration")
                self._rate = tf.identity(rate, name="rate")
                tf.assert_same_float_dtype([self._concentration, self._rate])
        super().__init__(
            dtype=self._concentration.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            graph_parents=[self._concentration, self._rate],
            name=scope,
        )

    @property
    def concentration(self) -> Any:
        """The shape parameter."""
        return self._concentration

    @property
    def rate(self) -> Any:
        """The inverse scale."""
        return self._rate

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return tf.random_gamma([n], self.concentration, beta=self.rate, dtype=self.dtype, seed=seed)

    def _log_prob(self, x: Any) -> Any:
        return self._log_unnormalized_prob(x) - self._log_normalization()

    def _cdf(self, x: Any) -> Any:
        return tf.igamma(self.concentration, self.rate * self._checked_sample(x))

    def _log_unnormalized_prob(self, x: Any) -> Any:
        x = self._checked_sample(x)
        return tf.math.xlogy(self.concentration - 1.0, x) - self.rate * x

    def _log_normalization(self) -> Any:
        return tf.lgamma(self.concentration) - self.concentration * tf.log(self.rate)

    def _entropy(self) -> Any:
        c = self.concentration
        return c - tf.log(self.rate) + tf.lgamma(c) + (1.0 - c) * tf.digamma(c)

    def _mean(self) -> Any:
        return self.concentration / self.rate

    def _variance(self) -> Any:
        return self.concentration / tf.square(self.rate)

    def _stddev(self) -> Any:
        return tf.sqrt(self.concentration) / self.rate

    def _mode(self) -> Any:
        mode = (self.concentration - 1.0) / self.rate
        message = "mode not defined when any concentration <= 1"
        return self._where_defined(self.concentration, 1.0, mode, message)

    def _checked_sample(self, x: Any) -> Any:
        tf.assert_same_float_dtype(tensors=[x], dtype=self.dtype)
        return checked([tf.assert_positive(x)] if self.validate_args else [], x)


class GammaWithSoftplusConcentrationRate(Gamma):
    """A gamma distribution of softplus(concentration) and softplus(rate)."""

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "GammaWithSoftplusConcentrationRate",
    ):
        with tf.name_scope(name, values=[concentration, rate]) as scope:
            positive = tf.nn.softplus(concentration, name="softplus_concentration")
            positive_rate = tf.nn.softplus(rate, name="softplus_rate")
            super().__init__(positive, positive_rate, validate_args, allow_nan_stats, scope)


class Exponential(Gamma):
    """The exponential distribution with density `rate * exp(-rate * x)`."""

    _named_parameters = ("rate",)

    def __init__(
        self,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Exponential",
    ):
        with tf.name_scope(name, values=[rate]) as scope:
            rate = tf.convert_to_tensor(rate, name="rate")
            one = tf.ones([], dtype=rate.dtype)
        super().__init__(one, rate, validate_args, allow_nan_stats, scope)

    def _log_survival_function(self, value: Any) -> Any:
        return self._log_prob(value) - tf.log(self.rate)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        """By inversion; zero, whose logarithm is infinite, is not drawn."""
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        shape = tf.concat([[n], tf.shape(self.rate)], 0)
        drawn = tf.random_uniform(shape, minval=tiny, maxval=1.0, seed=seed, dtype=self.dtype)
        return -tf.log(drawn) / self.rate


class ExponentialWithSoftplusRate(Exponential):
    """An exponential distribution with the rate softplus(rate)."""

    def __init__(
        self,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "ExponentialWithSoftplusRate",
    ):
        with tf.name_scope(name, values=[rate]) as scope:
            positive = tf.nn.softplus(rate, name="softplus_rate")
            super().__init__(positive, validate_args, allow_nan_stats, scope)


@RegisterKL(Gamma, Gamma)
def _kl_gamma_gamma(g0: Gamma, g1: Gamma, name: str | None = None) -> Any:
    values = [g0.concentration, g0.rate, g1.concentration, g1.rate]
    with tf.name_scope(name, "kl_gamma_gamma", values):
        return (
            (g0.concentration - g1.concentration) * tf.digamma(g0.concentration)
            + tf.lgamma(g1.concentration)
            - tf.lgamma(g0.concentration)
            + g1.concentration * tf.log(g0.rate)
            - g1.concentration * tf.log(g1.rate)
            + g0.concentration * (g1.rate / g0.rate - 1.0)
        )
