"""`contrib.layers.python.ops.sparse_ops`: sparse tensors of what dense ones have in them."""

from __future__ import annotations

import numbers
from typing import Any

import penstock as tf


def _nothing(dtype: Any, ignore_value: Any) -> Any:
    """What counts as nothing: by default zero, or the empty string."""
    if ignore_value is None:
        ignore_value = "" if dtype == tf.string else dtype.as_numpy_dtype()
    return tf.cast(ignore_value, dtype, name="ignore_value")


def dense_to_sparse_tensor(dense_tensor: Any, ignore_value: Any = None) -> Any:
    """The entries of a tensor other than `ignore_value`, by default zero or the empty string."""
    with tf.name_scope("DenseToSparseTensor"):
        dense_tensor = tf.convert_to_tensor(dense_tensor)
        nothing = _nothing(dense_tensor.dtype, ignore_value)
        indices = tf.where(tf.not_equal(dense_tensor, nothing), name="indices")
        values = tf.gather_nd(dense_tensor, indices, name="values")
        shape = tf.shape(dense_tensor, out_type=tf.int64, name="dense_shape")
        return tf.SparseTensor(indices, values, shape)


def indicators_to_sparse_ids(
    indicators: Any, ignore_value: Any = None, dtype: Any = tf.int64
) -> Any:
    """In each row, the places of the entries that are there, moved to the left.

    Args:
      ignore_value: what an entry is that isn't there; by default zero or the empty string.
      dtype: an integer type, for the places.
    """
    if not dtype.is_integer:
        raise ValueError(f"Invalid dtype {dtype} not integer.")
    with tf.name_scope(None, "indicators_to_sparse_ids", (indicators, ignore_value)):
        indicators = tf.convert_to_tensor(indicators, name="indicators")
        nothing = _nothing(indicators.dtype, ignore_value)
        is_there = tf.not_equal(indicators, nothing)
        ranks = tf.cumsum(tf.cast(is_there, tf.int64), axis=-1)
        row_ranks = tf.where(is_there, ranks, tf.zeros_like(ranks), "row_index_indicators")
        longest = tf.reshape(tf.reduce_max(row_ranks), [1], name="result_last_dim")
        found = dense_to_sparse_tensor(row_ranks, ignore_value=0)
        columns = tf.reshape(found.values - 1, [-1, 1])
        return tf.SparseTensor(
            indices=tf.concat([found.indices[:, :-1], columns], axis=1, name="indices"),
            values=tf.cast(found.indices[:, -1], dtype, name="values"),
            dense_shape=tf.concat([found.dense_shape[:-1], longest], axis=0, name="dense_shape"),
        )


def sparse_row_envelope(
    sparse_input: Any, row_axis: int = 0, col_axis: int = 1, name: str | None = None
) -> Any:
    """How long each row is: one more than its last column that has an entry."""
    axes = (row_axis, col_axis)
    if not all(isinstance(axis, numbers.Integral) for axis in axes):
        raise ValueError("`row_axis` and `col_axis` must be integers.")
    if row_axis == col_axis:
        raise ValueError("Row and column can not be the same axis.")
    with tf.name_scope(name, "sparse_row_envelope", [sparse_input]):
        rows, columns = (sparse_input.indices[:, axis] for axis in axes)
        count = tf.cast(sparse_input.dense_shape[row_axis], tf.int32)
        ends = tf.unsorted_segment_max(columns + 1, rows, count, name=name)
        return tf.where(ends > 0, ends, tf.zeros_like(ends))  # an empty row has the least number
