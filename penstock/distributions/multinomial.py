"""The multinomial distribution."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.distributions.argument_checks import (
    checked,
    embed_check_nonnegative_integer_form,
    get_logits_and_probs,
    log_combinations,
)
from penstock.distributions.distribution import NOT_REPARAMETERIZED, Distribution

__all__ = ["Multinomial"]


class Multinomial(Distribution):
    """How often each class occurs in `total_count` draws by `probs` or `logits`."""

    def __init__(
        self,
        total_count: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Multinomial",
    ):
        values = [value for value in (total_count, logits, probs) if value is not None]
        with tf.name_scope(name, values=values) as scope:
            self._total_count = tf.convert_to_tensor(total_count, name="total_count")
            if validate_args:
                self._total_count = embed_check_nonnegative_integer_form(self._total_count)
            self._logits, self._probs = get_logits_and_probs(
                logits=logits,
                probs=probs,
                multidimensional=True,
                validate_args=validate_args,
                name=scope,
            )
            self._mean_val = self._total_count[..., tf.newaxis] * self._probs
        super().__init__(
            dtype=self._probs.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            graph_parents=[self._total_count, self._logits, self._probs],
            name=scope,
        )

    @property
    def total_count(self) -> Any:
        """The number of draws."""
        return self._total_count

    @property
    def logits(self) -> Any:
        """The unnormalized logarithms of the probabilities."""
        return self._logits

    @property
    def probs(self) -> Any:
        """The probabilities of the classes."""
        return self._probs

    def _batch_shape_tensor(self) -> Any:
        return tf.shape(self._mean_val)[:-1]

    def _batch_shape(self) -> Any:
        return self._mean_val.get_shape().with_rank_at_least(1)[:-1]

    def _event_shape_tensor(self) -> Any:
        return tf.shape(self._mean_val)[-1:]

    def _event_shape(self) -> Any:
        return self._mean_val.get_shape().with_rank_at_least(1)[-1:]

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        """One distribution of the batch after the other: their numbers of draws may differ."""
        classes = self.event_shape_tensor()[0]
        draws = tf.cast(self.total_count, tf.int32)
        draws = tf.ones_like(self.logits[..., 0], dtype=draws.dtype) * draws
        ones = tf.ones_like(draws[..., tf.newaxis], dtype=self.logits.dtype)
        rows = tf.reshape(ones * self.logits, tf.stack([-1, classes]))

        def counts(row: Any) -> Any:
            drawn = tf.multinomial(row[0][tf.newaxis, ...], row[1], seed)
            drawn = tf.reshape(drawn, tf.stack([n, -1]))
            return tf.reduce_sum(tf.one_hot(drawn, depth=classes, dtype=self.dtype), axis=-2)

        found = tf.map_fn(counts, [rows, n * tf.reshape(draws, [-1])], dtype=self.dtype)
        shape = tf.concat([[n], self.batch_shape_tensor(), [classes]], 0)
        return tf.reshape(tf.transpose(found, perm=[1, 0, 2]), shape)

    def _log_prob(self, counts: Any) -> Any:
        if self.validate_args:
            counts = embed_check_nonnegative_integer_form(counts)
            total = tf.reduce_sum(counts, -1)
            message = "counts must sum to `self.total_count`"
            counts = checked([tf.assert_equal(self.total_count, total, message=message)], counts)
        logs = tf.reduce_sum(counts * tf.nn.log_softmax(self.logits), -1)
        return logs + log_combinations(self.total_count, counts)

    def _mean(self) -> Any:
        return tf.identity(self._mean_val)

    def _probs_of_batch(self) -> Any:
        return self.probs * tf.ones_like(self.total_count)[..., tf.newaxis]

    def _covariance(self) -> Any:
        p = self._probs_of_batch()
        outer = tf.matmul(self._mean_val[..., tf.newaxis], p[..., tf.newaxis, :])
        return tf.matrix_set_diag(-outer, self._variance())

    def _variance(self) -> Any:
        return self._mean_val - self._mean_val * self._probs_of_batch()
