"""`keras.utils.kernelized_utils`: kernels of pairs of vectors, without approximation."""

from __future__ import annotations

from typing import Any

import penstock as tf


def _to_matrix(u: Any) -> Any:
    rank = len(u.shape)
    if rank not in (1, 2):
        raise ValueError(f"The input tensor should have rank 1 or 2. Given rank: {rank}")
    return tf.expand_dims(u, 0) if rank == 1 else u


def _align_matrices(x: Any, y: Any) -> tuple[Any, Any]:
    """The rows of both, repeated so that all pairs are at the same places."""
    x, y = _to_matrix(x), _to_matrix(y)
    if x.shape[1] != y.shape[1]:
        raise ValueError(
            "The outermost dimensions of the input tensors should match. Given: "
            f"{y.shape[1]} vs {x.shape[1]}."
        )
    first = tf.tile(tf.expand_dims(x, 1), [1, y.shape[0], 1])
    return first, tf.tile(tf.expand_dims(y, 0), [x.shape[0], 1, 1])


def inner_product(u: Any, v: Any) -> Any:
    """The inner products of all pairs of rows."""
    return tf.matmul(_to_matrix(u), _to_matrix(v), transpose_b=True)


def exact_gaussian_kernel(x: Any, y: Any, stddev: Any) -> Any:
    """`exp(-|a - b|² / (2 stddev²))` of all pairs of rows."""
    first, second = _align_matrices(x, y)
    distance = tf.reduce_sum(tf.squared_difference(first, second), 2)
    return tf.exp(-distance / (2 * stddev * stddev))


def exact_laplacian_kernel(x: Any, y: Any, stddev: Any) -> Any:
    """`exp(-|a - b|₁ / stddev)` of all pairs of rows."""
    first, second = _align_matrices(x, y)
    return tf.exp(-tf.reduce_sum(tf.abs(first - second), 2) / stddev)
