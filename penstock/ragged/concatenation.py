"""Ragged tensors put together: concat and stack."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.ops.joining import concat as dense_concat
from penstock.ops.joining import stack as dense_stack
from penstock.ragged.arrays import expand_dims
from penstock.ragged.conversion import (
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
    match_row_splits_dtypes,
)
from penstock.ragged.gathering import gather
from penstock.ragged.row_ranges import assert_splits_match, get_positive_axis, lengths_to_splits
from penstock.ragged.tensor import RaggedTensor


def concat(values: Any, axis: int, name: str | None = None) -> Any:
    """`tf.concat` for ragged tensors of one rank."""
    return _named(values, axis, name, stacks=False)


def stack(values: Any, axis: int = 0, name: str | None = None) -> Any:
    """Tensors and ragged tensors of one rank as the entries of a new dimension.

    >>> tf.ragged.stack([tf.ragged.constant([[1, 2], [3]]), [[4]]])  # [[[1, 2], [3]], [[4]]]
    """
    return _named(values, axis, name, stacks=True)


def _named(values: Any, axis: int, name: str | None, *, stacks: bool) -> Any:
    if not isinstance(values, (list, tuple)):
        values = [values]
    with tf.name_scope(name, "RaggedConcat", list(values)):
        return _joined(list(values), axis, stacks)


def _joined(inputs: list[Any], axis: int, stacks: bool) -> Any:
    if not inputs:
        raise ValueError("rt_inputs may not be empty.")
    inputs = [convert_to_tensor_or_ragged_tensor(each, name="rt_input") for each in inputs]
    splits_type, matched = match_row_splits_dtypes(*inputs, return_dtype=True)
    inputs = list(matched)
    if len(inputs) == 1:
        return expand_dims(inputs[0], axis=axis) if stacks else inputs[0]
    rank = _common_rank(inputs)
    result_rank = rank + 1 if rank is not None and stacks else rank
    axis = get_positive_axis(axis, result_rank)
    is_dense = not any(is_ragged(each) for each in inputs)
    if is_dense and rank is not None and axis in (rank - 1, (result_rank or 0) - 1):
        return (dense_stack if stacks else dense_concat)(inputs, axis)
    ragged_rank = max([each.ragged_rank for each in inputs if is_ragged(each)], default=1)
    inputs = [_with_ragged_rank(each, ragged_rank, splits_type) for each in inputs]
    if axis == 0:
        return _along_rows(inputs, stacks)
    if axis == 1:
        return _within_rows(inputs, stacks)
    splits = [[each.row_splits] for each in inputs]
    with tf.control_dependencies(assert_splits_match(splits)):
        inner = _joined([each.values for each in inputs], axis - 1, stacks)
        return RaggedTensor.from_row_splits(inner, splits[0][0], validate=False)


def _common_rank(inputs: list[Any]) -> int | None:
    rank: int | None = None
    for each in inputs:
        if rank is None:
            rank = each.shape.ndims
        else:
            each.shape.assert_has_rank(rank)
    return rank


def _with_ragged_rank(value: Any, ragged_rank: int, splits_type: Any) -> Any:
    """A tensor with so many ragged dimensions, of which the inner ones may be uniform."""
    if ragged_rank == 0:
        return value
    if not is_ragged(value):
        value = RaggedTensor.from_tensor(value, row_splits_dtype=splits_type)
    if value.ragged_rank < ragged_rank:
        inner = _with_ragged_rank(value.values, ragged_rank - 1, splits_type)
        value = value.with_values(inner)
    return value


def _along_rows(inputs: list[Any], stacks: bool) -> Any:
    """The rows of one tensor after those of the other."""
    values = tf.concat([each.flat_values for each in inputs], axis=0)
    per_level = zip(*(each.nested_row_splits for each in inputs), strict=True)
    nested_splits = [_continued(splits) for splits in per_level]
    if stacks:
        counts = tf.stack([each.nrows() for each in inputs])
        nested_splits.insert(0, lengths_to_splits(counts))
    return RaggedTensor.from_nested_row_splits(values, nested_splits, validate=False)


def _continued(splits: tuple[Any, ...]) -> Any:
    """Row splits of rows that follow one another."""
    first, *others = splits
    pieces, end = [first], first[-1]
    for each in others:
        pieces.append(each[1:] + end)
        end += each[-1]
    return tf.concat(pieces, axis=0)


def _within_rows(inputs: list[Any], stacks: bool) -> Any:
    """Row i of the result consists of the rows i of all inputs."""
    count, rows = len(inputs), inputs[0].nrows()
    text = "Input tensors have incompatible shapes."
    checks = [tf.assert_equal(each.nrows(), rows, message=text) for each in inputs[1:]]
    with tf.control_dependencies(checks):
        all_rows = _along_rows(inputs, stacks=False)
        order = tf.transpose(tf.reshape(tf.range(rows * count), [count, -1]))
        ordered = gather(all_rows, tf.reshape(order, [-1]))
        if stacks:
            splits = tf.range(0, rows * count + 1, count)
            values = ordered
        else:
            splits = ordered.row_splits[::count]
            values = ordered.values
        for each in inputs:
            known = each.shape.as_list()[0]
            if known is not None:
                splits.set_shape([known + 1])
        return RaggedTensor.from_row_splits(values, splits, validate=False)
