"""Positions in sorted values, and flat indices as coordinates."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.operation import Operation
from penstock.ir.registry import not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape

__all__ = ["searchsorted", "unravel_index"]

_BOUND = {"out_type": types(dtypes.int32, dtypes.int64, default=dtypes.int32)}
LowerBound = op("LowerBound(sorted_inputs: T, values: T) -> output: out_type", **_BOUND)
UpperBound = op("UpperBound(sorted_inputs: T, values: T) -> output: out_type", **_BOUND)
UnravelIndex = op(
    "UnravelIndex(indices: Tidx, dims: Tidx) -> output: Tidx",
    Tidx=types(dtypes.int32, dtypes.int64, default=dtypes.int32),
)
not_differentiable(LowerBound, UpperBound)
not_differentiable(UnravelIndex)


@LowerBound.shape
@UpperBound.shape
def _(op: Operation, sorted_inputs: Shape, values: Shape) -> Shape:
    with_rank(sorted_inputs, 2)
    return with_rank(values, 2)


@UnravelIndex.shape
def _(op: Operation, indices: Shape, dims: Shape) -> Shape:
    with_rank(dims, 1)
    if indices is None or len(indices) > 1:
        return None  # refused when it runs, as TensorFlow does it
    return (dims[0] if dims else None, *indices)


def searchsorted(
    sorted_sequence: Any,
    values: Any,
    side: str = "left",
    out_type: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Where values would be inserted into sorted sequences, row by row of the last axis.

    `side` tells the place among equal values: "left" before them, "right" after them.
    """
    from penstock.ops.shaping import reshape
    from penstock.ops.shaping import shape as shape_of

    sequence_size = shape_of(sorted_sequence)[-1]
    values_size = shape_of(values)[-1]
    sequences = reshape(sorted_sequence, [-1, sequence_size])
    rows = reshape(values, [-1, values_size])
    bounds = {"left": LowerBound, "right": UpperBound}
    if side not in bounds:
        raise ValueError(f"side must be either 'right' or 'left'.  Saw: {side}.")
    wanted = dtypes.as_dtype_or(out_type, dtypes.int32)
    found = bounds[side](sequences, rows, out_type=wanted, name=name)
    return reshape(found, shape_of(values))


def unravel_index(indices: Any, dims: Any, name: str | None = None) -> Tensor:
    """Flat indices into an array of shape `dims` as coordinates, one row per dimension."""
    return UnravelIndex(indices, dims, name=name)
