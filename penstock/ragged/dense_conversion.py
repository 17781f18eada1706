"""Ragged tensors of dense ones, and back."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.ops.ragged import RaggedTensorToTensor
from penstock.ragged.row_ranges import convert_to_int_tensor, lengths_to_splits


def from_tensor(
    cls: Any,
    tensor: Any,
    lengths: Any,
    padding: Any,
    ragged_rank: int,
    name: str | None,
    row_splits_dtype: Any,
) -> Any:
    """`RaggedTensor.from_tensor`."""
    if lengths is not None and padding is not None:
        raise ValueError("Specify lengths or padding, but not both")
    if not isinstance(ragged_rank, int):
        raise TypeError(f"ragged_rank expected int, got {ragged_rank!r}")
    if ragged_rank <= 0:
        raise ValueError(f"ragged_rank must be greater than 0; got {ragged_rank}")
    with tf.name_scope(name, "RaggedFromTensor", [tensor, lengths, padding]):
        tensor = tf.convert_to_tensor(tensor, name="tensor")
        tensor.shape.with_rank_at_least(ragged_rank + 1)
        sizes = tf.shape(tensor, out_type=row_splits_dtype)
        if ragged_rank > 1:
            rows = tf.concat([tf.constant([-1], row_splits_dtype), sizes[ragged_rank:]], axis=0)
            inner = cls.from_tensor(
                tf.reshape(tensor, rows), lengths, padding, row_splits_dtype=row_splits_dtype
            )
            return cls.from_nested_row_splits(
                inner, _uniform_splits(sizes, ragged_rank), validate=False
            )
        if padding is not None:
            lengths = _lengths_before_padding(tensor, padding, sizes[1])
        if _is_nested(lengths):
            return _with_nested_lengths(cls, tensor, lengths)
        if lengths is not None:
            return _with_lengths(cls, tensor, lengths, sizes[1])
        splits = tf.range(sizes[0] + 1) * sizes[1]
        values = tf.reshape(tensor, tf.concat([[sizes[0] * sizes[1]], sizes[2:]], axis=0))
        return cls.from_row_splits(values, splits, validate=False)


def _uniform_splits(sizes: Any, ragged_rank: int) -> list[Any]:
    """Row splits of the outer dimensions of a dense tensor."""
    counts = tf.cumprod(sizes)
    return [tf.range(0, counts[d - 1] + 1) * sizes[d] for d in range(1, ragged_rank)]


def _lengths_before_padding(tensor: Any, padding: Any, columns: Any) -> Any:
    """How long each row is without the padding at its end."""
    padding = tf.convert_to_tensor(padding, name="padding", dtype=tensor.dtype)
    padding.shape.assert_is_compatible_with(tensor.shape[2:])
    equal = tf.equal(padding, tensor)
    rank = tf.rank(tensor)
    is_padding = tf.cond(
        rank > 2, lambda: tf.reduce_all(equal, axis=tf.range(2, rank)), lambda: equal
    )
    is_padding.set_shape([None, None])
    is_padding.set_shape(tensor.shape[:2])
    used = tf.cast(tf.logical_not(is_padding), columns.dtype)
    return tf.reduce_max(used * tf.expand_dims(tf.range(1, columns + 1), 0), axis=1)


def _is_nested(lengths: Any) -> bool:
    """Whether lengths are given for several dimensions."""
    return (
        isinstance(lengths, (list, tuple))
        and len(lengths) > 0
        and not isinstance(lengths[0], (int, float))
    )


def _with_nested_lengths(cls: Any, tensor: Any, lengths: Any) -> Any:
    tensor.shape.with_rank_at_least(len(lengths) + 1)
    ones = tf.ones([tf.reduce_sum(lengths[-1])], dtype=tf.bool)
    used = cls.from_nested_row_lengths(ones, lengths, validate=False).to_tensor(False)
    kept = tf.boolean_mask(tensor, used)
    return cls.from_nested_row_lengths(kept, lengths, validate=False)


def _with_lengths(cls: Any, tensor: Any, lengths: Any, columns: Any) -> Any:
    lengths = convert_to_int_tensor(lengths, "lengths", columns.dtype)
    lengths.shape.assert_has_rank(1)
    lengths = tf.maximum(tf.minimum(lengths, columns), 0)
    values = tf.boolean_mask(tensor, tf.sequence_mask(lengths, maxlen=columns))
    return cls.from_row_splits(values, lengths_to_splits(lengths), validate=False)


def to_tensor(ragged: Any, default_value: Any, name: str | None) -> Any:
    """`RaggedTensor.to_tensor`: gathers from the values and one default row behind them."""
    with tf.name_scope(name, "RaggedToTensor", [ragged, default_value]):
        if default_value is not None:
            default_value = tf.convert_to_tensor(
                default_value, name="default_value", dtype=ragged.dtype
            )
        values = ragged.values
        if not isinstance(values, tf.Tensor):
            values = values.to_tensor(default_value)
        splits = ragged.row_splits
        sizes = tf.shape(values, out_type=splits.dtype)
        default_row = _default_row(values, default_value, sizes[1:])
        columns = tf.maximum(tf.reduce_max(splits[1:] - splits[:-1]), 0)
        rows = tf.shape(splits, out_type=splits.dtype)[0] - 1
        places = tf.expand_dims(splits[:-1], 1) + tf.expand_dims(tf.range(0, columns), 0)
        behind = tf.fill(tf.stack([rows, columns]), sizes[0])
        places = tf.where(places < tf.expand_dims(splits[1:], 1), places, behind)
        return tf.gather(tf.concat([values, tf.stack([default_row])], axis=0), places)


def _default_row(values: Any, default_value: Any, inner_sizes: Any) -> Any:
    if default_value is None:
        default_value = tf.zeros(inner_sizes, dtype=values.dtype)
    else:
        rank, own = values.shape.ndims, default_value.shape.ndims
        if rank is not None:
            default_value.shape.with_rank_at_most(rank - 1)
        if rank is None or own is None or rank != own + 1:
            default_value = tf.broadcast_to(default_value, inner_sizes)
    default_value.shape.assert_is_compatible_with(values.shape[1:])
    default_value.set_shape(values.shape[1:])
    return default_value


def ragged_to_dense(rt_input: Any, default_value: Any = None, shape: Any = None) -> Any:
    """A dense tensor of a given shape, by one op; rows are cut or filled up."""
    kinds_and_tensors = _partitions(rt_input)
    tensors = [tensor for _, tensor in kinds_and_tensors]
    values = rt_input.flat_values
    if default_value is None:
        default_value = tf.zeros((), values.dtype)
    return RaggedTensorToTensor(
        _shape_tensor(shape, tensors[0].dtype),
        values,
        default_value,
        tensors,
        row_partition_types=[kind for kind, _ in kinds_and_tensors],
    )


def _partitions(ragged: Any) -> list[tuple[str, Any]]:
    """The row partitions in the form that each is known in."""
    found: list[tuple[str, Any]] = []
    for level in ragged._levels():
        if level._cached_value_rowids is None:
            found.append(("ROW_SPLITS", level.row_splits))
            continue
        if not found:
            found.append(("FIRST_DIM_SIZE", level.nrows()))
        found.append(("VALUE_ROWIDS", level.value_rowids()))
    return found


def _shape_tensor(shape: Any, dtype: Any) -> Any:
    if isinstance(shape, tf.Tensor):
        return shape if shape.dtype in (tf.int32, tf.int64) else tf.cast(shape, dtype)
    shape = tf.TensorShape(shape)
    if not shape:
        return tf.constant(-1, dtype=dtype)
    return tf.constant([-1 if size is None else size for size in shape.as_list()], dtype=dtype)
