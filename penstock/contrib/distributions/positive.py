"""Distributions of positive numbers, and of one number alone."""

from __future__ import annotations

import math
from typing import Any

import penstock as tf
from penstock.contrib.distributions.scalars import Logistic
from penstock.distributions.argument_checks import get_logits_and_probs
from penstock.distributions.distribution import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED
from penstock.distributions.gamma import Gamma
from penstock.distributions.plain_bijectors import Kumaraswamy as KumaraswamyBijector
from penstock.distributions.plain_bijectors import Sigmoid
from penstock.distributions.scalar import ScalarDistribution
from penstock.distributions.special_math import erfinv
from penstock.distributions.transformed import TransformedDistribution
from penstock.distributions.uniform import Uniform

__all__ = [
    "Chi2",
    "Chi2WithAbsDf",
    "Deterministic",
    "HalfNormal",
    "InverseGamma",
    "InverseGammaWithSoftplusConcentrationRate",
    "Kumaraswamy",
    "RelaxedBernoulli",
    "VectorDeterministic",
]


class Chi2(Gamma):
    """The distribution of a sum of squares of `df` standard normal numbers."""

    def __init__(
        self,
        df: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Chi2",
    ):
        with tf.name_scope(name, values=[df]) as scope:
            checks = [tf.assert_positive(df)] if validate_args else []
            with tf.control_dependencies(checks):
                self._df = tf.identity(df, name="df")
            super().__init__(
                concentration=0.5 * self._df,
                rate=tf.constant(0.5, dtype=self._df.dtype),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=scope,
            )

    @staticmethod
    def _param_shapes(sample_shape: Any) -> Any:
        return {"df": tf.convert_to_tensor(sample_shape, dtype=tf.int32)}

    @property
    def df(self) -> Any:
        """Degrees of freedom."""
        return self._df


class Chi2WithAbsDf(Chi2):
    """Chi2 with the absolute value of `df`, rounded down, as degrees of freedom."""

    def __init__(
        self,
        df: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Chi2WithAbsDf",
    ):
        with tf.name_scope(name, values=[df]) as scope:
            super().__init__(
                df=tf.floor(tf.abs(df, name="abs_df"), name="floor_abs_df"),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=scope,
            )


class HalfNormal(ScalarDistribution):
    """The distribution of the absolute value of a normal number of mean 0."""

    _named_parameters = ("scale",)

    def __init__(
        self,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "HalfNormal",
    ):
        with tf.name_scope(name, values=[scale]) as scope:
            checks = [tf.assert_positive(scale)] if validate_args else []
            with tf.control_dependencies(checks):
                self._scale = tf.identity(scale, name="scale")
        super().__init__(
            dtype=self._scale.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            graph_parents=[self._scale],
            name=scope,
        )

    @property
    def scale(self) -> Any:
        """The standard deviation of the normal number."""
        return self._scale

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        drawn = tf.random_normal(self._draws_shape(n), 0.0, 1.0, dtype=self.dtype, seed=seed)
        return tf.abs(drawn * self.scale)

    def _prob(self, x: Any) -> Any:
        coefficient = math.sqrt(2) / self.scale / math.sqrt(math.pi)
        density = coefficient * tf.exp(-0.5 * tf.square(x / self.scale))
        return density * tf.cast(x >= 0, self.dtype)

    def _cdf(self, x: Any) -> Any:
        return tf.erf(tf.nn.relu(x) / self.scale / math.sqrt(2.0))

    def _entropy(self) -> Any:
        return 0.5 * tf.log(math.pi * self.scale**2 / 2.0) + 0.5

    def _mean(self) -> Any:
        return self.scale * math.sqrt(2.0) / math.sqrt(math.pi)

    def _quantile(self, p: Any) -> Any:
        return math.sqrt(2.0) * self.scale * erfinv(p)

    def _mode(self) -> Any:
        return tf.zeros(self.batch_shape_tensor(), self.dtype)

    def _variance(self) -> Any:
        return self.scale**2 * (1.0 - 2.0 / math.pi)


