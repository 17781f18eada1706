"""What observations with a known standard deviation tell of a normal mean."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.distributions.normal import Normal

__all__ = [
    "normal_conjugates_known_scale_posterior",
    "normal_conjugates_known_scale_predictive",
]


def _posterior(prior: Any, scale: Any, s: Any, n: Any) -> tuple[Any, Any]:
    """The mean of the mean, and its variance."""
    if not isinstance(prior, Normal):
        raise TypeError("Expected prior to be an instance of type Normal")
    if s.dtype != prior.dtype:
        raise TypeError(
            f"Observation sum s.dtype does not match prior dtype: {s.dtype} vs. {prior.dtype}"
        )
    n = tf.cast(n, prior.dtype)
    of_prior, known = tf.square(prior.scale), tf.square(scale)
    variance = 1.0 / (1 / of_prior + n / known)
    return (prior.loc / of_prior + s / known) * variance, variance


def normal_conjugates_known_scale_posterior(prior: Any, scale: Any, s: Any, n: Any) -> Normal:
    """The distribution of the mean after n observations with the sum s.

    Args:
      prior: what was known of the mean before, a `Normal`.
      scale: the known standard deviation of an observation.
      s: the sum of the observations.
      n: their number.
    """
    mean, variance = _posterior(prior, scale, s, n)
    return Normal(loc=mean, scale=tf.sqrt(variance))


def normal_conjugates_known_scale_predictive(prior: Any, scale: Any, s: Any, n: Any) -> Normal:
    """The distribution of the next observation after n with the sum s; arguments as above."""
    mean, variance = _posterior(prior, scale, s, n)
    return Normal(loc=mean, scale=tf.sqrt(variance + tf.square(scale)))
