"""What must hold of values and the tensor that divides them into rows."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf


def converted(values: Any, partition: Any, name: str) -> tuple[Any, Any]:
    """Values and their partition as tensors; TypeError, ValueError where they don't go together."""
    from penstock.ragged.tensor import RaggedTensor

    if isinstance(values, RaggedTensor):
        wanted = values.row_splits.dtype
        if not isinstance(partition, tf.Tensor):
            return values, tf.convert_to_tensor(partition, wanted, name=name)
        if partition.dtype not in (tf.int32, tf.int64):
            raise ValueError(f"{name} must have dtype int32 or int64")
        if partition.dtype != wanted:
            raise ValueError(
                f"dtype mismatch: {name} ({partition.dtype}) vs values.row_splits ({wanted})"
            )
        return values, partition
    values = tf.convert_to_tensor(values, name="values")
    is_int32 = isinstance(partition, np.ndarray) and partition.dtype == np.int32
    hint = None if is_int32 else tf.int64
    partition = tf.convert_to_tensor(partition, preferred_dtype=hint, name=name)
    if partition.dtype not in (tf.int32, tf.int64):
        raise ValueError(f"{name} must have dtype int32 or int64")
    return values, partition


def row_count(values: Any, out_type: Any = tf.int32) -> Any:
    """How many rows a tensor or ragged tensor has."""
    if isinstance(values, tf.Tensor):
        return tf.shape(values, out_type=out_type)[0]
    return values.nrows(out_type=out_type)


def after_checks(partition: Any, values: Any, checks: list[Any]) -> Any:
    """The partition, once the checks have passed."""
    if isinstance(values, tf.Tensor):
        checks = [*checks, tf.assert_rank_at_least(values, 1)]
    with tf.control_dependencies(checks):
        return tf.identity(partition)


def message(method: str) -> str:
    return f"Arguments to {method} do not form a valid RaggedTensor"


def assert_increasing(partition: Any, message: str) -> Any:
    return tf.assert_non_negative(partition[1:] - partition[:-1], message=message)


def assert_zero(tensor: Any, message: str) -> Any:
    return tf.assert_equal(tensor, tf.constant(0, tensor.dtype), message=message)


def assert_right_ragged(indices: Any) -> Any:
    """An operation that fails unless the entries of each sparse row are its first ones."""
    prefix, place = indices[:, :-1], indices[:, -1]
    new_row = tf.reduce_any(tf.not_equal(prefix[1:], prefix[:-1]), axis=1)
    follows = tf.where(new_row, tf.equal(place[1:], 0), tf.equal(place[1:], place[:-1] + 1))
    starts = tf.reduce_all(tf.equal(place[:1], 0))
    holds = tf.logical_and(starts, tf.reduce_all(follows))
    return tf.Assert(holds, ["SparseTensor is not right-ragged", "SparseTensor.indices =", indices])
