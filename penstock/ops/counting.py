"""Counting: how often each number occurs, histograms."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_value
from penstock.ir.convert import to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.registry import attr, not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import INDEX, SINGLE_DOUBLE
from penstock.ops import array, binary, casts, clip, comparison, elementwise, reductions
from penstock.ops.constants import constant
from penstock.ops.control import with_dependencies
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape

__all__ = [
    "bincount",
    "histogram_fixed_width",
    "histogram_fixed_width_bins",
]

_WEIGHT = types(INDEX, SINGLE_DOUBLE)

Bincount = op("Bincount(arr: int32, size: int32, weights: T) -> bins: T", T=_WEIGHT)
DenseBincount = op(
    "DenseBincount(input: Tidx, size: Tidx, weights: T) -> output: T",
    Tidx=INDEX,
    T=_WEIGHT,
    binary_output=False,
)
HistogramFixedWidth = op(
    "HistogramFixedWidth(values: T, value_range: T, nbins: int32) -> out: dtype",
    T=types(INDEX, SINGLE_DOUBLE),
    dtype=types(INDEX, default=dtypes.int32),
)
Bucketize = op(
    "Bucketize(input: T) -> output: int32",
    T=types(INDEX, SINGLE_DOUBLE),
    boundaries=attr("list(float)"),
)
not_differentiable(Bincount, DenseBincount, HistogramFixedWidth, Bucketize)


@Bincount.shape
def _(op: Any, arr: Shape, size: Shape, weights: Shape) -> Shape:
    with_rank(size, 0)
    return (_number_of_bins(op.inputs[1]),)


@DenseBincount.shape
def _(op: Any, x: Shape, size: Shape, weights: Shape) -> Shape:
    with_rank(size, 0)
    bins = _number_of_bins(op.inputs[1])
    if x is None:
        return None
    if not 1 <= len(x) <= 2:
        raise ValueError(f"Shape must be at most rank 2 but is rank {len(x)}")
    return (bins,) if len(x) == 1 else (x[0], bins)


def _number_of_bins(size: Tensor) -> int | None:
    known = constant_value(size)
    if known is not None and known < 0:
        raise ValueError(f"size ({int(known)}) must be non-negative")
    return None if known is None else int(known)


@HistogramFixedWidth.shape
def _(op: Any, values: Shape, value_range: Shape, nbins: Shape) -> Shape:
    (ends,) = with_rank(value_range, 1)
    if ends not in (None, 2):
        raise ValueError(f"Dimension must be 2 but is {ends}: value_range is a pair of numbers")
    with_rank(nbins, 0)
    known = constant_value(op.inputs[2])
    if known is not None and known <= 0:
        raise ValueError(f"Requires nbins > 0: {int(known)}")
    return (None if known is None else int(known),)


@Bucketize.shape
def _(op: Any, x: Shape) -> Shape:
    return x


def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = dtypes.int32,
) -> Tensor:
    """How often each of 0, 1, 2 … occurs in `arr`, or the sum of the `weights` of its places.

    The result has at least `minlength` and at most `maxlength` entries; larger numbers are not
    counted. Without weights it is of type `dtype`.
    """
    with name_scope(None, "bincount", [arr, weights]):
        arr = to_tensor(arr, name="arr", preferred_dtype=dtypes.int32)
        if arr.dtype.base_dtype not in (dtypes.int32, dtypes.int64):
            arr = casts.cast(arr, dtypes.int32)
        not_empty = casts.cast(comparison.greater(array.size(arr), 0), arr.dtype)
        size: Any = not_empty * (reductions.reduce_max(arr) + 1)
        if minlength is not None:
            size = binary.maximum(to_tensor(minlength, arr.dtype, "minlength"), size)
        if maxlength is not None:
            size = binary.minimum(to_tensor(maxlength, arr.dtype, "maxlength"), size)
        if weights is not None:
            weights = array.reshape(to_tensor(weights, name="weights"), [-1])
        flat = array.reshape(arr, [-1])
        if weights is None:
            weights = constant([], dtype=dtypes.as_dtype_or(dtype, dtypes.float32))
        return DenseBincount(flat, size, weights)


def histogram_fixed_width(
    values: Any,
    value_range: Any,
    nbins: Any = 100,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """How many of `values` fall into each of `nbins` bins of equal width over `value_range`.

    Values below the range count for the first bin, values above it for the last.
    """
    with name_scope(name, "histogram_fixed_width", [values, value_range, nbins]) as scope:
        return HistogramFixedWidth(
            values, value_range, nbins, dtype=dtypes.as_dtype_or(dtype, dtypes.int32), name=scope
        )


def histogram_fixed_width_bins(
    values: Any,
    value_range: Any,
    nbins: Any = 100,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """The bin of `histogram_fixed_width` that each value falls into."""
    from penstock.ops.debugging import Assert

    with name_scope(name, "histogram_fixed_width_bins", [values, value_range, nbins]):
        values = to_tensor(values, name="values")
        shape = array.shape(values)
        flat: Any = array.reshape(values, [-1])
        ends: Any = to_tensor(value_range, name="value_range")
        count = to_tensor(nbins, dtype=dtypes.int32, name="nbins")
        valid = Assert(count > 0, [f"nbins {count} must be > 0"])
        bins: Any = casts.cast(with_dependencies([valid], count), flat.dtype)
        scaled = binary.truediv(flat - ends[0], ends[1] - ends[0], name="scaled_values")
        indices = elementwise.floor(bins * scaled, name="indices")
        clipped = clip.clip_by_value(indices, 0, bins - 1)
        return array.reshape(casts.cast(clipped, dtype), shape)
