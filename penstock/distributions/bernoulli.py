"""The Bernoulli distribution."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.distributions.argument_checks import (
    embed_check_integer_casting_closed,
    get_logits_and_probs,
)
from penstock.distributions.distribution import NOT_REPARAMETERIZED
from penstock.distributions.kullback_leibler import RegisterKL
from penstock.distributions.scalar import ScalarDistribution

__all__ = ["Bernoulli", "BernoulliWithSigmoidProbs"]


class Bernoulli(ScalarDistribution):
    """1 with probability `probs` (or `sigmoid(logits)`), else 0."""

    _named_parameters = ("logits",)

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = tf.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Bernoulli",
    ):
        with tf.name_scope(name) as scope:
            self._logits, self._probs = get_logits_and_probs(
                logits=logits, probs=probs, validate_args=validate_args, name=scope
            )
        super().__init__(
            dtype=dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            graph_parents=[self._logits, self._probs],
            name=scope,
        )

    @property
    def logits(self) -> Any:
        """The log odds of 1."""
        return self._logits

    @property
    def probs(self) -> Any:
        """The probability of 1."""
        return self._probs

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        uniform = tf.random_uniform(self._draws_shape(n), seed=seed, dtype=self.probs.dtype)
        return tf.cast(tf.less(uniform, self.probs), self.dtype)

    def _log_prob(self, event: Any) -> Any:
        if self.validate_args:
            event = embed_check_integer_casting_closed(event, target_dtype=tf.bool)
        event = tf.cast(event, self.logits.dtype)
        logits = tf.ones_like(event) * self.logits
        event = tf.ones_like(self.logits) * event
        return -tf.nn.sigmoid_cross_entropy_with_logits(labels=event, logits=logits)

    def _entropy(self) -> Any:
        return -self.logits * (tf.sigmoid(self.logits) - 1) + tf.nn.softplus(-self.logits)

    def _mean(self) -> Any:
        return tf.identity(self.probs)

    def _variance(self) -> Any:
        return self._mean() * (1.0 - self.probs)

    def _mode(self) -> Any:
        """1 if its probability is above one half."""
        return tf.cast(self.probs > 0.5, self.dtype)


class BernoulliWithSigmoidProbs(Bernoulli):
    """A Bernoulli distribution with the probability sigmoid(logits)."""

    def __init__(
        self,
        logits: Any = None,
        dtype: Any = tf.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "BernoulliWithSigmoidProbs",
    ):
        with tf.name_scope(name) as scope:
            probs = tf.nn.sigmoid(logits, name="sigmoid_probs")
            super().__init__(None, probs, dtype, validate_args, allow_nan_stats, scope)


@RegisterKL(Bernoulli, Bernoulli)
def _kl_bernoulli_bernoulli(a: Bernoulli, b: Bernoulli, name: str | None = None) -> Any:
    with tf.name_scope(name, "kl_bernoulli_bernoulli", values=[a.logits, b.logits]):
        ones = tf.nn.softplus(-b.logits) - tf.nn.softplus(-a.logits)
        zeros = tf.nn.softplus(b.logits) - tf.nn.softplus(a.logits)
        return tf.sigmoid(a.logits) * ones + tf.sigmoid(-a.logits) * zeros
