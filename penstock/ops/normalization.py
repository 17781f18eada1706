"""Moments, and normalization by them: functions built from other ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes, shapes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops.binary import add, div_no_nan, maximum, multiply, squared_difference, subtract
from penstock.ops.casts import cast, imag, real
from penstock.ops.casts import complex as complex_of
from penstock.ops.comparison import not_equal
from penstock.ops.conditionals import cond
from penstock.ops.constants import constant
from penstock.ops.elementwise import reciprocal, rsqrt, square
from penstock.ops.filling import zeros, zeros_like
from penstock.ops.gather import gather
from penstock.ops.identity import identity, stop_gradient
from penstock.ops.reductions import reduce_mean, reduce_prod, reduce_sum
from penstock.ops.shaping import rank, renamed_argument, shape, size, squeeze

__all__ = [
    "batch_norm_with_global_normalization",
    "batch_normalization",
    "l2_normalize",
    "moments",
    "normalize_moments",
    "sufficient_statistics",
    "weighted_moments",
    "zero_fraction",
]


def _axis_list(axes: Any) -> list[int]:
    """Axes as a list of numbers."""
    return [int(axis) for axis in np.atleast_1d(axes)]


def l2_normalize(
    x: Any,
    axis: Any = None,
    epsilon: float = 1e-12,
    name: str | None = None,
    dim: Any = None,
) -> Tensor:
    """x scaled to length one along `axis`; lengths below sqrt(epsilon) count as that."""
    axis = renamed_argument("axis", axis, "dim", dim)
    with name_scope(name, "l2_normalize", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_complex:
            squares: Any = square(real(x)) + square(imag(x))
            total = reduce_sum(squares, axis, keepdims=True)
            inverse = rsqrt(maximum(total, epsilon))
            return complex_of(multiply(real(x), inverse), multiply(imag(x), inverse), name=scope)
        total = reduce_sum(square(x), axis, keepdims=True)
        return multiply(x, rsqrt(maximum(total, epsilon)), name=scope)


def moments(
    x: Any,
    axes: Any,
    shift: Any = None,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """The mean and the variance of `x` over `axes`.

    Args:
      shift: Ignored; the variance is computed around the mean.
    """
    keep = bool(renamed_argument("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "moments", [x, axes]):
        x = convert_to_tensor(x, name="x")
        narrow = x.dtype.base_dtype is dtypes.float16
        y = cast(x, dtypes.float32) if narrow else x
        mean = reduce_mean(y, axes, keepdims=True, name="mean")
        # The gradient through this mean is zero, as deviations from a mean sum to zero.
        deviations = squared_difference(y, stop_gradient(mean))
        variance = reduce_mean(deviations, axes, keepdims=True, name="variance")
        if not keep:
            mean, variance = squeeze(mean, axes), squeeze(variance, axes)
        if narrow:
            return cast(mean, dtypes.float16), cast(variance, dtypes.float16)
        return mean, variance


def weighted_moments(
    x: Any,
    axes: Any,
    frequency_weights: Any,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """The mean and the variance of `x` over `axes`, entries weighted by `frequency_weights`.

    Args:
      frequency_weights: Non-negative, of a shape that broadcasts to that of `x`.
    """
    keep = bool(renamed_argument("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "weighted_moments", [x, frequency_weights, axes]):
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(frequency_weights, name="frequency_weights")
        narrow = x.dtype.base_dtype is dtypes.float16
        if narrow:
            x = cast(x, dtypes.float32)
        if weights.dtype.base_dtype is not x.dtype.base_dtype:
            weights = cast(weights, x.dtype.base_dtype)
        total = reduce_sum(weights * x, axes, name="weighted_input_sum", keepdims=True)
        # The weights, broadcast to all entries that they count for.
        broadcast = weights + zeros_like(x)
        count = reduce_sum(broadcast, axes, name="sum_of_weights", keepdims=True)
        mean = div_no_nan(total, count)
        deviations = weights * squared_difference(x, mean)
        spread = reduce_sum(deviations, axes, name="weighted_distsq", keepdims=True)
        variance = div_no_nan(spread, count)
        if not keep:
            flat = _axis_list(axes) if not isinstance(axes, Tensor) else axes
            mean, variance = squeeze(mean, flat), squeeze(variance, flat)
        if narrow:
            return cast(mean, dtypes.float16), cast(variance, dtypes.float16)
        return mean, variance


def sufficient_statistics(
    x: Any,
    axes: Any,
    shift: Any = None,
    keep_dims: bool | None = None,
    name: str | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """The count, sum and sum of squares of `x` over `axes`, of entries less `shift`; and the shift.

    `normalize_moments` makes the mean and the variance of them.
    """
    keep = bool(renamed_argument("keepdims", keepdims, "keep_dims", keep_dims))
    axes = list(set(axes))
    with name_scope(name, "sufficient_statistics", [x, shift]):
        x = convert_to_tensor(x, name="x")
        counts = _count(x, axes)
        if shift is not None:
            shift = convert_to_tensor(shift, name="shift")
            entries, squares = subtract(x, shift), squared_difference(x, shift)
        else:
            entries, squares = x, square(x)
        sums = reduce_sum(entries, axes, keepdims=keep, name="mean_ss")
        square_sums = reduce_sum(squares, axes, keepdims=keep, name="var_ss")
        return counts, sums, square_sums, shift


def _count(x: Tensor, axes: list[int]) -> Tensor:
    """How many entries are reduced to one; a constant where the shape tells."""
    static = x._shape
    known = shapes.num_elements(None if static is None else tuple(static[axis] for axis in axes))
    if known is not None:
        return constant(known, dtype=x.dtype.base_dtype)
    dimensions = rank(x)
    positive = [axis + dimensions if axis < 0 else axis for axis in axes]
    sizes = gather(cast(shape(x), x.dtype.base_dtype), positive)
    return reduce_prod(sizes, name="count")


def normalize_moments(
    counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The mean and the variance, from what `sufficient_statistics` returns."""
    with name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        divisor = reciprocal(counts, name="divisor")
        if shift is not None:
            shifted = multiply(mean_ss, divisor, name="shifted_mean")
            mean = add(shifted, shift, name="mean")
        else:
            shifted = mean = multiply(mean_ss, divisor, name="mean")
        variance = subtract(multiply(variance_ss, divisor), square(shifted), name="variance")
        return mean, variance


