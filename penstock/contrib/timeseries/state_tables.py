"""Tables of states: structures of tensors by numbers."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib.lookup import LookupInterface, MutableDenseHashTable


class TensorValuedMutableDenseHashTable(MutableDenseHashTable):
    """A table of tensors of any rank; keys may have any shape, too."""

    def __init__(
        self, key_dtype: Any, value_dtype: Any, default_value: Any, *args: Any, **kwargs: Any
    ):
        self._tensor_shape = tf.shape(default_value)
        flat = tf.reshape(default_value, [-1])
        super().__init__(key_dtype, value_dtype, flat, *args, **kwargs)

    def insert(self, keys: Any, values: Any, name: str | None = None) -> tf.Operation:
        """Keeps tensors under keys."""
        flat = tf.reshape(tf.convert_to_tensor(keys, dtype=self._key_dtype), [-1])
        rows = tf.reshape(values, [tf.shape(flat)[0], -1])
        return super().insert(keys=flat, values=rows, name=name)

    def lookup(self, keys: Any, name: str | None = None) -> tf.Tensor:
        """The tensors under keys, in the keys' shape."""
        flat = tf.reshape(tf.convert_to_tensor(keys, dtype=self._key_dtype), [-1])
        found = super().lookup(keys=flat, name=name)
        return tf.reshape(found, tf.concat([tf.shape(keys), self._tensor_shape], 0))


class TupleOfTensorsLookup(LookupInterface):
    """A table of structures of tensors: a table for each of them."""

    def __init__(
        self,
        key_dtype: Any,
        default_values: Any,
        empty_key: Any,
        deleted_key: Any,
        name: str,
        checkpoint: bool = True,
    ):
        tables = [
            TensorValuedMutableDenseHashTable(
                key_dtype=key_dtype,
                value_dtype=default.dtype.base_dtype,
                default_value=default,
                empty_key=empty_key,
                deleted_key=deleted_key,
                name=f"{name}_{number}",
                checkpoint=checkpoint,
            )
            for number, default in enumerate(tf.nest.flatten(default_values))
        ]
        self._hash_tables = tf.nest.pack_sequence_as(default_values, tables)
        self._table_name = name

    @property
    def name(self) -> str:
        """The beginning of the tables' names."""
        return self._table_name

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The structures under keys."""
        tables = tf.nest.flatten(self._hash_tables)
        return tf.nest.pack_sequence_as(self._hash_tables, [table.lookup(keys) for table in tables])

    def insert(self, keys: Any, values: Any) -> tf.Operation:
        """Keeps structures under keys, once all their tensors are known."""
        tf.nest.assert_same_structure(self._hash_tables, values)
        flat = [tf.identity(value) for value in tf.nest.flatten(values)]
        tables = tf.nest.flatten(self._hash_tables)
        with tf.control_dependencies(flat):
            kept = [table.insert(keys, value) for table, value in zip(tables, flat, strict=True)]
        return tf.group(*kept)

    def check_table_dtypes(self, key_dtype: Any, value_dtype: Any) -> None:
        """Each of the tables checks for itself."""


def replicate_state(start_state: Any, batch_size: Any) -> Any:
    """One state as that of each series of a batch."""

    def replicated(state: Any) -> tf.Tensor:
        ones = tf.ones([tf.rank(state)], dtype=tf.int32)
        return tf.tile(tf.expand_dims(state, 0), tf.concat([[batch_size], ones], 0))

    return tf.nest.map_structure(replicated, start_state)


def batch_start_time(times: Any) -> Any:
    """The first time of each series."""
    return times[:, 0]


def batch_end_time(times: Any) -> Any:
    """The last time of each series."""
    return times[:, -1]