class InverseGamma(ScalarDistribution):
    """The distribution of `1 / x` for x of a gamma distribution."""

    _named_parameters = ("concentration", "rate")

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "InverseGamma",
    ):
        with tf.name_scope(name, values=[concentration, rate]) as scope:
            positive = (concentration, rate) if validate_args else ()
            with tf.control_dependencies([tf.assert_positive(each) for each in positive]):
                self._concentration = tf.identity(concentration, name="concentration")
                self._rate = tf.identity(rate, name="rate")
                tf.assert_same_float_dtype([self._concentration, self._rate])
        super().__init__(
            dtype=self._concentration.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
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
        """The scale."""
        return self._rate

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        drawn = tf.random_gamma(
            [n], self.concentration, beta=self.rate, dtype=self.dtype, seed=seed
        )
        return 1.0 / drawn

    def _log_prob(self, x: Any) -> Any:
        a, b = self.concentration, self.rate
        return -(1.0 + a) * tf.log(x) - b / x - (tf.lgamma(a) - a * tf.log(b))

    def _cdf(self, x: Any) -> Any:
        return tf.igammac(self.concentration, self.rate / x)

    def _entropy(self) -> Any:
        a = self.concentration
        return a + tf.log(self.rate) + tf.lgamma(a) - (1.0 + a) * tf.digamma(a)

    def _mean(self) -> Any:
        mean = self.rate / (self.concentration - 1.0)
        message = "mean undefined when any concentration <= 1"
        return self._where_defined(self.concentration, 1.0, mean, message)

    def _variance(self) -> Any:
        a = self.concentration
        variance = tf.square(self.rate) / tf.squared_difference(a, 1.0) / (a - 2.0)
        message = "variance undefined when any concentration <= 2"
        return self._where_defined(a, 2.0, variance, message)

    def _mode(self) -> Any:
        return self.rate / (1.0 + self.concentration)


class Deterministic(ScalarDistribution):
    """One number, `loc`; probabilities allow for tolerances."""

    _named_parameters = ("loc",)

    def __init__(
        self,
        loc: Any,
        atol: Any = None,
        rtol: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Deterministic",
    ):
        with tf.name_scope(name, values=[loc]) as scope:
            self._loc = tf.convert_to_tensor(loc, name="loc")
            self._atol, self._rtol = (
                tf.convert_to_tensor(0 if tolerance is None else tolerance, dtype=self._loc.dtype)
                for tolerance in (atol, rtol)
            )
            self._slack = self._atol + self._rtol * tf.abs(self._loc)
        super().__init__(
            dtype=self._loc.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            graph_parents=[self._loc],
            name=scope,
        )

    @property
    def loc(self) -> Any:
        """The number."""
        return self._loc

    @property
    def atol(self) -> Any:
        return self._atol

    @property
    def rtol(self) -> Any:
        return self._rtol

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return tf.broadcast_to(self.loc, self._draws_shape(n))

    def _prob(self, x: Any) -> Any:
        return tf.cast(tf.abs(x - self.loc) <= self._slack, self.dtype)

    def _cdf(self, x: Any) -> Any:
        return tf.cast(x >= self.loc - self._slack, self.dtype)

    def _entropy(self) -> Any:
        return tf.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _mean(self) -> Any:
        return tf.identity(self.loc)

    def _variance(self) -> Any:
        return tf.zeros_like(self.loc)

    def _mode(self) -> Any:
        return self.mean()


class VectorDeterministic(Deterministic):
    """One vector, `loc`; probabilities allow for tolerances."""

    def __init__(
        self,
        loc: Any,
        atol: Any = None,
        rtol: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorDeterministic",
    ):
        super().__init__(loc, atol, rtol, validate_args, allow_nan_stats, name)
        if validate_args and self._loc.shape.ndims is not None:
            tf.assert_rank_at_least(self._loc, 1)

    def _batch_shape_tensor(self) -> Any:
        return tf.shape(self.loc)[:-1]

    def _batch_shape(self) -> Any:
        return self.loc.get_shape()[:-1]

    def _event_shape_tensor(self) -> Any:
        return tf.shape(self.loc)[-1:]

    def _event_shape(self) -> Any:
        return self.loc.get_shape()[-1:]

    def _draws_shape(self, n: Any) -> Any:
        return tf.concat([[n], tf.shape(self.loc)], 0)

    def _prob(self, x: Any) -> Any:
        if self.validate_args:
            message = "Argument 'x' not defined in the same space R^k as this distribution"
            same = tf.assert_equal(self.event_shape_tensor(), tf.shape(x)[-1:], message=message)
            with tf.control_dependencies([tf.assert_rank_at_least(x, 1), same]):
                x = tf.identity(x)
        return tf.cast(tf.reduce_all(tf.abs(x - self.loc) <= self._slack, axis=-1), self.dtype)

    def _cdf(self, x: Any) -> Any:
        raise NotImplementedError("cdf is not implemented: VectorDeterministic")


class InverseGammaWithSoftplusConcentrationRate(InverseGamma):
    """An inverse gamma distribution with softplus of both parameters."""

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "InverseGammaWithSoftplusConcentrationRate",
    ):
        with tf.name_scope(name, values=[concentration, rate]) as scope:
            concentration = tf.nn.softplus(concentration, name="softplus_concentration")
            rate = tf.nn.softplus(rate, name="softplus_rate")
        super().__init__(concentration, rate, validate_args, allow_nan_stats, scope)


