"""Distributions of counts: binomial, negative binomial, geometric."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.distributions.argument_checks import (
    assert_integer_form,
    checked,
    embed_check_nonnegative_integer_form,
    get_logits_and_probs,
)
from penstock.distributions.distribution import NOT_REPARAMETERIZED
from penstock.distributions.scalar import ScalarDistribution

__all__ = ["Binomial", "Geometric", "NegativeBinomial"]


class _Counts(ScalarDistribution):
    """Counts whose probabilities come from one of success, given as it is or as log odds."""

    def __init__(
        self, logits: Any, probs: Any, validate_args: bool, allow_nan_stats: bool, scope: str
    ):
        self._logits, self._probs = get_logits_and_probs(
            logits=logits, probs=probs, validate_args=validate_args, name=scope
        )
        super().__init__(
            dtype=self._probs.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            graph_parents=[self._logits, self._probs],
            name=scope,
        )

    @property
    def logits(self) -> Any:
        """The log odds of success."""
        return self._logits

    @property
    def probs(self) -> Any:
        """The probability of success."""
        return self._probs

    def _whole(self, counts: Any) -> Any:
        return embed_check_nonnegative_integer_form(counts) if self.validate_args else counts


class _OfTotalCount(_Counts):
    """Counts with a number of trials, or of failures."""

    _named_parameters = ("total_count", "probs")

    def __init__(
        self,
        total_count: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "",
    ):
        given = [each for each in (total_count, logits, probs) if each is not None]
        with tf.name_scope(name or type(self).__name__, values=given) as scope:
            self._total_count = tf.convert_to_tensor(total_count, name="total_count")
            if validate_args:
                self._total_count = checked(self._count_checks(), self._total_count)
            super().__init__(logits, probs, validate_args, allow_nan_stats, scope)

    def _count_checks(self) -> list[Any]:
        raise NotImplementedError

    @property
    def total_count(self) -> Any:
        """The number of trials, or of failures."""
        return self._total_count


class Binomial(_OfTotalCount):
    """How many of `total_count` trials succeed."""

    def _count_checks(self) -> list[Any]:
        return [
            tf.assert_non_negative(self._total_count, message="total_count must be non-negative."),
            assert_integer_form(
                self._total_count, message="total_count cannot contain fractional components."
            ),
        ]

    def _valid(self, counts: Any) -> Any:
        if not self.validate_args:
            return counts
        message = "counts are not less than or equal to n."
        limit = tf.assert_less_equal(counts, self.total_count, message=message)
        return checked([limit], self._whole(counts))

    def _log_prob(self, counts: Any) -> Any:
        counts, n = self._valid(counts), self.total_count
        ways = tf.lgamma(1.0 + n) - tf.lgamma(1.0 + n - counts) - tf.lgamma(1.0 + counts)
        return counts * tf.log(self.probs) + (n - counts) * tf.log1p(-self.probs) + ways

    def _cdf(self, counts: Any) -> Any:
        counts, n = self._valid(counts), self.total_count
        probs = self.probs + tf.zeros_like(counts)
        counts += tf.zeros_like(self.probs)
        is_all = tf.greater_equal(counts, n + tf.zeros_like(counts))
        safe = tf.where_v2(is_all, tf.ones_like(probs), n - counts)
        inside = tf.betainc(safe, counts + 1.0, 1.0 - probs)
        return tf.where_v2(is_all, tf.ones_like(probs), inside)

    def _mean(self) -> Any:
        return self.total_count * self.probs

    def _variance(self) -> Any:
        return self._mean() * (1.0 - self.probs)

    def _mode(self) -> Any:
        return tf.floor((1.0 + self.total_count) * self.probs)


class NegativeBinomial(_OfTotalCount):
    """How many trials succeed before `total_count` failures."""

    def _count_checks(self) -> list[Any]:
        return [tf.assert_positive(self._total_count)]

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        rate = tf.random_gamma(
            [n], alpha=self.total_count, beta=tf.exp(-self.logits), dtype=self.dtype, seed=seed
        )
        return tf.random_poisson(rate, [], dtype=self.dtype, seed=seed)

    def _cdf(self, x: Any) -> Any:
        return tf.betainc(self.total_count, 1.0 + self._whole(x), tf.sigmoid(-self.logits))

    def _log_prob(self, x: Any) -> Any:
        x, n = self._whole(x), self.total_count
        ways = tf.lgamma(n + x) - tf.lgamma(1.0 + x) - tf.lgamma(n)
        return n * tf.log_sigmoid(-self.logits) + x * tf.log_sigmoid(self.logits) + ways

    def _mean(self) -> Any:
        return self.total_count * tf.exp(self.logits)

    def _mode(self) -> Any:
        n = self.total_count
        return tf.floor(tf.where_v2(n > 1.0, n - 1.0, tf.zeros_like(n)) * tf.exp(self.logits))

    def _variance(self) -> Any:
        return self._mean() / tf.sigmoid(-self.logits)


class Geometric(_Counts):
    """How many trials fail before the first success."""

    _named_parameters = ("probs",)

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Geometric",
    ):
        given = [each for each in (logits, probs) if each is not None]
        with tf.name_scope(name, values=given) as scope:
            super().__init__(logits, probs, validate_args, allow_nan_stats, scope)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        uniform = tf.random_uniform(
            self._draws_shape(n), minval=1e-38, maxval=1.0, seed=seed, dtype=self.dtype
        )
        return tf.floor(tf.log(uniform) / tf.log1p(-self.probs))

    def _cdf(self, counts: Any) -> Any:
        counts = self._whole(counts) if self.validate_args else tf.floor(counts)
        at_least_none = tf.where_v2(counts < 0.0, tf.zeros_like(counts), counts)
        inside = -tf.expm1((at_least_none + 1.0) * tf.log1p(-self.probs))
        return tf.where_v2(counts < 0.0, tf.zeros_like(inside), inside)

    def _log_prob(self, counts: Any) -> Any:
        counts = self._whole(counts) if self.validate_args else tf.floor(counts)
        return counts * tf.log1p(-self.probs) + tf.log(self.probs)

    def _entropy(self) -> Any:
        return -(self.probs * tf.log(self.probs) + (1 - self.probs) * tf.log1p(-self.probs)) / (
            self.probs
        )

    def _mean(self) -> Any:
        return tf.exp(-self.logits)

    def _variance(self) -> Any:
        return self._mean() / self.probs

    def _mode(self) -> Any:
        return tf.zeros(self.batch_shape_tensor(), dtype=self.dtype)
