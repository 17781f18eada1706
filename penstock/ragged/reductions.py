"""Sums, products and the like over axes and segments of ragged tensors, and ragged ranges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import penstock as tf
from penstock.ir.constants import constant_value
from penstock.ops import reductions as dense
from penstock.ops import segments
from penstock.ops.ragged import RaggedRange
from penstock.ragged.conversion import (
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
    match_row_splits_dtypes,
)
from penstock.ragged.flat_values import map_flat_values
from penstock.ragged.row_ranges import get_positive_axis, lengths_to_splits
from penstock.ragged.segment_ids import row_splits_to_segment_ids
from penstock.ragged.tensor import RaggedTensor

_RANGE_TYPES = (tf.int32, tf.int64, tf.float32, tf.float64)

Reduction = Callable[..., Any]


def range(
    starts: Any,
    limits: Any = None,
    deltas: Any = 1,
    dtype: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = tf.int64,
) -> RaggedTensor:
    """Rows of numbers: row i goes from `starts[i]` up to `limits[i]` in steps of `deltas[i]`.

    >>> tf.ragged.range([0, 5, 8], [3, 3, 12])  # [[0, 1, 2], [], [8, 9, 10, 11]]
    """
    if limits is None:
        starts, limits = 0, starts
    with tf.name_scope(name, "RaggedRange", [starts, limits, deltas]) as scope:
        starts = tf.convert_to_tensor(starts, dtype=dtype, name="starts")
        limits = tf.convert_to_tensor(limits, dtype=dtype, name="limits")
        deltas = tf.convert_to_tensor(deltas, dtype=dtype, name="deltas")
        given = [starts, limits, deltas]
        if dtype is None:
            assert all(each.dtype in _RANGE_TYPES for each in given)
            widest = max((each.dtype for each in given), key=_RANGE_TYPES.index)
            given = [tf.cast(each, widest) for each in given]
        splits, values = RaggedRange(*given, Tsplits=tf.as_dtype(row_splits_dtype), name=scope)
        return RaggedTensor.from_row_splits(values, splits, validate=False)


# Segments -------------------------------------------------------------------------------------


def _segment_aggregate(
    function: Reduction, data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """`function` of dense tensors, done to rows of ragged data position by position."""
    if not (is_ragged(data) or is_ragged(segment_ids)):
        return function(data, segment_ids, num_segments, name=name)
    with tf.name_scope(name, "RaggedSegment", [data, segment_ids, num_segments]):
        data = convert_to_tensor_or_ragged_tensor(data, name="data")
        segment_ids = convert_to_tensor_or_ragged_tensor(segment_ids, name="segment_ids")
        data, segment_ids = match_row_splits_dtypes(data, segment_ids)
        if segment_ids.dtype not in (tf.int32, tf.int64):
            raise ValueError("segment_ids must have dtype int32 or int64.")
        if is_ragged(segment_ids):
            return _of_inner_segments(function, data, segment_ids, num_segments)
        lengths = data.row_splits[1:] - data.row_splits[:-1]
        longest = segments.unsorted_segment_max(lengths, segment_ids, num_segments)
        splits = lengths_to_splits(tf.maximum(longest, 0))
        first = tf.gather(splits, segment_ids)
        places = range(first, first + lengths).values
        values = _segment_aggregate(function, data.values, places, splits[-1])
        return RaggedTensor.from_row_splits(values, splits, validate=False)


def _of_inner_segments(function: Reduction, data: Any, segment_ids: Any, num_segments: Any) -> Any:
    if not is_ragged(data):
        raise ValueError(
            "segment_ids.shape must be a prefix of data.shape, but segment_ids is ragged and data "
            "is not."
        )
    check = tf.assert_equal(
        segment_ids.row_splits,
        data.row_splits,
        message="segment_ids.shape must be a prefix of data.shape",
    )
    with tf.control_dependencies([check]):
        return _segment_aggregate(function, data.values, segment_ids.values, num_segments)


def segment_sum(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The sum of the rows of each segment."""
    return _segment_aggregate(
        segments.unsorted_segment_sum, data, segment_ids, num_segments, name or "RaggedSegmentSum"
    )


