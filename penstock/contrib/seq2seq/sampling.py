"""Draws of classes and of yes or no, for helpers of decoders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf

__all__ = ["bernoulli_sample", "categorical_sample"]


def _shaped(draw: Callable[[Any], Any], sample_shape: Any) -> Any:
    """Draws as many as `sample_shape` says, in that shape; `draw(n)` gives `[n, …]`."""
    with tf.name_scope(None, "call_sampler", [sample_shape]):
        shape = tf.convert_to_tensor(sample_shape, dtype=tf.int32, name="sample_shape")
        shape = tf.reshape(shape, [-1])
        drawn = draw(tf.reduce_prod(shape))
        return tf.reshape(drawn, tf.concat([shape, tf.shape(drawn)[1:]], 0))


def bernoulli_sample(
    probs: Any = None,
    logits: Any = None,
    dtype: Any = tf.int32,
    sample_shape: Any = (),
    seed: int | None = None,
) -> Any:
    """Draws 1 with the given probabilities (or those of logits), else 0."""
    if probs is None:
        probs = tf.sigmoid(logits, name="probs")
    probs = tf.convert_to_tensor(probs, name="probs")

    def draw(n: Any) -> Any:
        shape = tf.concat([[n], tf.shape(probs)], 0)
        uniform = tf.random_uniform(shape, seed=seed, dtype=probs.dtype)
        return tf.cast(tf.less(uniform, probs), dtype)

    return _shaped(draw, sample_shape)


def categorical_sample(
    logits: Any, dtype: Any = tf.int32, sample_shape: Any = (), seed: int | None = None
) -> Any:
    """Draws classes by logits, `[…, classes]`."""
    logits = tf.convert_to_tensor(logits, name="logits")
    batch_shape = tf.shape(logits)[:-1]
    kind = tf.int64 if logits.dtype.size > 4 else tf.int32

    def draw(n: Any) -> Any:
        rows = logits if logits.shape.ndims == 2 else tf.reshape(logits, [-1, tf.shape(logits)[-1]])
        drawn = tf.multinomial(rows, n, seed=seed, output_dtype=kind)
        return tf.cast(tf.reshape(tf.transpose(drawn), tf.concat([[n], batch_shape], 0)), dtype)

    return _shaped(draw, sample_shape)
