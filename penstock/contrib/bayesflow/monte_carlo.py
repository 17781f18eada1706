"""Expectations as means over samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf

__all__ = [
    "expectation",
    "expectation_importance_sampler",
    "expectation_importance_sampler_logspace",
]

Function = Callable[[Any], Any]


def expectation(
    f: Function,
    samples: Any,
    log_prob: Function | None = None,
    use_reparametrization: bool = True,
    axis: Any = 0,
    keep_dims: bool = False,
    name: str | None = None,
) -> Any:
    """The mean of `f` over samples, with the gradient of the expectation.

    Args:
      log_prob: The log of the samples' density, by which the gradient is weighted.
      use_reparametrization: Whether gradients go through the samples; else through `log_prob`.
      axis: The dimensions of the samples that the mean is taken over.
    """
    with tf.name_scope(name, "expectation", [samples]):
        if not callable(f):
            raise ValueError("`f` must be a callable function.")
        if use_reparametrization:
            return tf.reduce_mean(f(samples), axis=axis, keepdims=keep_dims)
        if not callable(log_prob):
            raise ValueError("`log_prob` must be a callable function.")
        fixed = tf.stop_gradient(samples)
        density, values = log_prob(fixed), f(fixed)
        # Adds zero, whose gradient is that of the density.
        values += tf.stop_gradient(values) * (density - tf.stop_gradient(density))
        return tf.reduce_mean(values, axis=axis, keepdims=keep_dims)


def expectation_importance_sampler(
    f: Function,
    log_p: Function,
    sampling_dist_q: Any,
    z: Any = None,
    n: int | None = None,
    seed: int | None = None,
    name: str = "expectation_importance_sampler",
) -> Any:
    """The expectation of `f` under the density exp(log_p), from samples of another distribution.

    Args:
      z: The samples; else `n` are drawn.
    """
    with tf.name_scope(name, values=[z, n]):
        z = _samples(sampling_dist_q, z, n, seed)
        log_weights = log_p(z) - sampling_dist_q.log_prob(z)
        values = f(z)
        # Positive and negative part apart; one more in each, which keeps the logs finite.
        positive, negative = (
            tf.exp(_log_mean(tf.log(tf.nn.relu(part) + 1.0) + log_weights))
            for part in (values, -1.0 * values)
        )
        return positive - negative


def expectation_importance_sampler_logspace(
    log_f: Function,
    log_p: Function,
    sampling_dist_q: Any,
    z: Any = None,
    n: int | None = None,
    seed: int | None = None,
    name: str = "expectation_importance_sampler_logspace",
) -> Any:
    """The log of the expectation of exp(log_f), as `expectation_importance_sampler` finds it."""
    with tf.name_scope(name, values=[z, n]):
        z = _samples(sampling_dist_q, z, n, seed)
        return _log_mean(log_f(z) + log_p(z) - sampling_dist_q.log_prob(z))


def _log_mean(logs: Any) -> Any:
    # The greatest is taken out, so that no exponential overflows; it cancels in the gradient.
    greatest = tf.stop_gradient(tf.reduce_max(logs, axis=[0]))
    return tf.log(tf.reduce_mean(tf.exp(logs - greatest), axis=[0])) + greatest


def _samples(distribution: Any, z: Any, n: int | None, seed: int | None) -> Any:
    with tf.name_scope("get_samples", values=[z, n]):
        if (n is None) == (z is None):
            raise ValueError(
                f'Must specify exactly one of arguments "n" and "z".  Found: n = {n}, z = {z}'
            )
        return distribution.sample(n, seed=seed) if z is None else tf.convert_to_tensor(z, name="z")
