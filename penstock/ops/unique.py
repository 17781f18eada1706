"""The different elements of a vector, and those that another vector has not."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_value
from penstock.ir.operation import Operation
from penstock.ir.registry import op, types
from penstock.ir.type_sets import INDEX
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape

__all__ = ["listdiff", "setdiff1d", "unique", "unique_with_counts"]

Unique = op("Unique(x: T) -> y: T, idx: out_idx", out_idx=types(INDEX, default=dtypes.int32))
UniqueV2 = op(
    "UniqueV2(x: T, axis: Taxis) -> y: T, idx: out_idx",
    Taxis=types(INDEX, default=dtypes.int64),
    out_idx=types(INDEX, default=dtypes.int32),
)
UniqueWithCounts = op(
    "UniqueWithCounts(x: T) -> y: T, idx: out_idx, count: out_idx",
    out_idx=types(INDEX, default=dtypes.int32),
)
UniqueWithCountsV2 = op(
    "UniqueWithCountsV2(x: T, axis: Taxis) -> y: T, idx: out_idx, count: out_idx",
    Taxis=types(INDEX, default=dtypes.int64),
    out_idx=types(INDEX, default=dtypes.int32),
)
ListDiff = op(
    "ListDiff(x: T, y: T) -> out: T, idx: out_idx", out_idx=types(INDEX, default=dtypes.int32)
)


@Unique.shape
def _(op: Operation, x: Shape) -> list[Shape]:
    return [(None,), with_rank(x, 1)]


@UniqueWithCounts.shape
def _(op: Operation, x: Shape) -> list[Shape]:
    return [(None,), with_rank(x, 1), (None,)]


@UniqueV2.shape
def _(op: Operation, x: Shape, axis: Shape) -> list[Shape]:
    return _along_axis(op, x, axis)


@UniqueWithCountsV2.shape
def _(op: Operation, x: Shape, axis: Shape) -> list[Shape]:
    return [*_along_axis(op, x, axis), (None,)]


def _along_axis(op: Operation, x: Shape, axis: Shape) -> list[Shape]:
    with_rank(axis, 1)
    given = constant_value(op.inputs[1])
    if given is None or x is None:
        return [None if x is None else (None,) * len(x), (None,)]
    if given.size > 1:
        raise ValueError("axis does not support input tensors larger than 1 elements.")
    if not given.size:
        return [(None,), with_rank(x, 1)]
    at = int(given[0])
    if not -len(x) <= at < len(x):
        raise ValueError(f"axis expects to be in the range [{-len(x)}, {len(x)}), but got {at}")
    at %= len(x)
    return [(*x[:at], None, *x[at + 1 :]), (x[at],)]


@ListDiff.shape
def _(op: Operation, x: Shape, y: Shape) -> list[Shape]:
    with_rank(x, 1)
    with_rank(y, 1)
    return [(None,), (None,)]


def unique(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Any:
    """The different elements of a vector in order of first appearance, as `(y, idx)`: for each
    element of `x`, `idx` holds its position in `y`.
    """
    return Unique(x, out_idx=dtypes.as_dtype_or(out_idx, dtypes.int32), name=name)


def unique_with_counts(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Any:
    """`unique` as `(y, idx, count)`: how often each element of `y` appears in `x`, too."""
    return UniqueWithCounts(x, out_idx=dtypes.as_dtype_or(out_idx, dtypes.int32), name=name)


def setdiff1d(x: Any, y: Any, index_dtype: Any = dtypes.int32, name: str | None = None) -> Any:
    """The elements of `x` that `y` has not, as `(out, idx)` with their positions in `x`."""
    return ListDiff(x, y, out_idx=dtypes.as_dtype_or(index_dtype, dtypes.int32), name=name)


def listdiff(x: Any, y: Any, out_idx: Any = None, name: str | None = None) -> Any:
    """`setdiff1d` under its older name."""
    return setdiff1d(x, y, dtypes.int32 if out_idx is None else out_idx, name)
