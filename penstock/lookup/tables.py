"""Tables that an initializer fills once, and what all tables have in common."""

from __future__ import annotations

import uuid
from typing import Any

from penstock import dtypes
from penstock.dtypes import DType
from penstock.ir.composite import SparseTensor
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ir.trackable import Trackable
from penstock.lookup.initializers import TableInitializerBase
from penstock.ops.control import init_scope
from penstock.ops.lookup_tables import (
    HashTableV2,
    LookupTableExportV2,
    LookupTableFindV2,
    LookupTableSizeV2,
)
from penstock.shapes import TensorShape
from penstock.train.tracking.resources import TrackableResource


class LookupInterface(TrackableResource):
    """What every lookup table offers: `lookup(keys)`, `size()`, and the types of both sides."""

    def __init__(self, key_dtype: Any, value_dtype: Any):
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)
        made_before = getattr(self, "_resource_handle", None)
        super().__init__()
        self._resource_handle = made_before

    @property
    def key_dtype(self) -> DType:
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        return self._value_dtype

    @property
    def name(self) -> Any:
        """The name of the table."""
        return NotImplementedError

    def size(self, name: str | None = None) -> Tensor:
        """The number of entries."""
        raise NotImplementedError

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys."""
        raise NotImplementedError

    def __getitem__(self, keys: Any) -> Any:
        return self.lookup(keys)

    def _check_key_type(self, keys: Any) -> None:
        if keys.dtype.base_dtype is not self._key_dtype:
            raise TypeError(
                f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}."
            )


class InitializableLookupTableBase(LookupInterface):
    """A table that must be initialized before it is asked, and does not change afterwards.

    Args:
      default_value: The value of keys that the table doesn't have.
      initializer: What fills it: a `TableInitializerBase`.
    """

    def __init__(self, default_value: Any, initializer: TableInitializerBase):
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self._default_value: Any = convert_to_tensor(default_value, self._value_dtype)
        self._default_value.get_shape().merge_with(TensorShape([]))
        self._initializer = initializer
        if isinstance(initializer, Trackable):
            self._track_trackable(initializer, name="_initializer")
        with init_scope():
            self._resource_handle = self._create_resource()
        if get_default_graph()._get_control_flow_context() is None:
            self._init_op = self._initialize()
        else:
            with init_scope():
                self._init_op = self._initialize()

    def _initialize(self) -> Operation:
        return self._initializer.initialize(self)

    @property
    def default_value(self) -> Tensor:
        return self._default_value

    @property
    def initializer(self) -> Operation:
        """The operation that fills the table."""
        return self._init_op

    @property
    def init(self) -> Operation:
        """The operation that fills the table, by its old name."""
        return self._init_op

    def size(self, name: str | None = None) -> Tensor:
        """The number of entries, 0 before the table is initialized."""
        with name_scope(name, f"{self.name}_Size", [self.resource_handle]):
            return LookupTableSizeV2(self.resource_handle)

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of `keys`, a tensor or a sparse tensor: the default where there is none."""
        tensor = keys.values if isinstance(keys, SparseTensor) else convert_to_tensor(keys)
        self._check_key_type(tensor)
        scope_values = (self.resource_handle, tensor, self._default_value)
        with name_scope(name, f"{self.name}_Lookup", scope_values):
            values = LookupTableFindV2(self.resource_handle, tensor, self._default_value)
        values.set_shape(tensor.get_shape())
        if isinstance(keys, SparseTensor):
            return SparseTensor(keys.indices, values, keys.dense_shape)
        return values


InitializableLookupTableBaseV1 = InitializableLookupTableBase


class StaticHashTable(InitializableLookupTableBase):
    """A table of keys and values that an initializer gives.

    >>> initializer = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
    >>> table = tf.lookup.StaticHashTable(initializer, default_value=-1)
    >>> sess.run(tf.tables_initializer())
    >>> ids = table.lookup(tf.constant(["b", "c"]))  # 2, -1
    """

    def __init__(
        self, initializer: TableInitializerBase, default_value: Any, name: str | None = None
    ):
        shared_name = initializer._shared_name or f"hash_table_{uuid.uuid4()}"
        self._set_up(initializer, default_value, shared_name, name)

    def _set_up(
        self,
        initializer: TableInitializerBase,
        default_value: Any,
        shared_name: str | None,
        name: str | None,
    ) -> None:
        self._initializer = initializer
        self._shared_name: Any = shared_name
        self._name = name or "hash_table"
        super().__init__(default_value, initializer)
        self._value_shape = self._default_value.get_shape()

    def _create_resource(self) -> Tensor:
        handle = HashTableV2(
            shared_name=self._shared_name,
            key_dtype=self._initializer.key_dtype,
            value_dtype=self._initializer.value_dtype,
            name=self._name,
        )
        self._table_name = handle._op.name.split("/")[-1]
        return handle

    @property
    def name(self) -> str:
        return self._table_name

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys and their values."""
        with name_scope(name, f"{self.name}_Export", [self.resource_handle]):
            keys, values = LookupTableExportV2(
                self.resource_handle, Tkeys=self._key_dtype, Tvalues=self._value_dtype
            )
        values.set_shape(keys.get_shape().concatenate(self._value_shape))
        return keys, values


StaticHashTableV1 = StaticHashTable
HashTable = StaticHashTable  # its name in modules that programs look into
