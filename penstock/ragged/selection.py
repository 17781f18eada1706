"""Elements chosen by a condition, and dimensions of size 1 left out."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.ops.masking import where as dense_where
from penstock.ragged.concatenation import concat
from penstock.ragged.conversion import (
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
    match_row_splits_dtypes,
)
from penstock.ragged.flat_values import map_flat_values
from penstock.ragged.gathering import gather
from penstock.ragged.partition_checks import row_count
from penstock.ragged.row_ranges import get_positive_axis
from penstock.ragged.tensor import RaggedTensor


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """`tf.where` for ragged tensors: elements or rows of `x` or `y`, or where truth is."""
    if (x is None) != (y is None):
        raise ValueError("x and y must be either both None or both non-None")
    with tf.name_scope(name, "RaggedWhere", [condition, x, y]):
        condition = convert_to_tensor_or_ragged_tensor(condition, name="condition")
        if x is None:
            return _coordinates(condition)
        x = convert_to_tensor_or_ragged_tensor(x, name="x")
        y = convert_to_tensor_or_ragged_tensor(y, name="y")
        return _chosen(*match_row_splits_dtypes(condition, x, y))


def _chosen(condition: Any, x: Any, y: Any) -> Any:
    ragged = [is_ragged(each) for each in (condition, x, y)]
    if not any(ragged):
        return dense_where(condition, x, y)
    if all(ragged):
        return map_flat_values(dense_where, condition, x, y)
    if ragged[0]:
        raise ValueError("Input shapes do not match.")
    condition.shape.assert_has_rank(1)
    both = concat([x, y], axis=0)
    in_x, in_y = (row_count(each, both.row_splits.dtype) for each in (x, y))
    rows = dense_where(condition, tf.range(in_x), in_x + tf.range(in_y))
    return gather(both, rows)


def _coordinates(condition: Any) -> Any:
    """The indices of true elements, one row for each."""
    if not isinstance(condition, RaggedTensor):
        return dense_where(condition)
    inner = _coordinates(condition.values)
    condition = condition.with_row_splits_dtype(inner.dtype)
    places = inner[:, 0]
    rows = tf.gather(condition.value_rowids(), places)
    columns = places - tf.gather(condition.row_splits, rows)
    heads = [tf.expand_dims(each, 1) for each in (rows, columns)]
    return tf.concat([*heads, inner[:, 1:]], axis=1)


def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """`tf.squeeze` for a ragged tensor, along axes that must be given."""
    with tf.name_scope(name, "RaggedSqueeze", [input]):
        value = convert_to_tensor_or_ragged_tensor(input)
        if isinstance(value, tf.Tensor):
            return tf.squeeze(value, axis, name)
        if axis is None:
            raise ValueError("Ragged.squeeze must have an axis argument.")
        axes = [axis] if isinstance(axis, int) else axis
        if not isinstance(axes, (list, tuple)) or not all(isinstance(d, int) for d in axes):
            raise TypeError("Axis must be a list or tuple of integers.")
        axes = [get_positive_axis(each, value.shape.ndims) for each in axes]
        return _squeezed(value, set(axes), name)


def _squeezed(value: RaggedTensor, axes: set[int], name: str | None) -> Any:
    depth = value.ragged_rank
    with tf.control_dependencies(_squeeze_checks(value, axes)):
        result = tf.identity(value.flat_values)
    inner = sorted(axis - depth for axis in axes if axis > depth)
    if inner:
        result = tf.squeeze(result, inner)
    kept = [s for level, s in enumerate(value.nested_row_splits, 1) if level not in axes]
    if kept and 0 in axes:
        kept = kept[1:]
    result = RaggedTensor.from_nested_row_splits(result, kept)
    if set(range(depth + 1)) <= axes:
        result = tf.squeeze(result, [0], name)
    return result


def _squeeze_checks(value: RaggedTensor, axes: set[int]) -> list[Any]:
    checks = []
    for level, lengths in enumerate(value.nested_row_lengths(), 1):
        if level in axes:
            ones = tf.reduce_all(tf.equal(lengths, 1))
            text = f"the given axis (axis = {level}) is not squeezable!"
            checks.append(tf.Assert(ones, [text]))
    if 0 in axes:
        one_row = tf.equal(tf.size(value.row_splits), 2)
        checks.append(tf.Assert(one_row, ["the given axis (axis = 0) is not squeezable!"]))
    return checks