def segment_prod(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The product of the rows of each segment."""
    return _segment_aggregate(
        segments.unsorted_segment_prod, data, segment_ids, num_segments, name or "RaggedSegmentProd"
    )


def segment_min(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The minimum of the rows of each segment."""
    return _segment_aggregate(
        segments.unsorted_segment_min, data, segment_ids, num_segments, name or "RaggedSegmentMin"
    )


def segment_max(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The maximum of the rows of each segment."""
    return _segment_aggregate(
        segments.unsorted_segment_max, data, segment_ids, num_segments, name or "RaggedSegmentMax"
    )


def segment_mean(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The mean of the rows of each segment."""
    with tf.name_scope(name, "RaggedSegmentMean", [data, segment_ids, num_segments]):
        total, count = _total_and_count(data, segment_ids, num_segments)
        return map_flat_values(tf.truediv, total, count)


def segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The sum of the rows of each segment, over the square root of their number."""
    with tf.name_scope(name, "RaggedSegmentSqrtN", [data, segment_ids, num_segments]):
        total, count = _total_and_count(data, segment_ids, num_segments)
        return map_flat_values(tf.truediv, total, map_flat_values(tf.sqrt, count))


def _total_and_count(data: Any, segment_ids: Any, num_segments: Any) -> tuple[Any, Any]:
    total = segment_sum(data, segment_ids, num_segments)
    count = segment_sum(map_flat_values(tf.ones_like, data), segment_ids, num_segments)
    if is_ragged(total):  # the same rows: they need no check
        count = total.with_flat_values(count.flat_values)
    return total, count


# Axes -----------------------------------------------------------------------------------------


def ragged_reduce_aggregate(
    reduce_op: Reduction,
    unsorted_segment_op: Reduction,
    rt_input: Any,
    axis: Any,
    keepdims: Any,
    name: str | None = None,
) -> Any:
    """Reduces a tensor with `reduce_op`, ragged dimensions with `unsorted_segment_op`."""
    if not is_ragged(rt_input):
        return reduce_op(rt_input, axis, name=name)
    if keepdims:
        raise ValueError("keepdims=True is not supported for RaggedTensors.")
    axis = _static_axis(axis)
    if axis is None:
        return reduce_op(rt_input.flat_values, None, name=name)
    with tf.name_scope(name, "RaggedReduce", [rt_input, axis]):
        if isinstance(axis, (tuple, list)) and not axis:
            return rt_input
        if isinstance(axis, (tuple, list)):
            axes = list(axis)
            if len(axes) > 1:
                axes = sorted(get_positive_axis(each, rt_input.shape.ndims) for each in axes)
            for each in reversed(axes):
                rt_input = _along(reduce_op, unsorted_segment_op, rt_input, each)
            return rt_input
        return _along(reduce_op, unsorted_segment_op, rt_input, axis)


def _static_axis(axis: Any) -> Any:
    if isinstance(axis, tf.Tensor):
        axis = constant_value(axis)
        if axis is None:
            raise ValueError("axis must be known at graph construction time.")
    return axis.tolist() if isinstance(axis, (np.ndarray, np.generic)) else axis


def _along(reduce_op: Reduction, segment_op: Reduction, value: Any, axis: int) -> Any:
    """The reduction along one axis."""
    if not is_ragged(value):
        return reduce_op(value, axis)
    ragged = convert_to_tensor_or_ragged_tensor(value, name="rt_input")
    axis = get_positive_axis(axis, ragged.shape.ndims)
    if axis > 1:
        return ragged.with_values(_along(reduce_op, segment_op, ragged.values, axis - 1))
    splits = ragged.row_splits
    if axis == 1:
        rows = tf.shape(splits)[0] - 1
        ids = row_splits_to_segment_ids(splits)
        return _segment_aggregate(segment_op, ragged.values, ids, rows)
    lengths = splits[1:] - splits[:-1]
    columns = tf.maximum(tf.reduce_max(lengths), 0)
    return _segment_aggregate(segment_op, ragged.values, range(lengths).values, columns)


def reduce_sum(
    input_tensor: Any, axis: Any = None, keepdims: bool | None = None, name: str | None = None
) -> Any:
    """`tf.reduce_sum` for a ragged tensor; an empty row has the sum 0."""
    return ragged_reduce_aggregate(
        dense.reduce_sum,
        segments.unsorted_segment_sum,
        input_tensor,
        axis,
        keepdims,
        name or "RaggedReduceSum",
    )


def reduce_prod(
    input_tensor: Any, axis: Any = None, keepdims: bool | None = None, name: str | None = None
) -> Any:
    """`tf.reduce_prod` for a ragged tensor; an empty row has the product 1."""
    return ragged_reduce_aggregate(
        dense.reduce_prod,
        segments.unsorted_segment_prod,
        input_tensor,
        axis,
        keepdims,
        name or "RaggedReduceProd",
    )


def reduce_min(
    input_tensor: Any, axis: Any = None, keepdims: bool | None = None, name: str | None = None
) -> Any:
    """`tf.reduce_min` for a ragged tensor; an empty row has the largest number of the type."""
    return ragged_reduce_aggregate(
        dense.reduce_min,
        segments.unsorted_segment_min,
        input_tensor,
        axis,
        keepdims,
        name or "RaggedReduceMin",
    )


def reduce_max(
    input_tensor: Any, axis: Any = None, keepdims: bool | None = None, name: str | None = None
) -> Any:
    """`tf.reduce_max` for a ragged tensor; an empty row has the smallest number of the type."""
    return ragged_reduce_aggregate(
        dense.reduce_max,
        segments.unsorted_segment_max,
        input_tensor,
        axis,
        keepdims,
        name or "RaggedReduceMax",
    )


def reduce_mean(
    input_tensor: Any, axis: Any = None, keepdims: bool | None = None, name: str | None = None
) -> Any:
    """`tf.reduce_mean` for a ragged tensor; an empty row has the mean NaN."""
    with tf.name_scope(name, "RaggedReduceMean", [input_tensor, axis]):
        total = reduce_sum(input_tensor, axis, keepdims)
        count = reduce_sum(map_flat_values(tf.ones_like, input_tensor), axis, keepdims)
        if is_ragged(total):
            return total.with_flat_values(total.flat_values / count.flat_values)
        return total / count


def reduce_all(
    input_tensor: Any, axis: Any = None, keepdims: bool | None = None, name: str | None = None
) -> Any:
    """`tf.reduce_all` for a ragged tensor; an empty row gives True."""
    with tf.name_scope(name, "RaggedReduceAll", [input_tensor, axis]):
        numbers = map_flat_values(tf.cast, input_tensor, tf.int32)
        return map_flat_values(tf.cast, reduce_prod(numbers, axis, keepdims), tf.bool)


def reduce_any(
    input_tensor: Any, axis: Any = None, keepdims: bool | None = None, name: str | None = None
) -> Any:
    """`tf.reduce_any` for a ragged tensor; an empty row gives False."""
    with tf.name_scope(name, "RaggedReduceAny", [input_tensor, axis]):
        numbers = map_flat_values(tf.cast, input_tensor, tf.int32)
        return map_flat_values(tf.cast, reduce_sum(numbers, axis, keepdims), tf.bool)
