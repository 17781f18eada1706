"""Reductions of slices along an axis: each slice has a start and an end."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_value
from penstock.ir.registry import not_differentiable, op
from penstock.ops.shape_checks import with_rank_at_most, with_size
from penstock.shapes import Shape

__all__ = ["reduce_slice_max", "reduce_slice_min", "reduce_slice_prod", "reduce_slice_sum"]

_NUMBERS = (
    *(dtypes.float32, dtypes.float64, dtypes.int32, dtypes.uint8, dtypes.int16, dtypes.int8),
    *(dtypes.int64, dtypes.bfloat16, dtypes.uint16, dtypes.float16, dtypes.uint32, dtypes.uint64),
)
_COMPLEX = (dtypes.complex64, dtypes.complex128)
_INDICES = (dtypes.int32, dtypes.int64)
_SIGNATURE = "(data: T, indices: Tindices, axis: int64) -> output: T"

ReduceSliceSum = op(f"ReduceSliceSum{_SIGNATURE}", T=(*_NUMBERS, *_COMPLEX), Tindices=_INDICES)
ReduceSliceProd = op(f"ReduceSliceProd{_SIGNATURE}", T=(*_NUMBERS, *_COMPLEX), Tindices=_INDICES)
ReduceSliceMax = op(f"ReduceSliceMax{_SIGNATURE}", T=_NUMBERS, Tindices=_INDICES)
ReduceSliceMin = op(f"ReduceSliceMin{_SIGNATURE}", T=_NUMBERS, Tindices=_INDICES)

for _name in ("ReduceSliceSum", "ReduceSliceProd", "ReduceSliceMax", "ReduceSliceMin"):
    not_differentiable(_name)


@ReduceSliceSum.shape
@ReduceSliceProd.shape
@ReduceSliceMax.shape
@ReduceSliceMin.shape
def _(op: Any, data: Shape, indices: Shape, axis: Shape) -> Shape:
    indices = with_rank_at_most(indices, 2)
    if indices is not None and len(indices) == 2:
        with_size(indices[1], 2)
    if data is None:
        return None
    place = constant_value(op.inputs[2])
    if place is None:
        return (None,) * len(data)
    if not 0 <= place < len(data):
        raise ValueError(
            f"Out of range dim_index {int(place)} for shape with {len(data)} dimensions"
        )
    count = None
    if indices is not None and indices[0] is not None:
        count = indices[0] if len(indices) == 2 else max(indices[0] - 1, 0)
    return (*data[: int(place)], count, *data[int(place) + 1 :])


def reduce_slice_sum(data: Any, indices: Any, axis: Any, name: str | None = None) -> Any:
    """The sums of slices along an axis.

    Args:
      indices: pairs of start and end, or a vector of ends, each of which is the next one's start.
    """
    return ReduceSliceSum(data, indices, axis, name=name)


def reduce_slice_prod(data: Any, indices: Any, axis: Any, name: str | None = None) -> Any:
    """The products of slices along an axis."""
    return ReduceSliceProd(data, indices, axis, name=name)


def reduce_slice_max(data: Any, indices: Any, axis: Any, name: str | None = None) -> Any:
    """The largest elements of slices along an axis; the least number there is for an empty one."""
    return ReduceSliceMax(data, indices, axis, name=name)


def reduce_slice_min(data: Any, indices: Any, axis: Any, name: str | None = None) -> Any:
    """The least elements of slices along an axis; the largest number there is for an empty one."""
    return ReduceSliceMin(data, indices, axis, name=name)
