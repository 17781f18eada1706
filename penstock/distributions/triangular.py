"""Matrices from vectors and back, and sums in logarithms: what densities are computed with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import penstock as tf
from penstock.distributions.static_shapes import dimension_size
from penstock.shapes import dimension_value


def assert_symmetric(matrix: Any) -> Any:
    """The matrix, after a check that it equals its transpose."""
    with tf.control_dependencies([tf.assert_equal(matrix, tf.matrix_transpose(matrix))]):
        return tf.identity(matrix)


def matrix_diag_transform(
    matrix: Any, transform: Callable[[Any], Any] | None = None, name: str | None = None
) -> Any:
    """A matrix with a function applied to its diagonal."""
    with tf.name_scope(name, "matrix_diag_transform", [matrix]):
        matrix = tf.convert_to_tensor(matrix, name="matrix")
        if transform is None:
            return matrix
        return tf.matrix_set_diag(matrix, transform(tf.matrix_diag_part(matrix)))


def fill_triangular(x: Any, upper: bool = False, name: str | None = None) -> Any:
    """Triangular matrices with the entries of vectors, in a clockwise spiral."""
    with tf.name_scope(name, "fill_triangular", values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        length = dimension_value(x.shape.with_rank_at_least(1)[-1])
        n: Any
        if length is not None:
            n = int(np.sqrt(0.25 + 2.0 * length) - 0.5)
            if n * (n + 1) // 2 != length:
                raise ValueError(
                    f"Input right-most shape ({length}) does not correspond to a triangular matrix."
                )
            known = x.shape[:-1].concatenate([n, n])
        else:
            doubled = tf.cast(2 * tf.shape(x)[-1], tf.float32)
            n = tf.cast(tf.sqrt(0.25 + doubled), tf.int32)
            known = x.shape[:-1].concatenate([None, None])
        if upper:
            parts = [x, _reversed(x[..., n:])]
        else:
            parts = [x[..., n:], _reversed(x)]
        sizes = tf.concat([tf.shape(x)[:-1], [n, n]], 0)
        square = tf.reshape(tf.concat(parts, axis=-1), sizes)
        result = tf.matrix_band_part(square, 0 if upper else -1, -1 if upper else 0)
        result.set_shape(known)
        return result


def fill_triangular_inverse(x: Any, upper: bool = False, name: str | None = None) -> Any:
    """The vectors that `fill_triangular` makes these matrices of."""
    with tf.name_scope(name, "fill_triangular_inverse", values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        x.shape.with_rank_at_least(2)
        n = dimension_size(x, -1)
        length = n * (n + 1) // 2
        known = [length if isinstance(length, int) else None]
        if upper:
            first, rest = x[..., 0, :], x[..., 1:, :]
        else:
            first, rest = _reversed(x[..., -1, :]), x[..., :-1, :]
        folded = rest + tf.reverse(rest, [-2, -1])
        tail = tf.reshape(folded, tf.concat([tf.shape(x)[:-2], [n * (n - 1)]], 0))
        result = tf.concat([first, tail[..., : length - n]], axis=-1)
        result.set_shape(x.shape[:-2].concatenate(known))
        return result


def _reversed(x: Any) -> Any:
    return tf.reverse(x, [-1])


def tridiag(below: Any = None, diag: Any = None, above: Any = None, name: str | None = None) -> Any:
    """Matrices with the given diagonals, and zero elsewhere."""

    def framed(x: Any) -> Any:
        zero = tf.zeros(tf.concat([tf.shape(x)[:-1], [1]], 0), x.dtype)
        return tf.matrix_diag(tf.concat([zero, x, zero], -1))

    with tf.name_scope(name, "tridiag", [below, diag, above]):
        parts = []
        if below is not None:
            parts.append(framed(tf.convert_to_tensor(below, name="below"))[..., :-1, 1:])
        if diag is not None:
            parts.append(tf.matrix_diag(tf.convert_to_tensor(diag, name="diag")))
        if above is not None:
            parts.append(framed(tf.convert_to_tensor(above, name="above"))[..., 1:, :-1])
        if not parts:
            raise ValueError("Must specify at least one of `below`, `diag`, `above`.")
        return tf.add_n(parts)


def reduce_weighted_logsumexp(
    logx: Any,
    w: Any = None,
    axis: Any = None,
    keep_dims: bool = False,
    return_sign: bool = False,
    name: str | None = None,
) -> Any:
    """The logarithm of |Σ w exp(logx)|, and its sign if asked for."""
    with tf.name_scope(name, "reduce_weighted_logsumexp", [logx, w]):
        logx = tf.convert_to_tensor(logx, name="logx")
        if w is None:
            plain = tf.reduce_logsumexp(logx, axis=axis, keepdims=keep_dims)
            return (plain, tf.ones_like(plain)) if return_sign else plain
        w = tf.convert_to_tensor(w, dtype=logx.dtype, name="w")
        logs = logx + tf.log(tf.abs(w))
        largest = tf.reduce_max(logs, axis=axis, keepdims=True)
        largest = tf.where(tf.is_inf(largest), tf.zeros_like(largest), largest)
        terms = tf.sign(w) * tf.exp(logs - largest)
        total = tf.reduce_sum(terms, axis=axis, keepdims=keep_dims)
        if not keep_dims:
            largest = tf.squeeze(largest, axis)
        sign = tf.sign(total)
        result = largest + tf.log(sign * total)
        return (result, sign) if return_sign else result


def softplus_inverse(x: Any, name: str | None = None) -> Any:
    """What `tf.nn.softplus` gives x for, exact for small and large x, too."""
    with tf.name_scope(name, "softplus_inverse", values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        threshold = np.log(np.finfo(x.dtype.as_numpy_dtype).eps) + 2.0
        small = tf.less(x, np.exp(threshold).astype(x.dtype.as_numpy_dtype))
        large = tf.greater(x, np.array(-threshold, x.dtype.as_numpy_dtype))
        # The branch that is not taken must not give NaN, which gradients would pass on.
        safe = tf.where(tf.logical_or(small, large), tf.ones_like(x), x)
        middle = safe + tf.log(-tf.expm1(-safe))
        return tf.where(small, tf.log(x), tf.where(large, x, middle))
