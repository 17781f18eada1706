"""How sequences come into the form that can be cut into segments: filled up, and not sparse.

A sparse tensor waits in a store while its segments go through the barrier as handles. Names with
an underscore are TensorFlow's, for those who import them.
"""

from __future__ import annotations

import numbers
from typing import Any

import penstock as tf
from penstock.ops.sparse_serialization import (
    add_many_sparse_to_tensors_map,
    take_many_sparse_from_tensors_map,
)

_IN_SEQUENCES = "_context_in_seq_"  # before the names of sparse tensors of the context
_SPARSE = (tf.SparseTensor, tf.SparseTensorValue)


def checked_sequences(sequences: dict[str, Any], num_unroll: int) -> dict[str, Any]:
    """The sequences, whose lengths must be multiples of `num_unroll`."""
    found: dict[str, Any] = {}
    for key, value in sequences.items():
        if isinstance(value, _SPARSE):
            value = tf.SparseTensor.from_value(value)
            kind, length = "SparseTensor", value.dense_shape[0]
        else:
            try:
                value = tf.convert_to_tensor(value)
            except TypeError:
                raise TypeError(
                    "Unsupported input_sequences expected Tensor or SparseTensor values, got: "
                    f"{type(value)} for key {key}"
                ) from None
            kind, length = "Tensor", tf.shape(value)[0]
        fits = tf.logical_and(tf.equal(length % num_unroll, 0), tf.not_equal(length, 0))
        message = tf.string_join(
            [
                f"{kind} {key} first dimension should be a multiple of: ",
                tf.as_string(num_unroll),
                ", but saw value: ",
                tf.as_string(length),
                ". Consider setting pad=True.",
            ]
        )
        with tf.control_dependencies([tf.Assert(fits, [message])]):
            found[key] = _identity(value)
    return found


def _identity(value: Any) -> Any:
    if not isinstance(value, tf.SparseTensor):
        return tf.identity(value, name="multiple_of_checked")
    parts = (value.indices, value.values, value.dense_shape)
    return tf.SparseTensor(*[tf.identity(part, name="multiple_of_checked") for part in parts])


def _padding(sequences: Any, num_unroll: Any) -> tuple[Any, dict[str, Any]]:
    """The length of the sequences, and these filled up to a multiple of `num_unroll`."""
    if not isinstance(num_unroll, numbers.Integral):
        raise ValueError(f"Unsupported num_unroll expected int, got: {num_unroll}")
    if not isinstance(sequences, dict):
        raise TypeError(f"Unsupported sequences expected dict, got: {sequences}")
    for key in sequences:
        if not isinstance(key, str):
            raise TypeError(f"Unsupported sequences key expected string, got: {key}")
    if not sequences:
        return 0, {}
    values = {
        key: tf.SparseTensor.from_value(sequences[key])
        if isinstance(sequences[key], _SPARSE)
        else tf.convert_to_tensor(sequences[key])
        for key in sorted(sequences)
    }
    length = _length(values)
    unroll = tf.constant(num_unroll)
    padded = length + ((unroll - (length % unroll)) % unroll)
    return length, {key: _padded(value, padded) for key, value in values.items()}


def _length(values: dict[str, Any]) -> Any:
    """The one length that all dense sequences must have; else that of the longest sparse one."""
    lengths = [tf.shape(each)[0] for each in values.values() if isinstance(each, tf.Tensor)]
    if not lengths:
        sparse = [each.dense_shape[0] for each in values.values()]
        return tf.reduce_max(tf.cast(tf.stack(sparse), tf.int32))
    told = tf.string_join(
        [
            "All sequence lengths must match, but received lengths: ",
            tf.reduce_join(tf.as_string(tf.stack(lengths)), 0, separator=" "),
        ]
    )
    with tf.control_dependencies([tf.Assert(tf.equal(n, lengths[0]), [told]) for n in lengths]):
        return tf.identity(lengths[0])


def _padded(value: Any, length: Any) -> Any:
    if isinstance(value, tf.SparseTensor):
        shape = tf.concat([[tf.cast(length, tf.int64)], value.dense_shape[1:]], 0)
        return tf.SparseTensor(value.indices, value.values, shape)
    missing = tf.concat([[length - tf.shape(value)[0]], tf.shape(value)[1:]], 0)
    nothing = tf.constant("" if value.dtype == tf.string else 0, dtype=value.dtype)
    return tf.concat([value, tf.fill(missing, nothing)], 0)


