"""The categorical distribution."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.distributions.argument_checks import (
    embed_check_integer_casting_closed,
    get_logits_and_probs,
)
from penstock.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from penstock.distributions.kullback_leibler import RegisterKL
from penstock.shapes import TensorShape, dimension_value

__all__ = ["Categorical"]


def _broadcast(event: Any, params: Any, dtype: Any) -> tuple[Any, Any]:
    """Classes, and parameters with the dimension of classes behind the same others."""
    if event.dtype.is_floating:
        event = tf.cast(event, tf.int32)
    elif not event.dtype.is_integer:
        raise TypeError(f"`value` should have integer `dtype` or `self.dtype` ({dtype})")
    if (
        event.shape.is_fully_defined()
        and params.shape.ndims is not None
        and params.shape[:-1].as_list() == event.shape.as_list()
    ):
        return event, params
    params *= tf.ones_like(event[..., tf.newaxis], dtype=params.dtype)
    event *= tf.ones(tf.shape(params)[:-1], dtype=event.dtype)
    if params.shape.ndims is not None:
        event.set_shape(params.shape[:-1])
    return event, params


class Categorical(Distribution):
    """A class, drawn by `probs` or `logits`, `[…, classes]`."""

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = tf.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Categorical",
    ):
        values = [value for value in (logits, probs) if value is not None]
        with tf.name_scope(name, values=values) as scope:
            self._logits, self._probs = get_logits_and_probs(
                logits=logits,
                probs=probs,
                validate_args=validate_args,
                multidimensional=True,
                name=scope,
            )
            self._add_sizes()
        super().__init__(
            dtype=dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            graph_parents=[self._logits, self._probs],
            name=scope,
        )

    def _add_sizes(self) -> None:
        """Makes tensors of the rank and the shape of the batch and of the number of classes."""
        known = self._logits.get_shape().with_rank_at_least(1)
        if known.ndims is None:
            with tf.name_scope("batch_rank"):
                batch_rank = tf.rank(self._logits) - 1
        else:
            batch_rank = tf.convert_to_tensor(known.ndims - 1, tf.int32, name="batch_rank")
        shape = tf.shape(self._logits, name="logits_shape")
        classes = None if known.ndims is None else dimension_value(known[-1])
        if classes is None:
            with tf.name_scope("event_size"):
                self._event_size = shape[batch_rank]
        else:
            self._event_size = tf.convert_to_tensor(classes, tf.int32, name="event_size")
        if known[:-1].is_fully_defined():
            batch = tf.constant(known[:-1].as_list(), tf.int32, name="batch_shape")
        else:
            with tf.name_scope("batch_shape"):
                batch = shape[:-1]
        self._batch_sizes = batch

    @property
    def event_size(self) -> Any:
        """The number of classes."""
        return self._event_size

    @property
    def logits(self) -> Any:
        """The unnormalized logarithms of the probabilities."""
        return self._logits

    @property
    def probs(self) -> Any:
        """The probabilities."""
        return self._probs

    def _batch_shape_tensor(self) -> Any:
        return tf.identity(self._batch_sizes)

    def _batch_shape(self) -> Any:
        return self.logits.get_shape()[:-1]

    def _event_shape_tensor(self) -> Any:
        return tf.constant([], dtype=tf.int32)

    def _event_shape(self) -> Any:
        return TensorShape([])

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        rows = self.logits
        if rows.get_shape().ndims != 2:
            rows = tf.reshape(rows, [-1, self.event_size])
        kind = tf.int64 if tf.as_dtype(self.dtype).size > 4 else tf.int32
        drawn = tf.multinomial(rows, n, seed=seed, output_dtype=kind)
        drawn = tf.transpose(drawn)
        return tf.cast(
            tf.reshape(drawn, tf.concat([[n], self.batch_shape_tensor()], 0)), self.dtype
        )

    def _classes(self, k: Any, params: Any) -> tuple[Any, Any]:
        k = tf.convert_to_tensor(k, name="k")
        if self.validate_args:
            k = embed_check_integer_casting_closed(k, target_dtype=tf.int32)
        return _broadcast(k, params, self.dtype)

    def _cdf(self, k: Any) -> Any:
        """The probability of a class before `k`."""
        k, probs = self._classes(k, self.probs)
        before = tf.sequence_mask(k, self._event_size)
        return tf.reduce_sum(tf.where(before, probs, tf.zeros_like(probs)), axis=-1)

    def _log_prob(self, k: Any) -> Any:
        k, logits = self._classes(k, self.logits)
        return -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=k, logits=logits)

    def _entropy(self) -> Any:
        return -tf.reduce_sum(tf.nn.log_softmax(self.logits) * self.probs, axis=-1)

    def _mode(self) -> Any:
        mode = tf.cast(tf.argmax(self.logits, axis=-1), self.dtype)
        mode.set_shape(self.batch_shape)
        return mode


@RegisterKL(Categorical, Categorical)
def _kl_categorical_categorical(a: Categorical, b: Categorical, name: str | None = None) -> Any:
    with tf.name_scope(name, "kl_categorical_categorical", values=[a.logits, b.logits]):
        ratio = tf.nn.log_softmax(a.logits) - tf.nn.log_softmax(b.logits)
        return tf.reduce_sum(tf.nn.softmax(a.logits) * ratio, axis=-1)
