"""What `x[…]` means for a ragged tensor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import penstock as tf
from penstock.ragged.gathering import gather
from penstock.ragged.reductions import range as ragged_range
from penstock.ragged.tensor import RaggedTensor

_ALL = slice(None, None, None)


def ragged_tensor_getitem(self: RaggedTensor, key: Any) -> Any:
    """Rows and slices of a ragged tensor.

    A row is taken by its number; within ragged dimensions there are only slices, because another
    row might not have the element.
    """
    keys = list(key) if isinstance(key, (list, tuple)) else [key]
    with tf.name_scope(None, "RaggedGetItem", [self, *_tensors_in(key)]):
        return _item(self, keys)


def _item(value: Any, keys: list[Any]) -> Any:
    if not keys:
        return value
    first, *rest = keys
    if first is Ellipsis:
        return _item(value, _without_ellipsis(keys, value.shape.ndims))
    if first is tf.newaxis:
        inner = _item(value, rest)
        splits = tf.stack([0, _row_number(inner)])
        return RaggedTensor.from_row_splits(inner, splits, validate=False)
    if isinstance(first, slice):
        return _inner(_sliced_rows(value, first), rest)
    starts, limits = value.row_splits[:-1], value.row_splits[1:]
    row = value.values[starts[first] : limits[first]]
    return row[tuple(rest)] if rest else row


def _row_number(value: RaggedTensor) -> Any:
    return tf.shape(value.row_splits, out_type=value.row_splits.dtype)[0] - 1


def _sliced_rows(value: RaggedTensor, key: slice) -> RaggedTensor:
    if key == _ALL:
        return value
    splits = value.row_splits
    starts, limits = splits[:-1][key], splits[1:][key]
    if not (key.step is None or (isinstance(key.step, int) and key.step == 1)):
        return _rows_of_ranges(starts, limits, 1, value.values)
    # Where no row is chosen there is no start to begin with: a zero takes its place.
    zero = tf.zeros([1], splits.dtype)
    bounds = tf.concat([zero[tf.size(starts) :], starts[:1], limits], axis=0)
    values = value.values[bounds[0] : bounds[-1]]
    return RaggedTensor.from_row_splits(values, bounds - bounds[0], validate=False)


def _inner(value: Any, keys: list[Any]) -> Any:
    """The keys of the dimensions below the rows."""
    if not keys:
        return value
    if isinstance(value, tf.Tensor):
        rows = (_ALL, *keys)
        return value[rows]
    first, *rest = keys
    if first is Ellipsis:
        return _inner(value, _without_ellipsis(keys, value.values.shape.ndims))
    if first is tf.newaxis:
        inner = _inner(value, rest)
        splits = tf.range(_row_number(inner) + 1)
        return RaggedTensor.from_row_splits(inner, splits, validate=False)
    if not isinstance(first, slice):
        raise ValueError("Cannot index into an inner ragged dimension.")
    if first == _ALL:
        return value.with_values(_inner(value.values, rest))
    columns = _sliced_columns(value, first)
    return columns.with_values(_inner(columns.values, rest))


def _sliced_columns(value: RaggedTensor, key: slice) -> RaggedTensor:
    row_starts, row_limits = value.row_splits[:-1], value.row_splits[1:]
    starts, limits = row_starts, row_limits
    if key.start is not None and not _is_zero(key.start):
        starts = _shifted(key.start, row_starts, row_limits)
    if key.stop is not None and not _is_zero(key.stop):
        limits = _shifted(key.stop, row_starts, row_limits)
    return _rows_of_ranges(starts, limits, key.step, value.values)


def _is_zero(offset: Any) -> bool:
    return isinstance(offset, int) and offset == 0


def _shifted(offset: Any, starts: Any, limits: Any) -> Any:
    """A place in each row, counted from its start, or from its end if it is negative."""

    def from_start() -> Any:
        return tf.minimum(starts + offset, limits)

    def from_end() -> Any:
        return tf.maximum(limits + offset, starts)

    if isinstance(offset, tf.Tensor):
        offset = tf.cast(offset, starts.dtype)
        return tf.cond(offset >= 0, from_start, from_end)
    if isinstance(offset, int):
        return from_start() if offset > 0 else from_end()
    raise TypeError("slice offsets must be integers or None")


def _rows_of_ranges(starts: Any, limits: Any, step: Any, values: Any) -> RaggedTensor:
    """Rows of the values from starts to limits."""
    step = tf.convert_to_tensor(1 if step is None else step, name="step")
    if not step.dtype.is_integer:
        raise TypeError("slice strides must be integers or None")
    step = tf.cast(step, starts.dtype)
    places = ragged_range(starts, limits, step, row_splits_dtype=starts.dtype)
    return places.with_values(gather(values, places.values))


def _without_ellipsis(keys: list[Any], remaining: int | None) -> list[Any]:
    """The keys with the ellipsis in front replaced: by one more full slice, or by nothing."""
    if remaining is None:
        raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
    count = sum(1 for key in keys if key is not tf.newaxis)
    if count > remaining + 1:
        raise IndexError("Too many indices for RaggedTensor")
    return keys[1:] if count == remaining + 1 else [_ALL, *keys]


def _tensors_in(key: Any) -> Iterator[Any]:
    if isinstance(key, tf.Tensor):
        yield key
    elif isinstance(key, (list, tuple)):
        for each in key:
            yield from _tensors_in(each)
    elif isinstance(key, slice):
        yield from _tensors_in([key.start, key.stop, key.step])
