"""Reductions of rows by segment: rows with the same id are summed, averaged, multiplied …"""

from __future__ import annotations

from typing import Any

from penstock import dtypes, shapes
from penstock.ir.constants import constant_value
from penstock.ir.convert import to_tensor
from penstock.ir.dispatch import dispatched
from penstock.ir.name_scope import name_scope
from penstock.ir.registry import op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import INDEX, NUMERIC, REAL
from penstock.ops import array, binary, casts, comparison, elementwise
from penstock.ops.constants import constant
from penstock.ops.shape_checks import with_rank, with_rank_at_least
from penstock.shapes import Shape as RawShape

__all__ = [
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "unsorted_segment_max",
    "unsorted_segment_mean",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "unsorted_segment_sqrt_n",
    "unsorted_segment_sum",
]

_UNSORTED: dict[str, Any] = {"Tindices": INDEX, "Tnumsegments": types(INDEX, default=dtypes.int32)}

SegmentSum = op(
    "SegmentSum(data: T, segment_ids: Tindices) -> output: T", T=NUMERIC, Tindices=INDEX
)
SegmentMean = op(
    "SegmentMean(data: T, segment_ids: Tindices) -> output: T", T=NUMERIC, Tindices=INDEX
)
SegmentProd = op(
    "SegmentProd(data: T, segment_ids: Tindices) -> output: T", T=NUMERIC, Tindices=INDEX
)
SegmentMax = op("SegmentMax(data: T, segment_ids: Tindices) -> output: T", T=REAL, Tindices=INDEX)
SegmentMin = op("SegmentMin(data: T, segment_ids: Tindices) -> output: T", T=REAL, Tindices=INDEX)
UnsortedSegmentSum = op(
    "UnsortedSegmentSum(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> output: T",
    T=NUMERIC,
    Tindices=types(dtypes.int16, dtypes.int32, dtypes.int64),
    Tnumsegments=types(INDEX, default=dtypes.int32),
)
UnsortedSegmentProd = op(
    "UnsortedSegmentProd(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> output: T",
    T=NUMERIC,
    **_UNSORTED,
)
UnsortedSegmentMax = op(
    "UnsortedSegmentMax(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> output: T",
    T=REAL,
    **_UNSORTED,
)
UnsortedSegmentMin = op(
    "UnsortedSegmentMin(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> output: T",
    T=REAL,
    **_UNSORTED,
)


@SegmentSum.shape
@SegmentMean.shape
@SegmentProd.shape
@SegmentMax.shape
@SegmentMin.shape
def _(op: Any, data: RawShape, ids: RawShape) -> RawShape:
    with_rank(ids, 1)
    data = with_rank_at_least(data, 1)
    return None if data is None else (None, *data[1:])


@UnsortedSegmentSum.shape
@UnsortedSegmentProd.shape
@UnsortedSegmentMax.shape
@UnsortedSegmentMin.shape
def _(op: Any, data: RawShape, ids: RawShape, num_segments: RawShape) -> RawShape:
    with_rank(num_segments, 0)
    known = constant_value(op.inputs[2])
    count = None if known is None else int(known)
    if count is not None and count < 0:
        raise ValueError(
            f"Dimension size, given by scalar input 2, must be non-negative but is {count}"
        )
    if data is None or ids is None:
        return None
    if len(ids) > len(data) or not shapes.compatible(ids, data[: len(ids)]):
        raise ValueError(
            f"data.shape {shapes.text(data)} must start with segment_ids.shape {shapes.text(ids)}"
        )
    return (count, *data[len(ids) :])


# Gradients ------------------------------------------------------------------------------------


@SegmentSum.gradient
def _(op: Any, grad: Any) -> Any:
    return array.gather(grad, op.inputs[1]), None


@SegmentMean.gradient
def _(op: Any, grad: Any) -> Any:
    data, ids = op.inputs
    rank: Any = array.rank(data)
    inner = [array.shape(ids), array.fill(array.expand_dims(rank - 1, 0), 1)]
    ones_shape = array.concat(inner, 0)
    ones = array.fill(ones_shape, constant(1, dtype=grad.dtype))
    return array.gather(grad / segment_sum(ones, ids), ids), None


@SegmentMax.gradient
@SegmentMin.gradient
def _(op: Any, grad: Any) -> Any:
    """The rows that are the extreme of their segment share its gradient."""
    data, ids = op.inputs
    nothing = array.zeros_like(data)
    chosen = comparison.equal(data, array.gather(op.outputs[0], ids))
    count = segment_sum(casts.cast(chosen, grad.dtype), ids)
    shared = array.gather(grad / count, ids)
    return array.where(chosen, shared, nothing), None


@SegmentProd.gradient
def _(op: Any, grad: Any) -> Any:
    """Without division by zero: a segment with one zero passes its gradient to that row alone."""
    data, ids = op.inputs
    is_zero = comparison.equal(data, 0)
    zeros = segment_sum(casts.cast(is_zero, dtypes.int32), ids)
    grad = array.where(comparison.greater(zeros, 1), array.zeros_like(grad), grad)
    others = array.where(is_zero, array.ones_like(data), data)
    product_of_others = segment_prod(others, ids)
    product = array.gather(op.outputs[0], ids)
    without_zero = array.gather(product_of_others, ids)
    slope = array.where(is_zero, without_zero, product / others)
    return array.gather(grad, ids) * slope, None


@UnsortedSegmentSum.gradient
def _(op: Any, grad: Any) -> Any:
    rows, _, _ = _gather_or_zero(grad, op.inputs[1])
    return rows, None, None


