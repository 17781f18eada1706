"""Statistics of samples: percentiles, correlations in time, moving means and variances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import penstock as tf
from penstock.distributions.static_shapes import (
    pad,
    prefer_static_rank,
    prefer_static_shape,
    rotate_transpose,
)
from penstock.ops.tensor_values import get_static_value as constant_value
from penstock.shapes import dimension_value

__all__ = [
    "assign_log_moving_mean_exp",
    "assign_moving_mean_variance",
    "auto_correlation",
    "moving_mean_variance",
    "percentile",
]

#: How the rank from the top is made a whole number.
_ROUNDED = {"lower": tf.ceil, "higher": tf.floor, "nearest": tf.round}


def percentile(
    x: Any,
    q: Any,
    axis: Any = None,
    interpolation: str | None = None,
    keep_dims: bool = False,
    validate_args: bool = False,
    name: str | None = None,
) -> Any:
    """The value that q percent of the numbers of x are below.

    Args:
      x: a tensor of numbers.
      q: a scalar from 0 to 100.
      axis: which axes hold the numbers, known while building; all if None.
      interpolation: which of two neighbours to take: "lower", "higher" or "nearest" (if None).
      keep_dims: keep the reduced axes, with size 1.
      validate_args: check q when it runs.
    """
    if interpolation is not None and interpolation not in _ROUNDED:
        raise ValueError(
            f"Argument 'interpolation' must be in {list(_ROUNDED)}.  Found {interpolation}"
        )
    with tf.name_scope(name or "percentile", values=[x, q]):
        x = tf.convert_to_tensor(x, name="x")
        q = _percentage(q, validate_args)
        axes = None if axis is None else _known_axes(x, axis)
        samples = tf.reshape(x, [-1]) if axes is None else _samples_last(x, axes)
        from_top = (tf.cast(tf.shape(samples)[-1], tf.float64) - 1.0) * (1.0 - q / 100.0)
        count = tf.shape(samples)[-1]
        rank = tf.cast(_ROUNDED[interpolation or "nearest"](from_top), tf.int32)
        rank = tf.clip_by_value(rank, 0, count - 1)
        result = tf.nn.top_k(samples, k=count).values[..., rank]
        result.set_shape(samples.shape[:-1])
        if not keep_dims:
            return result
        if axes is None:
            return result * tf.ones(tf.ones([prefer_static_rank(x)], tf.int32), x.dtype)
        for each in sorted(axes):
            result = tf.expand_dims(result, each)
        return result


def _percentage(q: Any, validate_args: bool) -> Any:
    q = tf.cast(q, tf.float64, name="q")
    if q.shape.ndims not in (None, 0):
        raise ValueError(f"Expected argument 'x' to have ndims 0.  Found tensor {q}")
    if not validate_args:
        return q
    checks = [
        tf.assert_rank(q, 0),
        tf.assert_greater_equal(q, tf.constant(0.0, tf.float64)),
        tf.assert_less_equal(q, tf.constant(100.0, tf.float64)),
    ]
    with tf.control_dependencies(checks):
        return tf.identity(q)


def _known_axes(x: Any, axis: Any) -> list[int]:
    value = constant_value(tf.convert_to_tensor(axis, name="axis"))
    if value is None:
        raise ValueError(f"Expected argument 'axis' to be statically available.  Found: {axis}")
    if x.shape.ndims is None:
        raise ValueError("Expected argument 'x' to have statically defined 'ndims'.")
    if np.ndim(value) > 1:
        raise ValueError(f"Expected argument 'axis' to have at most one axis.  Found: {axis}")
    return [int(each) % x.shape.ndims for each in np.atleast_1d(value)]


def _samples_last(x: Any, axes: list[int]) -> Any:
    """x with these axes flattened at its end."""
    outer = [each for each in range(x.shape.ndims) if each not in axes]
    known = [dimension_value(x.shape[each]) for each in outer]
    moved = tf.transpose(x, [*outer, *axes])
    flat = tf.reshape(moved, tf.concat([tf.gather(tf.shape(x), outer), [-1]], 0))
    sizes = [dimension_value(x.shape[each]) for each in axes]
    flat.set_shape([*known, None if None in sizes else int(np.prod(sizes))])
    return flat


def auto_correlation(
    x: Any,
    axis: int = -1,
    max_lags: Any = None,
    center: bool = True,
    normalize: bool = True,
    name: str = "auto_correlation",
) -> Any:
    """How much a sequence resembles itself `m` steps later, for m up to `max_lags`.

    Args:
      x: float or complex tensor.
      axis: the axis of time.
      max_lags: the largest m; the length less one if None or larger.
      center: subtract the mean first.
      normalize: divide by the variance.
    """
    with tf.name_scope(name, values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        dtype = x.dtype
        if not (dtype.is_complex or dtype.is_floating):
            raise TypeError(f"Argument x must have either float or complex dtype found: {dtype}")
        rank = prefer_static_rank(x)
        shift = rank - 1 - (rank + axis if axis < 0 else axis)
        series = rotate_transpose(x, shift)
        if center:
            series -= tf.reduce_mean(series, axis=-1, keepdims=True)
        length = prefer_static_shape(series)[-1]
        lags = length - 1 if max_lags is None else tf.minimum(length - 1, max_lags)
        sums = _shifted_products(series, length)[..., : lags + 1]
        known = constant_value(tf.convert_to_tensor(lags))
        if known is not None and series.shape.is_fully_defined():
            sums.set_shape([*series.shape.as_list()[:-1], int(known) + 1])
        real = dtype.real_dtype
        terms = tf.cast(length, real) - tf.range(0.0, tf.cast(lags, real) + 1.0, dtype=real)
        means = sums / tf.cast(terms, dtype)
        if normalize:
            means /= means[..., :1]
        return rotate_transpose(means, -shift)


def _shifted_products(series: Any, length: Any) -> Any:
    """The sums over n of `series[n] * conj(series[n - m])` for each m, by Fourier transforms."""
    exact = tf.cast(length, tf.float64)
    power = tf.pow(tf.constant(2.0, tf.float64), tf.ceil(tf.log(exact * 2) / np.log(2.0)))
    count = tf.cast(power - exact, tf.int32)
    padded = pad(series, axis=-1, back=True, count=count)
    if not series.dtype.is_complex:
        padded = tf.complex(padded, tf.zeros_like(padded))
    spectrum = tf.fft(padded)
    return tf.cast(tf.ifft(spectrum * tf.conj(spectrum)), series.dtype)


def _floating(variable: Any, name: str) -> Any:
    dtype = variable.dtype.base_dtype
    if not dtype.is_floating:
        raise TypeError(f"{name}.base_dtype({dtype.name}) does not have float type `dtype`.")
    return dtype


def assign_moving_mean_variance(
    mean_var: Any, variance_var: Any, value: Any, decay: Any, name: str | None = None
) -> tuple[Any, Any]:
    """Moves a mean and a variance towards a new value; the updated variables."""
    with (
        tf.name_scope(name, "assign_moving_mean_variance", [variance_var, mean_var, value, decay]),
        tf.colocate_with(variance_var),
        tf.colocate_with(mean_var),
    ):
        dtype = _floating(mean_var, "mean_var")
        if dtype != variance_var.dtype.base_dtype:
            raise TypeError(
                f"mean_var.base_dtype({dtype.name}) != "
                f"variance_var.base_dtype({variance_var.dtype.base_dtype.name})"
            )
        value = tf.convert_to_tensor(value, dtype=dtype, name="value")
        decay = tf.convert_to_tensor(decay, dtype=dtype, name="decay")
        delta = value - mean_var
        with tf.control_dependencies([delta]):
            mean = tf.assign_add(mean_var, (1.0 - decay) * delta)
            excess = variance_var - decay * tf.square(delta)
            return mean, tf.assign_sub(variance_var, (1.0 - decay) * excess)


def assign_log_moving_mean_exp(
    log_mean_exp_var: Any, log_value: Any, decay: Any, name: str | None = None
) -> Any:
    """Moves the logarithm of a mean towards a new value, given as its logarithm."""
    values = [log_mean_exp_var, log_value, decay]
    with (
        tf.name_scope(name, "assign_log_moving_mean_exp", values),
        tf.colocate_with(log_mean_exp_var),
    ):
        dtype = _floating(log_mean_exp_var, "log_mean_exp_var")
        log_value = tf.convert_to_tensor(log_value, dtype=dtype, name="log_value")
        decay = tf.convert_to_tensor(decay, dtype=dtype, name="decay")
        delta = (log_value - log_mean_exp_var)[tf.newaxis, ...]
        parts = [tf.log(decay) * tf.ones_like(delta), delta + tf.log1p(-decay)]
        return log_mean_exp_var.assign_add(tf.reduce_logsumexp(tf.concat(parts, 0), axis=0))


def moving_mean_variance(
    value: Any, decay: Any, collections: Sequence[str] | None = None, name: str | None = None
) -> tuple[Any, Any]:
    """Variables with the moving mean and variance of a value, updated by it when fetched."""
    if collections is None:
        collections = [tf.GraphKeys.GLOBAL_VARIABLES]
    with tf.variable_scope(name, "moving_mean_variance", [value, decay]):
        value = tf.convert_to_tensor(value, name="value")
        dtype = _floating(value, "value")
        decay = tf.convert_to_tensor(decay, dtype=dtype, name="decay")
        variance, mean = (
            tf.get_variable(
                each,
                shape=value.shape,
                dtype=dtype,
                initializer=tf.zeros_initializer(),
                trainable=False,
                collections=collections,
            )
            for each in ("moving_variance", "moving_mean")
        )
        return assign_moving_mean_variance(mean, variance, value, decay)
