"""Attention that moves in one direction over its memory (Raffel and others: arXiv:1704.00784)."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import penstock as tf
from penstock.contrib.seq2seq.attention_mechanisms import (
    _BaseAttentionMechanism,
    _luong_score,
    bahdanau_score_of,
    luong_scale,
    projection,
)
from penstock.contrib.seq2seq.dimensions import size_of

__all__ = [
    "BahdanauMonotonicAttention",
    "LuongMonotonicAttention",
    "monotonic_attention",
    "safe_cumprod",
]


def safe_cumprod(x: Any, *args: Any, **kwargs: Any) -> Any:
    """The cumulative product of numbers in [0, 1], with a gradient where they are zero.

    The other arguments are those of `tf.cumsum`.
    """
    with tf.name_scope(None, "SafeCumprod", [x]):
        x = tf.convert_to_tensor(x, name="x")
        tiny = np.finfo(x.dtype.as_numpy_dtype).tiny
        return tf.exp(tf.cumsum(tf.log(tf.clip_by_value(x, tiny, 1)), *args, **kwargs))


def monotonic_attention(p_choose_i: Any, previous_attention: Any, mode: str) -> Any:
    """The distribution of the place that is attended to, given that of the step before.

    Args:
      p_choose_i: `[batch, time]`: the probability to stop at each place.
      previous_attention: `[batch, time]`: the distribution one step earlier.
      mode: "recursive" (exact), "parallel" (fast, less exact where probabilities are near 1), or
        "hard" (probabilities are 0 or 1).
    """
    chosen = tf.convert_to_tensor(p_choose_i, name="p_choose_i")
    previous = tf.convert_to_tensor(previous_attention, name="previous_attention")
    if mode == "recursive":
        return chosen * _reached(chosen, previous)
    if mode == "parallel":
        passed = safe_cumprod(1 - chosen, axis=1, exclusive=True)
        shares = previous / tf.clip_by_value(passed, 1e-10, 1.0)
        return chosen * passed * tf.cumsum(shares, axis=1)
    if mode == "hard":
        chosen = chosen * tf.cumsum(previous, axis=1)
        return chosen * tf.cumprod(1 - chosen, axis=1, exclusive=True)
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")


def _reached(chosen: Any, previous: Any) -> Any:
    """How probable it is to come to each place: place by place along time."""
    batch_size = size_of(chosen, 0)
    ones = tf.ones(tf.stack([batch_size, 1]), dtype=chosen.dtype)
    passed = tf.concat([ones, 1 - chosen[:, :-1]], 1)
    start = tf.zeros(tf.stack([batch_size]), dtype=chosen.dtype)

    def step(reached: Any, place: Any) -> Any:
        return tf.reshape(place[0] * reached + place[1], tf.stack([batch_size]))

    rows = tf.scan(step, [tf.transpose(passed), tf.transpose(previous)], start)
    return tf.transpose(rows)


def _monotonic_probability_fn(
    score: Any, previous_alignments: Any, sigmoid_noise: float, mode: str, seed: Any = None
) -> Any:
    """Alignments of scores, with noise before the sigmoid so that it learns to be sharp."""
    if sigmoid_noise > 0:
        noise = tf.random_normal(tf.shape(score), dtype=score.dtype, seed=seed)
        score += sigmoid_noise * noise
    chosen = tf.cast(score > 0, score.dtype) if mode == "hard" else tf.sigmoid(score)
    return monotonic_attention(chosen, previous_alignments, mode)


class _BaseMonotonicAttentionMechanism(_BaseAttentionMechanism):
    """Begins at the first place of the memory."""

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """All probability on the first place."""
        first = tf.zeros(tf.stack([batch_size]), dtype=tf.int32)
        return tf.one_hot(first, self._alignments_size, dtype=dtype)


class BahdanauMonotonicAttention(_BaseMonotonicAttentionMechanism):
    """Monotonic attention with Bahdanau's score.

    Args:
      sigmoid_noise: The standard deviation of noise that is added to scores in training.
      score_bias_init: The first value of the bias of the score.
      mode: See `monotonic_attention`.
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: Any = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str | None = "BahdanauMonotonicAttention",
    ):
        super().__init__(
            query_layer=projection(num_units, "query_layer", dtype),
            memory_layer=projection(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=_probability(sigmoid_noise, mode, sigmoid_noise_seed),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units, self._normalize, self._name = num_units, normalize, name
        self._score_bias_init = score_bias_init

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """The alignments of a query `[batch, depth]`, given those of the step before."""
        with tf.variable_scope(None, "bahdanau_monotonic_attention", [query]):
            projected = self.query_layer(query) if self.query_layer else query
            score = bahdanau_score_of(projected, self._keys, self._num_units, self._normalize)
            score += _bias(projected.dtype, self._score_bias_init)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


class LuongMonotonicAttention(_BaseMonotonicAttentionMechanism):
    """Monotonic attention with Luong's score; see `BahdanauMonotonicAttention`."""

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: Any = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str | None = "LuongMonotonicAttention",
    ):
        super().__init__(
            query_layer=None,
            memory_layer=projection(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=_probability(sigmoid_noise, mode, sigmoid_noise_seed),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units, self._scale, self._name = num_units, scale, name
        self._score_bias_init = score_bias_init

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """The alignments of a query `[batch, depth]`, given those of the step before."""
        with tf.variable_scope(None, "luong_monotonic_attention", [query]):
            scale = luong_scale(query) if self._scale else None
            score = _luong_score(query, self._keys, scale)
            score += _bias(query.dtype, self._score_bias_init)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


def _probability(sigmoid_noise: float, mode: str, seed: Any) -> Any:
    return functools.partial(
        _monotonic_probability_fn, sigmoid_noise=sigmoid_noise, mode=mode, seed=seed
    )


def _bias(dtype: Any, start: float) -> Any:
    return tf.get_variable("attention_score_bias", dtype=dtype, initializer=float(start))
