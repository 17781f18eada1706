"""Decays of the sign's weight in AddSign and PowerSign, as functions of the global step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import penstock as tf

Decay = Callable[[Any], Any]


def _limited(global_step: Any, decay_steps: int, kind: str) -> Any:
    if global_step is None:
        raise ValueError(f"global_step is required for {kind}.")
    return tf.minimum(global_step, decay_steps)


def _half_cosine(fraction: Any) -> Any:
    return 0.5 * (1.0 + tf.cos(tf.constant(math.pi) * fraction))


def get_linear_decay_fn(decay_steps: int) -> Decay:
    """From one down to zero in a straight line."""

    def linear_decay_fn(global_step: Any) -> Any:
        step = _limited(global_step, decay_steps, "linear_decay")
        remaining = tf.cast(decay_steps, tf.int32) - tf.cast(step, tf.int32)
        return tf.maximum(0.0, tf.cast(remaining, tf.float32) / tf.cast(decay_steps, tf.float32))

    return linear_decay_fn


def get_cosine_decay_fn(
    decay_steps: int, num_periods: float = 0.5, zero_after: float | None = None
) -> Decay:
    """Along a cosine of so many periods; zero after so many of them."""

    def cosine_decay_fn(global_step: Any) -> Any:
        step = _limited(global_step, decay_steps, "cosine_decay")
        completed = tf.cast(step, tf.float32) / tf.cast(decay_steps, tf.float32)
        fraction = 2.0 * num_periods * completed
        decayed = _half_cosine(fraction)
        if zero_after is not None:
            is_over = tf.greater_equal(fraction, 2 * zero_after)
            decayed = tf.where(is_over, tf.zeros_like(decayed), decayed)
        return decayed

    return cosine_decay_fn


def get_restart_decay_fn(
    decay_steps: int, num_periods: int = 1, zero_after: float | None = None
) -> Decay:
    """Down half a cosine, then from the start again, so many times."""

    def restart_decay_fn(global_step: Any) -> Any:
        step = tf.cast(_limited(global_step, decay_steps, "cosine_decay"), tf.float32)
        within = tf.mod(num_periods * step, decay_steps)
        decayed = _half_cosine(within / tf.cast(decay_steps, tf.float32))
        if zero_after is not None:
            periods = num_periods * step / tf.cast(decay_steps, tf.float32)
            is_over = tf.greater_equal(periods, zero_after)
            decayed = tf.where(is_over, tf.zeros_like(decayed), decayed)
        return decayed

    return restart_decay_fn
