"""The beta distribution."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.distributions.argument_checks import checked, gen_new_seed
from penstock.distributions.distribution import FULLY_REPARAMETERIZED
from penstock.distributions.kullback_leibler import RegisterKL
from penstock.distributions.scalar import ScalarDistribution

__all__ = ["Beta", "BetaWithSoftplusConcentration"]


class Beta(ScalarDistribution):
    """The beta distribution on (0, 1).

    The density is `x ** (concentration1 - 1) * (1 - x) ** (concentration0 - 1) / Z`.
    """

    _named_parameters = ("concentration1", "concentration0")

    def __init__(
        self,
        concentration1: Any = None,
        concentration0: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Beta",
    ):
        with tf.name_scope(name, values=[concentration1, concentration0]) as scope:
            self._concentration1 = _concentration(concentration1, "concentration1", validate_args)
            self._concentration0 = _concentration(concentration0, "concentration0", validate_args)
            tf.assert_same_float_dtype([self._concentration1, self._concentration0])
            self._total_concentration = self._concentration1 + self._concentration0
        super().__init__(
            dtype=self._total_concentration.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            graph_parents=[self._concentration1, self._concentration0, self._total_concentration],
            name=scope,
        )

    @property
    def concentration1(self) -> Any:
        """The concentration at 1."""
        return self._concentration1

    @property
    def concentration0(self) -> Any:
        """The concentration at 0."""
        return self._concentration0

    @property
    def total_concentration(self) -> Any:
        """The sum of both."""
        return self._total_concentration

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        """The share of one gamma number in the sum of two."""
        concentration1, concentration0 = (
            tf.ones_like(self.total_concentration, dtype=self.dtype) * concentration
            for concentration in (self.concentration1, self.concentration0)
        )
        first = tf.random_gamma([n], concentration1, dtype=self.dtype, seed=seed)
        second = tf.random_gamma(
            [n], concentration0, dtype=self.dtype, seed=gen_new_seed(seed, "beta")
        )
        return first / (first + second)

    def _log_prob(self, x: Any) -> Any:
        return self._log_unnormalized_prob(x) - self._log_normalization()

    def _cdf(self, x: Any) -> Any:
        return tf.betainc(self.concentration1, self.concentration0, x)

    def _log_unnormalized_prob(self, x: Any) -> Any:
        if self.validate_args:
            one = tf.ones([], self.dtype)
            checks = [
                tf.assert_positive(x, message="sample must be positive"),
                tf.assert_less(x, one, message="sample must be less than `1`."),
            ]
            x = checked(checks, x)
        near_one = (self.concentration0 - 1.0) * tf.log1p(-x)
        return tf.math.xlogy(self.concentration1 - 1.0, x) + near_one

    def _log_normalization(self) -> Any:
        logs = tf.lgamma(self.concentration1) + tf.lgamma(self.concentration0)
        return logs - tf.lgamma(self.total_concentration)

    def _entropy(self) -> Any:
        return (
            self._log_normalization()
            - (self.concentration1 - 1.0) * tf.digamma(self.concentration1)
            - (self.concentration0 - 1.0) * tf.digamma(self.concentration0)
            + (self.total_concentration - 2.0) * tf.digamma(self.total_concentration)
        )

    def _mean(self) -> Any:
        return self.concentration1 / self.total_concentration

    def _variance(self) -> Any:
        return self._mean() * (1.0 - self._mean()) / (1.0 + self.total_concentration)

    def _mode(self) -> Any:
        mode = (self.concentration1 - 1.0) / (self.total_concentration - 2.0)
        for parameter, name in (
            (self.concentration1, "concentration1"),
            (self.concentration0, "concentration0"),
        ):
            mode = self._where_defined(parameter, 1.0, mode, f"Mode undefined for {name} <= 1.")
        return mode


def _concentration(value: Any, name: str, validate_args: bool) -> Any:
    tensor = tf.convert_to_tensor(value, name=name)
    message = "Concentration parameter must be positive."
    return checked([tf.assert_positive(tensor, message=message)] if validate_args else [], tensor)


class BetaWithSoftplusConcentration(Beta):
    """A beta distribution of softplus(concentration1) and softplus(concentration0)."""

    def __init__(
        self,
        concentration1: Any,
        concentration0: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "BetaWithSoftplusConcentration",
    ):
        with tf.name_scope(name, values=[concentration1, concentration0]) as scope:
            first = tf.nn.softplus(concentration1, name="softplus_concentration1")
            second = tf.nn.softplus(concentration0, name="softplus_concentration0")
            super().__init__(first, second, validate_args, allow_nan_stats, scope)


@RegisterKL(Beta, Beta)
def _kl_beta_beta(d1: Beta, d2: Beta, name: str | None = None) -> Any:
    values = [d1.concentration1, d1.concentration0, d2.concentration1, d2.concentration0]
    with tf.name_scope(name, "kl_beta_beta", values):
        return (
            (d2._log_normalization() - d1._log_normalization())
            - tf.digamma(d1.concentration1) * (d2.concentration1 - d1.concentration1)
            - tf.digamma(d1.concentration0) * (d2.concentration0 - d1.concentration0)
            + tf.digamma(d1.total_concentration) * (d2.total_concentration - d1.total_concentration)
        )
