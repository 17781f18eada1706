"""Roots of symmetric positive matrices by iteration, for devices without an SVD."""

from __future__ import annotations

from typing import Any

import penstock as tf


def matrix_square_root(
    mat_a: Any, mat_a_size: Any, iter_count: int = 100, ridge_epsilon: float = 1e-4
) -> Any:
    """The square root of a matrix by the product form of Newton's iteration (Higham, 1997).

    Args:
      iter_count: the most iterations; they end earlier when the error no longer falls.
      ridge_epsilon: what is added to the diagonal first.
    """
    identity = tf.eye(tf.cast(mat_a_size, tf.int32))
    damped = mat_a + ridge_epsilon * identity
    norm = tf.sqrt(tf.reduce_sum(damped * damped))

    def is_improving(i: Any, *state: Any) -> Any:
        error, last_error = state[-2:]
        return tf.logical_and(i < iter_count, error < last_error)

    def iterate(i: Any, y: Any, last_y: Any, z: Any, error: Any, last_error: Any) -> Any:
        del last_y, last_error
        factor = 0.5 * (3.0 * identity - tf.matmul(z, y))
        new_y = tf.matmul(y, factor)
        root = new_y * tf.sqrt(norm)
        residual = damped - tf.matmul(root, root)
        new_error = tf.sqrt(tf.reduce_sum(residual * residual)) / norm
        return i + 1, new_y, y, tf.matmul(factor, z), new_error, error

    start = damped / norm
    _, _, before_last, *_ = tf.while_loop(
        is_improving, iterate, [0, start, start, identity, norm, norm + 1.0]
    )
    return before_last * tf.sqrt(norm)


def matrix_inverse_pth_root(
    mat_g: Any,
    mat_g_size: Any,
    alpha: float,
    iter_count: int = 100,
    epsilon: float = 1e-6,
    ridge_epsilon: float = 1e-6,
) -> Any:
    """A matrix to the power of alpha = -1/p, by a Schur-Newton iteration (Guo and Higham, 2006).

    Args:
      alpha: the exponent, -1/p for a whole number p.
      epsilon: iterations end when no element differs from the limit by more.
      ridge_epsilon: what is added to the diagonal first.
    """
    if mat_g_size == 1:
        return tf.pow(mat_g + ridge_epsilon, alpha)
    identity = tf.eye(tf.cast(mat_g_size, tf.int32))

    def is_far(i: Any, residual: Any, _: Any) -> Any:
        return tf.logical_and(i < iter_count, tf.reduce_max(tf.abs(residual - identity)) > epsilon)

    def iterate(i: Any, residual: Any, root: Any) -> Any:
        factor = (1 - alpha) * identity + alpha * residual
        return i + 1, tf.matmul(_power(factor, -1.0 / alpha), residual), tf.matmul(root, factor)

    damped = mat_g + ridge_epsilon * identity
    scale = (1 - 1 / alpha) / (2 * tf.norm(damped))
    _, _, root = tf.while_loop(
        is_far, iterate, [0, damped * scale, identity * tf.pow(scale, -alpha)]
    )
    return root


def _power(matrix: Any, exponent: float) -> Any:
    """A matrix to the power of a whole number, by squaring."""
    assert exponent == int(exponent) and exponent > 0
    remaining, result = int(exponent), None
    while remaining:
        if remaining % 2:
            result = matrix if result is None else tf.matmul(matrix, result)
        remaining //= 2
        if remaining:
            matrix = tf.matmul(matrix, matrix)
    return result
