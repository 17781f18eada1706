"""Mixins for tests of distributions: do samples have the probabilities and moments promised?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import penstock as tf

__all__ = ["DiscreteScalarDistributionTestHelpers", "VectorDistributionTestHelpers"]


class DiscreteScalarDistributionTestHelpers:
    """Checks of a distribution of numbers that can be counted."""

    assertAllClose: Callable[..., None]  # of the test case

    def run_test_sample_consistent_log_prob(
        self,
        sess_run_fn: Callable[[Any], Any],
        dist: Any,
        num_samples: int = 100_000,
        num_threshold: int = 1000,
        seed: int = 42,
        batch_size: Any = None,
        rtol: float = 1e-2,
        atol: float = 0.0,
    ) -> None:
        """Compares probabilities with the part of samples, where they are many enough."""
        if num_threshold < 1:
            raise ValueError(f"num_threshold({num_threshold}) must be at least 1.")
        drawn = tf.reshape(dist.sample(num_samples, seed=seed), [num_samples, -1])
        shape = dist.batch_shape_tensor()
        size = tf.reduce_prod(shape) if batch_size is None else batch_size
        edges_shape = 1 + tf.pad([-2], paddings=[[0, tf.shape(shape)[0]]])
        for place, values in enumerate(tf.unstack(drawn, num=batch_size, axis=1)):
            counts, edges = self.histogram(values)
            probs = tf.exp(dist.log_prob(tf.reshape(edges, edges_shape)))
            probs = tf.reshape(probs, [-1, size])[:, place]
            counted, expected = sess_run_fn([counts, probs])
            many = counted > num_threshold
            self.assertAllClose(expected[many], counted[many] / num_samples, rtol=rtol, atol=atol)

    def run_test_sample_consistent_mean_variance(
        self,
        sess_run_fn: Callable[[Any], Any],
        dist: Any,
        num_samples: int = 100_000,
        seed: int = 24,
        rtol: float = 1e-2,
        atol: float = 0.0,
    ) -> None:
        """Compares mean, variance and standard deviation with those of samples."""
        drawn = tf.cast(dist.sample(num_samples, seed=seed), tf.float32)
        mean = tf.reduce_mean(drawn, axis=0)
        variance = tf.reduce_mean(tf.square(drawn - mean), axis=0)
        seen = [mean, variance, tf.sqrt(variance)]
        promised = [dist.mean(), dist.variance(), dist.stddev()]
        for expected, actual in zip(*sess_run_fn([promised, seen]), strict=True):
            self.assertAllClose(expected, actual, rtol=rtol, atol=atol)

    def histogram(
        self, x: Any, value_range: Any = None, nbins: Any = None, name: str | None = None
    ) -> tuple[Any, Any]:
        """How many values are in each of equal bins, and the bins' lower edges."""
        with tf.name_scope(name, "histogram", [x]):
            x = tf.convert_to_tensor(x, name="x")
            if value_range is None:
                value_range = [tf.reduce_min(x), 1 + tf.reduce_max(x)]
            value_range = tf.convert_to_tensor(value_range, name="value_range")
            low, high = value_range[0], value_range[1]
            if nbins is None:
                nbins = tf.cast(high - low, tf.int32)
            width = (high - low) / tf.cast(nbins, value_range.dtype.base_dtype)
            edges = tf.range(start=low, limit=high, delta=width, dtype=x.dtype.base_dtype)
            return tf.histogram_fixed_width(x, value_range=value_range, nbins=nbins), edges


class VectorDistributionTestHelpers:
    """Checks of a distribution of vectors."""

    assertAllClose: Callable[..., None]  # of the test case

    def run_test_sample_consistent_log_prob(
        self,
        sess_run_fn: Callable[[Any], Any],
        dist: Any,
        num_samples: int = 100_000,
        radius: float = 1.0,
        center: Any = 0.0,
        seed: int = 42,
        rtol: float = 1e-2,
        atol: float = 0.0,
    ) -> None:
        """Measures the volume of a ball by samples, each weighed by its inverse density."""
        with tf.name_scope("run_test_sample_consistent_log_prob"):
            shape = dist.batch_shape_tensor()
            size = np.asarray(radius)
            ndims = tf.cast(dist.event_shape_tensor()[0], size.dtype)
            volume = tf.exp(
                ndims / 2.0 * math.log(math.pi)
                - tf.lgamma(1.0 + ndims / 2.0)
                + ndims * tf.log(size)
            )
            # Not the tensor that was drawn: a bijector would know what it came from.
            drawn = tf.identity(dist.sample(num_samples, seed=seed))
            is_inside = tf.cast(tf.norm(drawn - center, axis=-1) <= radius, drawn.dtype)
            measured = tf.reduce_mean(tf.exp(-dist.log_prob(drawn)) * is_inside, axis=0)
            initialize = tf.global_variables_initializer()
        sess_run_fn(initialize)
        batch, expected, actual = sess_run_fn([shape, volume, measured])
        self.assertAllClose(np.tile(expected, reps=batch), actual, rtol=rtol, atol=atol)

    def run_test_sample_consistent_mean_covariance(
        self,
        sess_run_fn: Callable[[Any], Any],
        dist: Any,
        num_samples: int = 100_000,
        seed: int = 24,
        rtol: float = 1e-2,
        atol: float = 0.1,
        cov_rtol: float | None = None,
        cov_atol: float | None = None,
    ) -> None:
        """Compares mean, covariance, variance and standard deviation with those of samples."""
        drawn = dist.sample(num_samples, seed=seed)
        mean = tf.reduce_mean(drawn, axis=0)
        rest = drawn - mean
        outer = rest[..., :, tf.newaxis] * rest[..., tf.newaxis, :]
        covariance = tf.reduce_mean(outer, axis=0)
        variance = tf.matrix_diag_part(covariance)
        seen = [mean, covariance, variance, tf.sqrt(variance)]
        promised = [dist.mean(), dist.covariance(), dist.variance(), dist.stddev()]
        tolerances = [(rtol, atol)] * 4
        tolerances[1] = (cov_rtol or rtol, cov_atol or atol)
        expected, actual = sess_run_fn([promised, seen])
        for one, other, (relative, absolute) in zip(expected, actual, tolerances, strict=True):
            self.assertAllClose(one, other, rtol=relative, atol=absolute)
