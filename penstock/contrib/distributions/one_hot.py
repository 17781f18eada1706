"""One-hot vectors of classes, and their continuous relaxation."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf
from penstock.distributions.argument_checks import get_logits_and_probs
from penstock.distributions.distribution import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Distribution,
    ReparameterizationType,
)
from penstock.distributions.kullback_leibler import RegisterKL

__all__ = ["ExpRelaxedOneHotCategorical", "OneHotCategorical", "RelaxedOneHotCategorical"]


class _OverClasses(Distribution):
    """Draws are vectors with a component per class."""

    def _set_up(
        self,
        kind: ReparameterizationType,
        logits: Any,
        probs: Any,
        dtype: Any,
        validate_args: bool,
        allow_nan_stats: bool,
        name: str,
    ) -> None:
        with tf.name_scope(name, values=[v for v in (logits, probs) if v is not None]) as scope:
            self._logits, self._probs = get_logits_and_probs(
                logits=logits,
                probs=probs,
                validate_args=validate_args,
                multidimensional=True,
                name=scope,
            )
        Distribution.__init__(
            self,
            dtype=self._logits.dtype if dtype is None else dtype,
            reparameterization_type=kind,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            graph_parents=[self._logits, self._probs],
            name=scope,
        )

    @property
    def logits(self) -> Any:
        """The unnormalized logarithms of the probabilities."""
        return self._logits

    @property
    def probs(self) -> Any:
        """The probabilities."""
        return self._probs

    @property
    def event_size(self) -> Any:
        """The number of classes."""
        return tf.shape(self.logits)[-1]

    def _batch_shape_tensor(self) -> Any:
        return tf.shape(self.logits)[:-1]

    def _batch_shape(self) -> Any:
        return self.logits.get_shape()[:-1]

    def _event_shape_tensor(self) -> Any:
        return tf.shape(self.logits)[-1:]

    def _event_shape(self) -> Any:
        return self.logits.get_shape().with_rank_at_least(1)[-1:]


class OneHotCategorical(_OverClasses):
    """A class, drawn by `probs` or `logits`, as a one-hot vector."""

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = tf.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "OneHotCategorical",
    ):
        self._set_up(
            NOT_REPARAMETERIZED, logits, probs, dtype, validate_args, allow_nan_stats, name
        )

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        rows = tf.reshape(self.logits, tf.stack([-1, self.event_size]))
        drawn = tf.one_hot(tf.multinomial(rows, n, seed=seed), self.event_size, dtype=self.dtype)
        shape = tf.concat([[n], tf.shape(self.logits)], 0)
        return tf.reshape(tf.transpose(drawn, [1, 0, 2]), shape)

    def _log_prob(self, x: Any) -> Any:
        x = tf.cast(x, self.logits.dtype)
        return tf.reduce_sum(x * tf.nn.log_softmax(self.logits), -1)

    def _entropy(self) -> Any:
        return -tf.reduce_sum(tf.nn.log_softmax(self.logits) * self.probs, axis=-1)

    def _mean(self) -> Any:
        return tf.identity(self.probs)

    def _mode(self) -> Any:
        return tf.one_hot(tf.argmax(self.logits, -1), self.event_size, dtype=self.dtype)

    def _variance(self) -> Any:
        return self.probs * (1.0 - self.probs)

    def _covariance(self) -> Any:
        outer = tf.matmul(self.probs[..., tf.newaxis], self.probs[..., tf.newaxis, :])
        return tf.matrix_set_diag(-outer, self._variance())


@RegisterKL(OneHotCategorical, OneHotCategorical)
def _kl(a: OneHotCategorical, b: OneHotCategorical, name: str | None = None) -> Any:
    with tf.name_scope(name, "kl_categorical_categorical", values=[a.logits, b.logits]):
        ratio = tf.nn.log_softmax(a.logits) - tf.nn.log_softmax(b.logits)
        return tf.reduce_sum(tf.nn.softmax(a.logits) * ratio, axis=-1)


class ExpRelaxedOneHotCategorical(_OverClasses):
    """The logarithms of `RelaxedOneHotCategorical`, which are exact near the corners."""

    def __init__(
        self,
        temperature: Any,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "ExpRelaxedOneHotCategorical",
    ):
        self._set_up(
            FULLY_REPARAMETERIZED, logits, probs, dtype, validate_args, allow_nan_stats, name
        )
        self._temperature = tf.convert_to_tensor(
            temperature, name="temperature", dtype=self._logits.dtype
        )

    @property
    def temperature(self) -> Any:
        """The lower it is, the nearer are draws to one-hot vectors."""
        return self._temperature

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        """Softmax of logits with Gumbel noise (Jang and others: arXiv:1611.01144)."""
        tiny = np.finfo(self.logits.dtype.as_numpy_dtype).tiny
        shape = tf.concat([[n], tf.shape(self.logits)], 0)
        uniform = tf.random_uniform(shape, minval=tiny, seed=seed, dtype=self.logits.dtype)
        noisy = self.logits - tf.log(-tf.log(uniform))
        return tf.nn.log_softmax(noisy / self.temperature)

    def _log_prob(self, x: Any) -> Any:
        size = tf.cast(self.event_size, x.dtype)
        normalization = tf.lgamma(size) + (size - 1.0) * tf.log(self.temperature)
        logs = tf.nn.log_softmax(self.logits - x * self.temperature)
        return normalization + tf.reduce_sum(logs, -1)


class RelaxedOneHotCategorical(ExpRelaxedOneHotCategorical):
    """Probabilities near one-hot vectors (the Concrete distribution: arXiv:1611.00712)."""

    def __init__(
        self,
        temperature: Any,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedOneHotCategorical",
    ):
        super().__init__(temperature, logits, probs, dtype, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return tf.exp(super()._sample_n(n, seed))

    def _log_prob(self, x: Any) -> Any:
        logs = tf.log(x)
        return super()._log_prob(logs) - tf.reduce_sum(logs, -1)
