"""A mutable table in several parts, each of which can be on another task."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.ir.tensor import Tensor
from penstock.lookup.mutable import DenseHashTable as MutableDenseHashTable


class ShardedMutableDenseHashTable:
    """Mutable tables by the remainder of their keys; `export_sharded` takes the place of export."""

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
        num_shards: int = 1,
        checkpoint: bool = True,
        name: str = "ShardedMutableHashTable",
    ):
        self._key_dtype = tf.as_dtype(key_dtype)
        self._value_dtype = tf.as_dtype(value_dtype)
        with tf.name_scope(name, "sharded_mutable_hash_table") as scope:
            self._table_name = scope
            self._table_shards = [
                MutableDenseHashTable(
                    key_dtype=key_dtype,
                    value_dtype=value_dtype,
                    default_value=default_value,
                    empty_key=empty_key,
                    deleted_key=deleted_key,
                    checkpoint=checkpoint,
                    name=f"{name}-{number + 1}-of-{num_shards}",
                )
                for number in range(num_shards)
            ]
        self._value_shape = self._table_shards[0]._value_shape

    @property
    def name(self) -> str:
        return self._table_name

    @property
    def table_shards(self) -> list[MutableDenseHashTable]:
        return self._table_shards

    @property
    def _num_shards(self) -> int:
        return len(self._table_shards)

    def size(self, name: str | None = None) -> Tensor:
        """The number of entries of all parts."""
        with tf.name_scope(name, "sharded_mutable_hash_table_size"):
            total: Tensor = tf.add_n([table.size() for table in self._table_shards])
            return total

    def _shard_indices(self, keys: Tensor) -> Tensor:
        """The part that each key belongs to: of a key that is a vector, its first number counts."""
        if keys.shape.rank == 2:
            keys = tf.reshape(keys[:, :1], [-1])
        indices: Tensor = tf.cast(tf.mod(abs(keys), self._num_shards), tf.int32)
        return indices

    def _check_keys(self, keys: Tensor) -> None:
        size = keys.get_shape()
        if not size.is_fully_defined():
            raise ValueError(f"Key shape must be fully defined, got {size}.")
        if size.ndims not in (1, 2):
            raise ValueError(f"Expected a vector or matrix for keys, got {size}.")

    def lookup(self, keys: Tensor, name: str | None = None) -> Tensor:
        """The values of keys, the default value for those that are in no part."""
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(
                f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}."
            )
        self._check_keys(keys)
        number = self._num_shards
        if number == 1:
            return self._table_shards[0].lookup(keys, name=name)
        shards = self._shard_indices(keys)
        values = [
            table.lookup(part, name=name)
            for table, part in zip(
                self._table_shards, tf.dynamic_partition(keys, shards, number), strict=True
            )
        ]
        places = tf.dynamic_partition(tf.range(keys.shape[0]), shards, number)
        result: Tensor = tf.dynamic_stitch(places, values)
        result.set_shape(tf.TensorShape([keys.shape[0]]).concatenate(self._value_shape))
        return result

    def insert(self, keys: Tensor, values: Tensor, name: str | None = None) -> Any:
        """Puts values in the place of those that their keys have."""
        self._check_keys(keys)
        number = self._num_shards
        if number == 1:
            return self._table_shards[0].insert(keys, values, name=name)
        shards = self._shard_indices(keys)
        parts = zip(
            self._table_shards,
            tf.dynamic_partition(keys, shards, number),
            tf.dynamic_partition(values, shards, number),
            strict=True,
        )
        return tf.group(*[table.insert(key, value, name=name) for table, key, value in parts])

    def export_sharded(self, name: str | None = None) -> tuple[list[Tensor], list[Tensor]]:
        """The keys and the values of each part."""
        exported = [table.export(name=name) for table in self._table_shards]
        return [keys for keys, _ in exported], [values for _, values in exported]
