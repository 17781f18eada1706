"""Reductions by segment of rows that are gathered first: sums of embeddings."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.composite import IndexedSlices
from penstock.ir.constants import constant_value
from penstock.ir.registry import op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import FLOATING, INDEX, REAL
from penstock.ops import array
from penstock.ops.segments import unsorted_segment_sum
from penstock.ops.shape_checks import merge_shapes, with_rank, with_rank_at_least
from penstock.shapes import Shape

__all__ = ["sparse_segment_mean", "sparse_segment_sqrt_n", "sparse_segment_sum"]

_INDEX = types(INDEX, default=dtypes.int32)
_IDS: dict[str, Any] = {"Tidx": _INDEX, "Tsegmentids": _INDEX}
_ATTRS: dict[str, Any] = {**_IDS, "sparse_gradient": False}
_COUNTED: dict[str, Any] = {
    "Tidx": _INDEX,
    "Tnumsegments": _INDEX,
    "Tsegmentids": _INDEX,
    "sparse_gradient": False,
}

SparseSegmentSum = op(
    "SparseSegmentSum(data: T, indices: Tidx, segment_ids: Tsegmentids) -> output: T",
    T=REAL,
    **_ATTRS,
)
SparseSegmentMean = op(
    "SparseSegmentMean(data: T, indices: Tidx, segment_ids: Tsegmentids) -> output: T",
    T=FLOATING,
    **_ATTRS,
)
SparseSegmentSqrtN = op(
    "SparseSegmentSqrtN(data: T, indices: Tidx, segment_ids: Tsegmentids) -> output: T",
    T=FLOATING,
    **_ATTRS,
)
SparseSegmentSumWithNumSegments = op(
    "SparseSegmentSumWithNumSegments(data: T, indices: Tidx, segment_ids: Tsegmentids, "
    "num_segments: Tnumsegments) -> output: T",
    T=REAL,
    **_COUNTED,
)
SparseSegmentMeanWithNumSegments = op(
    "SparseSegmentMeanWithNumSegments(data: T, indices: Tidx, segment_ids: Tsegmentids, "
    "num_segments: Tnumsegments) -> output: T",
    T=FLOATING,
    **_COUNTED,
)
SparseSegmentSqrtNWithNumSegments = op(
    "SparseSegmentSqrtNWithNumSegments(data: T, indices: Tidx, segment_ids: Tsegmentids, "
    "num_segments: Tnumsegments) -> output: T",
    T=FLOATING,
    **_COUNTED,
)
SparseSegmentSumGrad = op(
    "SparseSegmentSumGrad(grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32) "
    "-> output: T",
    T=FLOATING,
    **_IDS,
)
SparseSegmentMeanGrad = op(
    "SparseSegmentMeanGrad(grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32) "
    "-> output: T",
    T=FLOATING,
    **_IDS,
)
SparseSegmentSqrtNGrad = op(
    "SparseSegmentSqrtNGrad(grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32) "
    "-> output: T",
    T=FLOATING,
    **_IDS,
)
SparseSegmentSumGradV2 = op(
    "SparseSegmentSumGradV2(grad: T, indices: Tidx, segment_ids: Tsegmentids, "
    "dense_output_dim0: int32) -> output: T, sorted_unique_indices: Tidx",
    T=FLOATING,
    **_IDS,
)
SparseSegmentMeanGradV2 = op(
    "SparseSegmentMeanGradV2(grad: T, indices: Tidx, segment_ids: Tsegmentids, "
    "dense_output_dim0: int32) -> output: T, sorted_unique_indices: Tidx",
    T=FLOATING,
    **_IDS,
)
SparseSegmentSqrtNGradV2 = op(
    "SparseSegmentSqrtNGradV2(grad: T, indices: Tidx, segment_ids: Tsegmentids, "
    "dense_output_dim0: int32) -> output: T, sorted_unique_indices: Tidx",
    T=FLOATING,
    **_IDS,
)


@SparseSegmentSum.shape
@SparseSegmentMean.shape
@SparseSegmentSqrtN.shape
def _(op: Any, data: Shape, indices: Shape, ids: Shape) -> Shape:
    return _rows(data, indices, ids, None)


@SparseSegmentSumWithNumSegments.shape
@SparseSegmentMeanWithNumSegments.shape
@SparseSegmentSqrtNWithNumSegments.shape
def _(op: Any, data: Shape, indices: Shape, ids: Shape, num_segments: Shape) -> Shape:
    with_rank(num_segments, 0)
    return _rows(data, indices, ids, _number(op.inputs[3], "num_segments"))


@SparseSegmentSumGrad.shape
@SparseSegmentMeanGrad.shape
@SparseSegmentSqrtNGrad.shape
def _(op: Any, grad: Shape, indices: Shape, ids: Shape, output_dim0: Shape) -> Shape:
    with_rank(output_dim0, 0)
    return _rows(grad, indices, ids, _number(op.inputs[3], "output_dim0"))


@SparseSegmentSumGradV2.shape
@SparseSegmentMeanGradV2.shape
@SparseSegmentSqrtNGradV2.shape
def _(op: Any, grad: Shape, indices: Shape, ids: Shape, output_dim0: Shape) -> list[Shape]:
    with_rank(output_dim0, 0)
    _number(op.inputs[3], "dense_output_dim0")
    return [_rows(grad, indices, ids, None), (None,)]


def _rows(data: Shape, indices: Shape, ids: Shape, count: int | None) -> Shape:
    merge_shapes(with_rank(indices, 1), with_rank(ids, 1))
    data = with_rank_at_least(data, 1)
    return None if data is None else (count, *data[1:])


def _number(tensor: Tensor, what: str) -> int | None:
    known = constant_value(tensor)
    if known is not None and known < 0:
        raise ValueError(f"Cannot specify a negative value for {what}, got {int(known)}")
    return None if known is None else int(known)


@SparseSegmentSum.gradient
@SparseSegmentSumWithNumSegments.gradient
def _(op: Any, grad: Any) -> Any:
    if op.attrs["sparse_gradient"]:
        return _data_gradient(SparseSegmentSumGrad, SparseSegmentSumGradV2, op, grad)
    data, indices, ids, *others = op.inputs
    sizes: Any = array.shape(data)
    rows = sizes[0]
    summed = unsorted_segment_sum(array.gather(grad, ids), indices, rows)
    return [summed, None, None, *(None for _ in others)]


@SparseSegmentMean.gradient
@SparseSegmentMeanWithNumSegments.gradient
def _(op: Any, grad: Any) -> Any:
    return _data_gradient(SparseSegmentMeanGrad, SparseSegmentMeanGradV2, op, grad)


@SparseSegmentSqrtN.gradient
@SparseSegmentSqrtNWithNumSegments.gradient
def _(op: Any, grad: Any) -> Any:
    return _data_gradient(SparseSegmentSqrtNGrad, SparseSegmentSqrtNGradV2, op, grad)


def _data_gradient(dense: Any, sparse: Any, op: Any, grad: Any) -> list[Any]:
    """The gradient by the data, of which a node may want only the rows that were gathered."""
    data, indices, ids = op.inputs[:3]
    rows: Any = array.shape(data)
    if op.attrs["sparse_gradient"]:
        values, unique = sparse(grad, indices, ids, rows[0])
        by_data: Any = IndexedSlices(values, unique, rows)
    else:
        by_data = dense(grad, indices, ids, rows[0])
    return [by_data, *[None] * (len(op.inputs) - 1)]


def sparse_segment_sum(
    data: Any,
    indices: Any,
    segment_ids: Any,
    name: str | None = None,
    num_segments: Any = None,
) -> Tensor:
    """The sums of the rows `data[indices]` with the same id; `segment_ids` must be sorted.

    `num_segments` gives the number of results, which are 0 for ids that don't occur.
    """
    if num_segments is None:
        return SparseSegmentSum(data, indices, segment_ids, name=name)
    return SparseSegmentSumWithNumSegments(data, indices, segment_ids, num_segments, name=name)


def sparse_segment_mean(
    data: Any,
    indices: Any,
    segment_ids: Any,
    name: str | None = None,
    num_segments: Any = None,
) -> Tensor:
    """The means of the rows `data[indices]` with the same id; see `sparse_segment_sum`."""
    if num_segments is None:
        return SparseSegmentMean(data, indices, segment_ids, name=name)
    return SparseSegmentMeanWithNumSegments(data, indices, segment_ids, num_segments, name=name)


def sparse_segment_sqrt_n(
    data: Any,
    indices: Any,
    segment_ids: Any,
    name: str | None = None,
    num_segments: Any = None,
) -> Tensor:
    """The sums of the rows `data[indices]` with the same id, by the roots of their numbers."""
    if num_segments is None:
        return SparseSegmentSqrtN(data, indices, segment_ids, name=name)
    return SparseSegmentSqrtNWithNumSegments(data, indices, segment_ids, num_segments, name=name)