def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    offset: Any,
    scale: Any,
    variance_epsilon: Any,
    name: str | None = None,
) -> Tensor:
    """scale * (x - mean) / sqrt(variance + variance_epsilon) + offset.

    Args:
      offset, scale: Tensors, or None for 0 and 1.
    """
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        factor = rsqrt(variance + variance_epsilon)
        if scale is not None:
            factor *= scale
        dtype = dtypes.as_dtype(x.dtype).base_dtype  # x may be an array
        scaled = x * cast(factor, dtype)
        shift = offset - mean * factor if offset is not None else -mean * factor
        return scaled + cast(shift, dtype)


def batch_norm_with_global_normalization(
    t: Any = None,
    m: Any = None,
    v: Any = None,
    beta: Any = None,
    gamma: Any = None,
    variance_epsilon: Any = None,
    scale_after_normalization: Any = None,
    name: str | None = None,
    input: Any = None,
    mean: Any = None,
    variance: Any = None,
) -> Tensor:
    """`batch_normalization` under the names of its first version; gamma counts only if asked."""
    t = renamed_argument("input", input, "t", t)
    m = renamed_argument("mean", mean, "m", m)
    v = renamed_argument("variance", variance, "v", v)
    scale = gamma if scale_after_normalization else None
    return batch_normalization(t, m, v, beta, scale, variance_epsilon, name)


def zero_fraction(value: Any, name: str | None = None) -> Tensor:
    """The fraction of entries that are zero."""
    with name_scope(name, "zero_fraction", [value]):
        value = convert_to_tensor(value, name="value")
        total = size(value, out_type=dtypes.int64)
        # Counting in 32 bits is faster; a larger tensor needs 64.
        nonzero = cond(
            total <= dtypes.int32.max,
            true_fn=lambda: cast(_count_nonzero(value, dtypes.int32), dtypes.int64),
            false_fn=lambda: _count_nonzero(value, dtypes.int64),
        )
        with name_scope("counts_to_fraction"):
            zeros = total - nonzero
            fraction = cast(zeros, dtypes.float32) / cast(total, dtypes.float32)
        return identity(fraction, "fraction")


def _count_nonzero(value: Tensor, dtype: dtypes.DType) -> Tensor:
    with name_scope("count_nonzero"):
        zero = zeros([], dtype=value.dtype.base_dtype)
        return reduce_sum(cast(not_equal(value, zero), dtype), name="nonzero_count")
