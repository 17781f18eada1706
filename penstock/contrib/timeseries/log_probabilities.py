"""Logarithms of densities."""

from __future__ import annotations

import math
from typing import Any

import penstock as tf

_LOG_TWO_PI = math.log(2.0 * math.pi)


def normal_log_prob(loc: Any, scale: Any, x: Any) -> tf.Tensor:
    """Half of the scale's logarithm is subtracted, as TensorFlow's models were trained with."""
    return -0.5 * (tf.square((x - loc) / scale) + _LOG_TWO_PI + tf.math.log(scale))


def cauchy_log_prob(loc: Any, scale: Any, x: Any) -> tf.Tensor:
    """Of a Cauchy distribution."""
    return -math.log(math.pi) - tf.math.log(scale) - tf.math.log1p(tf.square((x - loc) / scale))


def mvn_tril_log_prob(loc: Any, scale_tril: Any, x: Any) -> tf.Tensor:
    """Of a multivariate normal distribution, by the triangular factor of its covariance."""
    z = tf.matrix_triangular_solve(scale_tril, (x - loc)[..., tf.newaxis])[..., 0]
    log_determinant = 2.0 * tf.reduce_sum(tf.math.log(tf.matrix_diag_part(scale_tril)), axis=-1)
    size = tf.cast(tf.shape(scale_tril)[-1], log_determinant.dtype)
    return -0.5 * (tf.reduce_sum(tf.square(z), axis=-1) + size * _LOG_TWO_PI + log_determinant)


def log_noninformative_covariance_prior(covariance: tf.Tensor) -> tf.Tensor:
    """The prior of a covariance matrix of which nothing is known: a power of its determinant."""
    size = tf.shape(covariance)[0]
    covariance += tf.diag(1e-8 * tf.ones(shape=[size], dtype=covariance.dtype))
    power = -(tf.cast(size + 1, covariance.dtype) / 2.0)
    return power * tf.math.log(tf.matrix_determinant(covariance))


def entropy_matched_cauchy_scale(covariance: tf.Tensor) -> tf.Tensor:
    """The scales of Cauchy distributions as uncertain as normal ones of these variances."""
    return tf.sqrt(math.e / (8.0 * math.pi) * tf.matrix_diag_part(covariance))