def _move_sparse_tensor_out_context(
    input_context: dict[str, Any], input_sequences: dict[str, Any], num_unroll: Any
) -> None:
    """Makes sparse tensors of the context sequences that have them at the start of each segment."""
    length: Any = tf.constant(1)
    if input_sequences:
        first = next(iter(input_sequences.values()))
        is_dense = isinstance(first, tf.Tensor)
        length = tf.shape(first)[0] if is_dense else first.dense_shape[0]
    length = tf.cast(length, tf.int64)
    for key in _sparse_keys(input_context):
        copied = _at_each_start(input_context.pop(key), length, num_unroll)
        input_sequences[_IN_SEQUENCES + key] = copied


def _at_each_start(value: Any, length: Any, num_unroll: Any) -> Any:
    """The tensor at the times 0, num_unroll, 2 num_unroll … of a sequence."""
    value = tf.SparseTensor.from_value(value)
    starts = tf.range(0, length, num_unroll)
    count = tf.size(starts)
    entries, rank = tf.shape(value.indices)[0], tf.shape(value.indices)[1]
    times = tf.tile(tf.reshape(starts, [-1, 1, 1]), tf.stack([1, entries, 1]))
    places = tf.tile(tf.expand_dims(value.indices, 0), tf.stack([count, 1, 1]))
    indices = tf.reshape(tf.concat([times, places], 2), tf.stack([entries * count, rank + 1]))
    return tf.SparseTensor(
        indices,
        tf.tile(value.values, tf.expand_dims(count, 0)),
        tf.concat([tf.expand_dims(length, 0), value.dense_shape], 0),
    )


def _move_sparse_tensor_in_context(context: dict[str, Any], sequences: dict[str, Any]) -> None:
    """Gives the context back what `_move_sparse_tensor_out_context` has taken."""
    for key in sorted(sequences):
        if key.startswith(_IN_SEQUENCES):
            value = sequences.pop(key)
            batch, inner = value.dense_shape[0:1], value.dense_shape[2:]
            one = tf.constant([1], tf.int64)
            first = tf.SparseTensor(value.indices, value.values, tf.concat([batch, one, inner], 0))
            moved = tf.sparse_reshape(first, tf.concat([batch, inner], 0))
            context[key[len(_IN_SEQUENCES) :]] = moved


def _sparse_keys(values: dict[str, Any]) -> list[str]:
    return [key for key in sorted(values) if isinstance(values[key], _SPARSE)]


def _deconstruct_sparse_tensor_seq(
    input_sequence: dict[str, Any], shared_name: str | None = None
) -> tuple[dict[str, Any], Any, list[Any]]:
    """Handles in the place of sparse tensors, the names of these, and the ops that store them."""
    keys = _sparse_keys(input_sequence)
    if not keys:
        return input_sequence, None, []
    handles = {
        key: add_many_sparse_to_tensors_map(
            tf.SparseTensor.from_value(input_sequence[key]), shared_name=shared_name
        )
        for key in keys
    }
    return {**input_sequence, **handles}, keys, [handles[key].op for key in keys]


def _reconstruct_sparse_tensor_seq(
    sequence: dict[str, Any],
    sparse_tensor_keys: Any,
    tensor_op_list: list[Any],
    batch_size: Any,
    num_unroll: Any,
) -> None:
    """Puts the sparse tensors back in the place of their handles."""
    for key, store in zip(sparse_tensor_keys or [], tensor_op_list, strict=True):
        rows = take_many_sparse_from_tensors_map(
            sparse_map_op=store, sparse_handles=tf.reshape(sequence[key], [-1]), rank=None
        )
        unroll = tf.cast(num_unroll, tf.int64)
        row = rows.indices[:, 0:1]
        sequence[key] = tf.SparseTensor(
            tf.concat([row // unroll, row % unroll, rows.indices[:, 1:]], 1),
            rows.values,
            tf.concat([[tf.cast(batch_size, tf.int64)], [unroll], rows.dense_shape[1:]], 0),
        )
