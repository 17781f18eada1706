"""Repeating and dropping examples of a batch at random, by rates or weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock.train.moving_averages import assign_moving_average

__all__ = ["resample_at_rate", "weighted_resample"]


def _repeat_range(counts: Any, name: str | None = None) -> Any:
    """Every index `i` repeated `counts[i]` times, in one vector."""
    with tf.name_scope(name, "repeat_range", [counts]) as scope:
        counts = tf.convert_to_tensor(counts, name="counts")
        size = tf.shape(counts)[0]
        repeated = tf.TensorArray(dtype=tf.int32, size=size, infer_shape=False)

        def write(output: Any, i: Any) -> Any:
            return output.write(i, tf.fill(counts[i : i + 1], i)), i + 1

        output, writes = tf.while_loop(lambda _, i: i < size, write, loop_vars=[repeated, 0])
        return tf.cond(
            writes > 0,
            output.concat,
            lambda: tf.zeros(shape=[0], dtype=tf.int32),
            name=scope,
        )


def resample_at_rate(
    inputs: Sequence[Any],
    rates: Any,
    scope: str | None = None,
    seed: int | None = None,
    back_prop: bool = False,
) -> list[Any]:
    """The rows of `inputs`, row `i` taken `rates[i]` times on average (Poisson).

    Args:
      inputs: tensors with equal first dimensions.
      rates: a vector of that length.
      scope: a name for the operations.
      seed: a seed.
      back_prop: whether gradients flow to `rates`' sources.
    """
    with tf.name_scope(scope, "resample_at_rate", [*inputs, rates]):
        rates = tf.convert_to_tensor(rates, name="rates")
        counts = tf.cast(tf.random_poisson(rates, (), rates.dtype, seed=seed), tf.int32)
        indices = _repeat_range(counts)
        if not back_prop:
            indices = tf.stop_gradient(indices)
        return [tf.gather(each, indices) for each in inputs]


def weighted_resample(
    inputs: Sequence[Any],
    weights: Any,
    overall_rate: float,
    scope: str | None = None,
    mean_decay: float = 0.999,
    seed: int | None = None,
) -> tuple[list[Any], Any]:
    """The rows of `inputs`, taken in proportion to their weights; and the rates of the taken rows.

    Args:
      inputs: tensors with equal first dimensions.
      weights: a vector of that length.
      overall_rate: how many rows are taken for one, on average.
      scope: a name for the operations.
      mean_decay: how slowly the estimate of the mean weight moves.
      seed: a seed.
    """
    with tf.name_scope(scope, "weighted_resample", inputs) as inner:
        with tf.variable_scope(scope, "estimate_mean", inputs):
            estimate = tf.get_local_variable(
                "estimated_mean", initializer=tf.cast(0, weights.dtype), dtype=weights.dtype
            )
            mean = assign_moving_average(estimate, tf.reduce_mean(weights), mean_decay)
        rates = weights * overall_rate / mean
        taken = resample_at_rate([rates, *inputs], rates, scope=inner, seed=seed, back_prop=False)
        return taken[1:], taken[0]
