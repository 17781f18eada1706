"""Covariance matrices as functions of free parameters."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib import layers


def clip_covariance(
    covariance_matrix: Any, maximum_variance_ratio: Any, minimum_variance: Any
) -> tf.Tensor:
    """Raises variances that are far smaller than the largest one, or too small at all."""
    diagonal = tf.matrix_diag_part(covariance_matrix)
    largest = tf.reduce_max(diagonal, axis=-1, keepdims=True)
    raised = tf.maximum(diagonal, largest / maximum_variance_ratio)
    return tf.matrix_set_diag(covariance_matrix, tf.maximum(raised, minimum_variance))


def sign_magnitude_positive_definite(
    raw: Any, off_diagonal_scale: Any = 0.0, overall_scale: Any = 0.0
) -> tf.Tensor:
    """Positive definite matrices of any square ones.

    The logarithms of a triangular factor's sizes are above the diagonal, signs below it.

    Args:
      off_diagonal_scale: added to the logarithms outside of the diagonal.
      overall_scale: added to all logarithms.
    """
    raw = tf.convert_to_tensor(raw)
    diagonal = tf.matrix_diag_part(raw)

    def widened(values: Any, rank: tf.Tensor) -> tf.Tensor:
        values = tf.convert_to_tensor(values, dtype=raw.dtype.base_dtype)
        ones = tf.ones([rank - tf.rank(values)], dtype=rank.dtype)
        return tf.reshape(values, tf.concat([tf.shape(values), ones], axis=0))

    rank = tf.rank(raw)
    sizes = tf.exp((raw + widened(off_diagonal_scale, rank) + widened(overall_scale, rank)) / 2.0)
    signed = sizes * tf.nn.softsign(tf.matrix_transpose(raw))
    signed.set_shape(raw.get_shape())
    factor = tf.matrix_set_diag(
        tf.matrix_band_part(signed, 0, -1),
        tf.exp((diagonal + widened(overall_scale, tf.rank(diagonal))) / 2.0),
    )
    return tf.matmul(factor, factor, transpose_a=True)


def transform_to_covariance_matrices(input_vectors: Any, matrix_size: int) -> tf.Tensor:
    """Covariance matrices as learned functions of vectors."""
    values = layers.fully_connected(input_vectors, matrix_size**2 + 2, activation_fn=None)
    shape = tf.concat([tf.shape(values)[:-1], [matrix_size, matrix_size]], 0)
    return sign_magnitude_positive_definite(
        raw=tf.reshape(values[..., :-2], shape),
        off_diagonal_scale=values[..., -2],
        overall_scale=values[..., -1],
    )


def variable_covariance_matrix(
    size: int,
    name: str,
    dtype: Any,
    initial_diagonal_values: Any = None,
    initial_overall_scale_log: Any = 0.0,
) -> tf.Tensor:
    """A covariance matrix that is learned.

    Args:
      initial_diagonal_values: the variances to begin with; ones if None.
      initial_overall_scale_log: the logarithm of a factor of all.
    """
    zeros = tf.zeros_initializer()
    raw = tf.get_variable(
        f"{name}_pre_transform", dtype=dtype, shape=[size, size], initializer=zeros
    )
    if initial_diagonal_values is not None:
        raw += tf.matrix_diag(tf.math.log(initial_diagonal_values))
    off_diagonal = tf.get_variable(
        f"{name}_off_diagonal_scale", dtype=dtype, initializer=tf.constant(-5.0, dtype=dtype)
    )
    overall = tf.convert_to_tensor(initial_overall_scale_log, dtype=dtype) + tf.get_variable(
        f"{name}_overall_scale", dtype=dtype, shape=[], initializer=zeros
    )
    return tf.identity(sign_magnitude_positive_definite(raw, off_diagonal, overall), name=name)
