"""The Dirichlet distribution, and counts of draws with probabilities that have it."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf
from penstock.distributions.argument_checks import (
    checked,
    embed_check_categorical_event_shape,
    embed_check_nonnegative_integer_form,
    gen_new_seed,
    log_combinations,
)
from penstock.distributions.distribution import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Distribution,
)
from penstock.distributions.kullback_leibler import RegisterKL

__all__ = ["Dirichlet", "DirichletMultinomial"]


class _Concentrated(Distribution):
    """What both have in common: a vector `concentration`, `[…, classes]`."""

    _concentration: Any
    _total_concentration: Any

    @property
    def concentration(self) -> Any:
        """The concentrations of the classes."""
        return self._concentration

    @property
    def total_concentration(self) -> Any:
        """Their sum."""
        return self._total_concentration

    def _batch_shape_tensor(self) -> Any:
        return tf.shape(self.total_concentration)

    def _batch_shape(self) -> Any:
        return self.total_concentration.get_shape()

    def _event_shape_tensor(self) -> Any:
        return tf.shape(self.concentration)[-1:]

    def _event_shape(self) -> Any:
        return self.concentration.get_shape().with_rank_at_least(1)[-1:]

    def _variance_scale_term(self) -> Any:
        raise NotImplementedError

    def _mean(self) -> Any:
        raise NotImplementedError

    def _variance(self) -> Any:
        raise NotImplementedError

    def _covariance(self) -> Any:
        x = self._variance_scale_term() * self._mean()
        outer = tf.matmul(x[..., tf.newaxis], x[..., tf.newaxis, :])
        return tf.matrix_set_diag(-outer, self._variance())


class Dirichlet(_Concentrated):
    """Probabilities of classes, with density `Π x_i ** (concentration_i - 1) / Z`."""

    def __init__(
        self,
        concentration: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Dirichlet",
    ):
        with tf.name_scope(name, values=[concentration]) as scope:
            tensor = tf.convert_to_tensor(concentration, name="concentration")
            if validate_args:
                tensor = _checked_concentration(tensor)
            self._concentration = tensor
            self._total_concentration = tf.reduce_sum(tensor, -1)
        super().__init__(
            dtype=tensor.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            graph_parents=[self._concentration, self._total_concentration],
            name=scope,
        )

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        """Gamma numbers, divided by their sum."""
        gamma = tf.random_gamma([n], self.concentration, dtype=self.dtype, seed=seed)
        return gamma / tf.reduce_sum(gamma, -1, keepdims=True)

    def _log_prob(self, x: Any) -> Any:
        return self._log_unnormalized_prob(x) - self._log_normalization()

    def _log_unnormalized_prob(self, x: Any) -> Any:
        if self.validate_args:
            one, total = tf.ones([], dtype=self.dtype), tf.reduce_sum(x, -1)
            checks = [
                tf.assert_positive(x, message="samples must be positive"),
                tf.assert_near(one, total, message="sample last-dimension must sum to `1`"),
            ]
            x = checked(checks, x)
        return tf.reduce_sum(tf.math.xlogy(self.concentration - 1.0, x), -1)

    def _log_normalization(self) -> Any:
        return tf.lbeta(self.concentration)

    def _entropy(self) -> Any:
        classes = tf.cast(self.event_shape_tensor()[0], self.dtype)
        each = (self.concentration - 1.0) * tf.digamma(self.concentration)
        total = (self.total_concentration - classes) * tf.digamma(self.total_concentration)
        return self._log_normalization() + total - tf.reduce_sum(each, axis=-1)

    def _mean(self) -> Any:
        return self.concentration / self.total_concentration[..., tf.newaxis]

    def _variance_scale_term(self) -> Any:
        return tf.rsqrt(1.0 + self.total_concentration[..., tf.newaxis])

    def _variance(self) -> Any:
        scale = self._variance_scale_term()
        x = scale * self._mean()
        return x * (scale - x)

    def _mode(self) -> Any:
        classes = tf.cast(self.event_shape_tensor()[0], self.dtype)
        total = self.total_concentration[..., tf.newaxis]
        mode = (self.concentration - 1.0) / (total - classes)
        if self.allow_nan_stats:
            nan = tf.fill(tf.shape(mode), np.array(np.nan, self.dtype.as_numpy_dtype), name="nan")
            defined = tf.reduce_all(self.concentration > 1.0, axis=-1, keepdims=True)
            return tf.where_v2(defined, mode, nan)
        one = tf.ones([], self.dtype)
        message = "Mode undefined when any concentration <= 1"
        return checked([tf.assert_less(one, self.concentration, message=message)], mode)


def _checked_concentration(concentration: Any) -> Any:
    positive = tf.assert_positive(
        concentration, message="Concentration parameter must be positive."
    )
    ranked = tf.assert_rank_at_least(
        concentration, 1, message="Concentration parameter must have >=1 dimensions."
    )
    classes = tf.shape(concentration)[-1]  # where there is a last axis
    several = tf.assert_less(
        1, classes, message="Concentration parameter must have event_size >= 2."
    )
    return checked([positive, ranked, several], concentration)


@RegisterKL(Dirichlet, Dirichlet)
def _kl_dirichlet_dirichlet(d1: Dirichlet, d2: Dirichlet, name: str | None = None) -> Any:
    values = [d1.concentration, d2.concentration]
    with tf.name_scope(name, "kl_dirichlet_dirichlet", values=values):
        total = tf.digamma(tf.reduce_sum(d1.concentration, axis=-1, keepdims=True))
        logs = tf.digamma(d1.concentration) - total
        difference = tf.reduce_sum((d1.concentration - d2.concentration) * logs, axis=-1)
        return difference - tf.lbeta(d1.concentration) + tf.lbeta(d2.concentration)


class DirichletMultinomial(_Concentrated):
    """Counts of `total_count` draws of classes whose probabilities are a Dirichlet draw."""

    def __init__(
        self,
        total_count: Any,
        concentration: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "DirichletMultinomial",
    ):
        with tf.name_scope(name, values=[total_count, concentration]) as scope:
            self._total_count = tf.convert_to_tensor(total_count, name="total_count")
            tensor = tf.convert_to_tensor(concentration, name="concentration")
            if validate_args:
                self._total_count = embed_check_nonnegative_integer_form(self._total_count)
                tensor = embed_check_categorical_event_shape(tensor)
                message = "Concentration parameter must be positive."
                tensor = checked([tf.assert_positive(tensor, message=message)], tensor)
            self._concentration = tensor
            self._total_concentration = tf.reduce_sum(tensor, -1)
        super().__init__(
            dtype=tensor.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            graph_parents=[self._total_count, self._concentration],
            name=scope,
        )

    @property
    def total_count(self) -> Any:
        """The number of draws."""
        return self._total_count

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        classes = self.event_shape_tensor()[0]
        gamma = tf.random_gamma([n], self.concentration, dtype=self.dtype, seed=seed)
        drawn = tf.multinomial(
            tf.reshape(tf.log(gamma), tf.stack([-1, classes])),
            tf.cast(self.total_count, tf.int32),
            seed=gen_new_seed(seed, "dirichlet_multinomial"),
        )
        counts = tf.reduce_sum(tf.one_hot(drawn, depth=classes), -2)
        shape = tf.concat([[n], self.batch_shape_tensor(), [classes]], 0)
        return tf.cast(tf.reshape(counts, shape), self.dtype)

    def _log_prob(self, counts: Any) -> Any:
        if self.validate_args:
            counts = embed_check_nonnegative_integer_form(counts)
            total = tf.reduce_sum(counts, -1)
            message = "counts last-dimension must sum to `self.total_count`"
            counts = checked([tf.assert_equal(self.total_count, total, message=message)], counts)
        ordered = tf.lbeta(self.concentration + counts) - tf.lbeta(self.concentration)
        return ordered + log_combinations(self.total_count, counts)

    def _mean(self) -> Any:
        return self.total_count * (self.concentration / self.total_concentration[..., tf.newaxis])

    def _variance(self) -> Any:
        scale = self._variance_scale_term()
        x = scale * self._mean()
        return x * (self.total_count * scale - x)

    def _variance_scale_term(self) -> Any:
        total = self.total_concentration[..., tf.newaxis]
        return tf.sqrt((1.0 + total / self.total_count) / (1.0 + total))
