"""Cumulative distribution functions of the normal and the Laplace distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import penstock as tf

__all__ = ["erfinv", "log_cdf_laplace", "log_ndtr", "ndtr", "ndtri"]

# Below the first number an asymptotic series is used, above the second log(1 - p) = -p.
LOGNDTR_FLOAT32_LOWER, LOGNDTR_FLOAT32_UPPER = np.float32(-10.0), np.float32(5.0)
LOGNDTR_FLOAT64_LOWER, LOGNDTR_FLOAT64_UPPER = np.float64(-20.0), np.float64(8.0)
_SEGMENTS = {
    tf.float32: (float(LOGNDTR_FLOAT32_LOWER), float(LOGNDTR_FLOAT32_UPPER)),
    tf.float64: (float(LOGNDTR_FLOAT64_LOWER), float(LOGNDTR_FLOAT64_UPPER)),
}


def _checked(x: Any, name: str) -> Any:
    x = tf.convert_to_tensor(x, name=name)
    if x.dtype.base_dtype not in _SEGMENTS:
        raise TypeError(f"{name}.dtype={x.dtype} is not handled: it must be float32 or float64.")
    return x


def ndtr(x: Any, name: str = "ndtr") -> Any:
    """The probability that a standard normal number is at most x."""
    with tf.name_scope(name, values=[x]):
        return _ndtr(_checked(x, "x"))


def _ndtr(x: Any) -> Any:
    """By erf near zero, and by erfc in the tails, where erf is too near to one."""
    half_sqrt_2 = tf.constant(0.5 * math.sqrt(2.0), dtype=x.dtype, name="half_sqrt_2")
    w = x * half_sqrt_2
    z = tf.abs(w)
    tail = tf.where_v2(w > 0.0, 2.0 - tf.erfc(z), tf.erfc(z))
    return 0.5 * tf.where_v2(z < half_sqrt_2, 1.0 + tf.erf(w), tail)


def ndtri(p: Any, name: str = "ndtri") -> Any:
    """The inverse of `ndtr`."""
    with tf.name_scope(name, values=[p]):
        p = _checked(p, "p")
        # At the ends the slope is infinite: gradients see a number between them instead.
        inside = tf.logical_and(p > 0.0, p < 1.0)
        x = tf.math.ndtri(tf.where_v2(inside, p, tf.constant(0.5, p.dtype)))
        infinity = tf.constant(np.inf, p.dtype)
        return tf.where_v2(inside, x, tf.where_v2(p <= 0.0, -infinity, infinity))


def log_ndtr(x: Any, series_order: int = 3, name: str = "log_ndtr") -> Any:
    """The logarithm of `ndtr`, exact for very negative numbers too.

    Args:
      series_order: How many terms of the asymptotic series are used, up to 30.
    """
    if not isinstance(series_order, int):
        raise TypeError("series_order must be a Python integer.")
    if series_order < 0:
        raise ValueError("series_order must be non-negative.")
    if series_order > 30:
        raise ValueError("series_order must be <= 30.")
    with tf.name_scope(name, values=[x]):
        x = _checked(x, "x")
        lower, upper = (x.dtype.as_numpy_dtype(bound) for bound in _SEGMENTS[x.dtype.base_dtype])
        # Each part sees only numbers for which it is defined, so that gradients are finite.
        middle = tf.log(_ndtr(tf.maximum(x, lower)))
        low = _log_ndtr_lower(tf.minimum(x, lower), series_order)
        return tf.where_v2(x > upper, -_ndtr(-x), tf.where_v2(x > lower, middle, low))


def _log_ndtr_lower(x: Any, series_order: int) -> Any:
    squared = tf.square(x)
    log_scale = -0.5 * squared - tf.log(-x) - 0.5 * math.log(2.0 * math.pi)
    return log_scale + tf.log(_asymptotic_series(x, squared, series_order))


def _asymptotic_series(x: Any, squared: Any, order: int) -> Any:
    """`1 - 1/x² + 3/x⁴ - 15/x⁶ …`."""
    total, power = tf.ones_like(x), squared
    for n in range(1, order + 1):
        odd_product = float(np.prod(np.arange(2 * n - 1, 1, -2, dtype=np.float64)))
        total += (-1) ** n * odd_product / power
        power *= squared
    return total


def log_cdf_laplace(x: Any, name: str = "log_cdf_laplace") -> Any:
    """The logarithm of the probability that a standard Laplace number is at most x."""
    with tf.name_scope(name, values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        upper = tf.log1p(-0.5 * tf.exp(-tf.abs(x)))
        return tf.where_v2(x < 0.0, x - math.log(2.0), upper)


def erfinv(x: Any, name: str = "erfinv") -> Any:
    """The inverse of the error function."""
    with tf.name_scope(name, values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        if x.dtype.as_numpy_dtype not in (np.float32, np.float64):
            raise TypeError(f"x.dtype={x.dtype} is not handled, see docstring for supported types.")
        return ndtri((x + 1.0) / 2.0) / np.sqrt(2)