@UnsortedSegmentMax.gradient
@UnsortedSegmentMin.gradient
def _(op: Any, grad: Any) -> Any:
    data, ids, count = op.inputs
    extremes, clipped, counted = _gather_or_zero(op.outputs[0], ids)
    chosen = comparison.logical_and(comparison.equal(data, extremes), counted)
    sharing = unsorted_segment_sum(casts.cast(chosen, grad.dtype), ids, count)
    shared, _, _ = _gather_or_zero(grad / sharing, None, clipped, counted)
    return array.where(chosen, shared, array.zeros_like(shared)), None, None


@UnsortedSegmentProd.gradient
def _(op: Any, grad: Any) -> Any:
    data, ids, count = op.inputs
    is_zero = comparison.equal(data, 0)
    zeros = unsorted_segment_sum(casts.cast(is_zero, dtypes.int32), ids, count)
    grad = array.where(comparison.greater(zeros, 1), array.zeros_like(grad), grad)
    others = array.where(is_zero, array.ones_like(data), data)
    product_of_others = unsorted_segment_prod(others, ids, count)
    clipped = binary.maximum(ids, array.zeros_like(ids))
    product: Any = array.gather(op.outputs[0], clipped)
    without_zero = array.gather(product_of_others, clipped)
    slope: Any = array.where(is_zero, without_zero, product / data)
    rows, _, _ = _gather_or_zero(grad, ids, clipped)
    return rows * slope, None, None


def _gather_or_zero(
    rows: Any, ids: Any, clipped: Any = None, counted: Any = None
) -> tuple[Any, Any, Any]:
    """The row of each id, zeros for a negative id, which belongs to no segment.

    Returns also the ids without negative ones, and which rows count, to be used again.
    """
    if clipped is None:
        clipped = binary.maximum(ids, array.zeros_like(ids))
    gathered = array.gather(rows, clipped)
    if counted is None:
        counted = _with_ones(comparison.greater_equal(ids, 0), gathered)
        counted = counted & array.ones_like(gathered, dtype=dtypes.bool)
    return array.where(counted, gathered, array.zeros_like(gathered)), clipped, counted


def _with_ones(counted: Any, rows: Any) -> Any:
    """`counted` with a dimension of size 1 for each further dimension of `rows`."""
    if counted._shape is not None and rows._shape is not None:
        for _ in range(len(rows._shape) - len(counted._shape)):
            counted = array.expand_dims(counted, -1)
        return counted
    extra: Any = array.rank(rows) - array.rank(counted)
    ones = array.ones(array.expand_dims(extra, 0), dtype=dtypes.int32)
    return array.reshape(counted, array.concat([array.shape(counted), ones], axis=0))


# Public functions -----------------------------------------------------------------------------


def segment_sum(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The sums of the rows with the same id; `segment_ids` must be sorted."""
    return SegmentSum(data, segment_ids, name=name)


def segment_mean(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The means of the rows with the same id; `segment_ids` must be sorted."""
    return SegmentMean(data, segment_ids, name=name)


def segment_prod(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The products of the rows with the same id; `segment_ids` must be sorted."""
    return SegmentProd(data, segment_ids, name=name)


def segment_max(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The largest elements of the rows with the same id; `segment_ids` must be sorted."""
    return SegmentMax(data, segment_ids, name=name)


def segment_min(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The smallest elements of the rows with the same id; `segment_ids` must be sorted."""
    return SegmentMin(data, segment_ids, name=name)


@dispatched
def unsorted_segment_sum(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """The sums of the rows with the same id, in any order; rows with a negative id are left out."""
    return UnsortedSegmentSum(data, segment_ids, num_segments, name=name)


@dispatched
def unsorted_segment_prod(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """The products of the rows with the same id, 1 for an id without rows."""
    return UnsortedSegmentProd(data, segment_ids, num_segments, name=name)


@dispatched
def unsorted_segment_max(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """The largest elements of the rows with the same id, the lowest number without rows."""
    return UnsortedSegmentMax(data, segment_ids, num_segments, name=name)


@dispatched
def unsorted_segment_min(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """The smallest elements of the rows with the same id, the highest number without rows."""
    return UnsortedSegmentMin(data, segment_ids, num_segments, name=name)


@dispatched
def unsorted_segment_mean(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """The means of the rows with the same id, 0 without rows."""
    with name_scope(name, "UnsortedSegmentMean", [data, segment_ids, num_segments]):
        data, ids = to_tensor(data), to_tensor(segment_ids)
        count = _row_counts(data, ids, num_segments)
        total: Any = unsorted_segment_sum(data, ids, num_segments)
        return total / count


@dispatched
def unsorted_segment_sqrt_n(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """The sums of the rows with the same id, divided by the roots of their numbers."""
    with name_scope(name, "UnsortedSegmentSqrtN", [data, segment_ids, num_segments]):
        data, ids = to_tensor(data), to_tensor(segment_ids)
        count = _row_counts(data, ids, num_segments)
        total: Any = unsorted_segment_sum(data, ids, num_segments)
        return total / elementwise.sqrt(count)


def _row_counts(data: Tensor, ids: Tensor, num_segments: Any) -> Tensor:
    """How many rows each segment has, at least 1, in a shape that divides their sums."""
    ones = array.ones(array.shape(ids), dtype=data.dtype)
    counts = unsorted_segment_sum(ones, ids, num_segments)
    if data._shape is not None and ids._shape is not None:
        sizes: Any = [num_segments] + [1] * (len(data._shape) - len(ids._shape))
    else:
        inner: Any = array.rank(data) - array.rank(ids)
        rows = array.reshape(num_segments, [1])
        sizes = array.concat([rows, array.ones([inner], dtype=rows.dtype)], axis=0)
    return binary.maximum(array.reshape(counts, sizes), 1)
