"""Tables that a program fills and changes while it runs."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.collections import GraphKeys
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.lookup.tables import LookupInterface
from penstock.ops.control import add_to_collection, colocate_with
from penstock.ops.lookup_tables import (
    LookupTableExportV2,
    LookupTableFindV2,
    LookupTableImportV2,
    LookupTableInsertV2,
    LookupTableRemoveV2,
    LookupTableSizeV2,
    MutableDenseHashTableV2,
    MutableHashTableOfTensorsV2,
    MutableHashTableV2,
)
from penstock.train.saveables import SaveableObject, SaveSpec


class _TableSaveable(SaveableObject):
    """A mutable table in a checkpoint: its keys and its values."""

    def __init__(self, table: _MutableTable, name: str):
        keys, values = table.export()
        specs = [SaveSpec(keys, "", f"{name}-keys"), SaveSpec(values, "", f"{name}-values")]
        super().__init__(table, specs, name)

    def restore(self, restored_tensors: Any, restored_shapes: Any, name: str | None = None) -> Any:
        keys, values = restored_tensors
        with name_scope(name, f"{self.name}_table_restore"), colocate_with(self.op.resource_handle):
            return LookupTableImportV2(self.op.resource_handle, keys, values)


class _MutableTable(LookupInterface):
    """What the kinds of mutable tables have in common."""

    _Saveable = _TableSaveable

    def __init__(
        self, key_dtype: Any, value_dtype: Any, default_value: Tensor, name: str, checkpoint: bool
    ):
        self._default_value = default_value
        self._value_shape = default_value.get_shape()
        self._checkpoint = checkpoint
        self._name = name
        self._shared_name: str | None = None
        super().__init__(key_dtype, value_dtype)
        self._resource_handle = self._create_resource()
        if checkpoint:
            add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self._Saveable(self, name))

    def _named(self, handle: Tensor) -> Tensor:
        self._table_name = handle._op.name.split("/")[-1]
        return handle

    @property
    def name(self) -> str:
        return self._table_name

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {"table": lambda name=self._name: self._Saveable(self, name)}

    def size(self, name: str | None = None) -> Tensor:
        """The number of entries."""
        with (
            name_scope(name, f"{self.name}_Size", [self.resource_handle]),
            colocate_with(self.resource_handle),
        ):
            return LookupTableSizeV2(self.resource_handle)

    def lookup(self, keys: Any, name: str | None = None) -> Tensor:
        """The values of `keys`, the default where the table has none."""
        scope_values = (self.resource_handle, keys, self._default_value)
        with name_scope(name, f"{self.name}_lookup_table_find", scope_values):
            keys = convert_to_tensor(keys, self._key_dtype, "keys")
            with colocate_with(self.resource_handle):
                return LookupTableFindV2(self.resource_handle, keys, self._default_value)

    def insert(self, keys: Any, values: Any, name: str | None = None) -> Operation:
        """An operation that gives `keys` their `values`, new or not."""
        scope_values = [self.resource_handle, keys, values]
        with name_scope(name, f"{self.name}_lookup_table_insert", scope_values):
            keys = convert_to_tensor(keys, self._key_dtype, "keys")
            values = convert_to_tensor(values, self._value_dtype, "values")
            with colocate_with(self.resource_handle):
                return LookupTableInsertV2(self.resource_handle, keys, values)

    def remove(self, keys: Any, name: str | None = None) -> Operation:
        """An operation that removes `keys`; those that the table doesn't have are ignored."""
        if keys.dtype.base_dtype is not self._key_dtype:
            raise TypeError(
                f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}."
            )
        scope_values = (self.resource_handle, keys, self._default_value)
        with name_scope(name, f"{self.name}_lookup_table_remove", scope_values):
            return LookupTableRemoveV2(self.resource_handle, keys)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys and their values."""
        with (
            name_scope(name, f"{self.name}_lookup_table_export_values", [self.resource_handle]),
            colocate_with(self.resource_handle),
        ):
            keys, values = LookupTableExportV2(
                self.resource_handle, Tkeys=self._key_dtype, Tvalues=self._value_dtype
            )
        return keys, values


class MutableHashTable(_MutableTable):
    """A table that can be changed with `insert` and `remove`.

    Args:
      default_value: The value of keys that the table doesn't have; its shape is that of values.
      checkpoint: Whether a `tf.train.Saver` saves the table.

    >>> table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, default_value=-1)
    >>> sess.run(table.insert(["a"], [1]))
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
        shared_name: str | None = None,
    ):
        # Earlier versions of TensorFlow had a shared name in the place of the node's name.
        default = convert_to_tensor(default_value, dtypes.as_dtype(value_dtype))
        self._given_shared_name = shared_name
        super().__init__(key_dtype, value_dtype, default, name, checkpoint)

    def _create_resource(self) -> Tensor:
        attrs: dict[str, Any] = {
            "shared_name": self._given_shared_name,
            "use_node_name_sharing": self._checkpoint and self._given_shared_name is None,
            "key_dtype": self._key_dtype,
            "value_dtype": self._value_dtype,
            "name": self._name,
        }
        if self._value_shape.ndims == 0:
            return self._named(MutableHashTableV2(**attrs))
        return self._named(MutableHashTableOfTensorsV2(value_shape=self._value_shape, **attrs))


class DenseHashTable(_MutableTable):
    """A mutable table whose memory is one block of buckets.

    Args:
      empty_key: A key that is never inserted: it marks an empty bucket.
      deleted_key: Another one, which marks a bucket whose key was removed.
      initial_num_buckets: How many there are at first, a power of 2.
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
    ):
        keys, values = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)
        default = convert_to_tensor(default_value, values, "default_value")
        self._empty_key = convert_to_tensor(empty_key, keys, "empty_key")
        self._deleted_key = convert_to_tensor(deleted_key, keys, "deleted_key")
        self._initial_num_buckets = initial_num_buckets
        super().__init__(keys, values, default, name, checkpoint)

    def _create_resource(self) -> Tensor:
        return self._named(
            MutableDenseHashTableV2(
                self._empty_key,
                self._deleted_key,
                shared_name=self._shared_name,
                use_node_name_sharing=self._checkpoint,
                value_dtype=self._value_dtype,
                value_shape=self._value_shape,
                initial_num_buckets=self._initial_num_buckets,
                name=self._name,
            )
        )

    def insert_or_assign(self, keys: Any, values: Any, name: str | None = None) -> Operation:
        """`insert` by another name."""
        return self.insert(keys, values, name)

    def erase(self, keys: Any, name: str | None = None) -> Operation:
        """`remove` by another name."""
        return self.remove(keys, name)