class Kumaraswamy(TransformedDistribution):
    """The distribution on (0, 1) with cumulative function `1 - (1 - x ** a) ** b`."""

    def __init__(
        self,
        concentration1: Any = None,
        concentration0: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Kumaraswamy",
    ):
        with tf.name_scope(name, values=[concentration1, concentration0]) as scope:
            a = tf.convert_to_tensor(concentration1, name="concentration1")
            b = tf.convert_to_tensor(concentration0, name="concentration0")
            zeros = tf.zeros_like(a + b)
            super().__init__(
                distribution=Uniform(
                    low=zeros, high=tf.ones_like(zeros), allow_nan_stats=allow_nan_stats
                ),
                bijector=KumaraswamyBijector(a, b, validate_args=validate_args),
                validate_args=validate_args,
                name=scope,
            )

    @property
    def concentration1(self) -> Any:
        """The power a."""
        return self.bijector.concentration1

    @property
    def concentration0(self) -> Any:
        """The power b."""
        return self.bijector.concentration0

    def _moment(self, n: int) -> Any:
        a, b = self.concentration1, self.concentration0
        first = 1.0 + n / a
        return tf.exp(tf.log(b) + tf.lgamma(first) + tf.lgamma(b) - tf.lgamma(first + b))

    def _mean(self) -> Any:
        return self._moment(1)

    def _variance(self) -> Any:
        return self._moment(2) - tf.square(self._moment(1))


class RelaxedBernoulli(TransformedDistribution):
    """A Bernoulli distribution made smooth: the sigmoid of a logistic number."""

    def __init__(
        self,
        temperature: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedBernoulli",
    ):
        given = [each for each in (temperature, logits, probs) if each is not None]
        with tf.name_scope(name, values=given) as scope:
            checks = [tf.assert_positive(temperature)] if validate_args else []
            with tf.control_dependencies(checks):
                self._temperature = tf.identity(temperature, name="temperature")
            self._logits, self._probs = get_logits_and_probs(
                logits=logits, probs=probs, validate_args=validate_args
            )
            super().__init__(
                distribution=Logistic(
                    self._logits / self._temperature,
                    1.0 / self._temperature,
                    validate_args=validate_args,
                    allow_nan_stats=allow_nan_stats,
                    name=f"{scope}Logistic",
                ),
                bijector=Sigmoid(validate_args=validate_args),
                validate_args=validate_args,
                name=scope,
            )

    @property
    def temperature(self) -> Any:
        """How smooth it is."""
        return self._temperature

    @property
    def logits(self) -> Any:
        """The log odds of 1."""
        return self._logits

    @property
    def probs(self) -> Any:
        """The probability of 1."""
        return self._probs
