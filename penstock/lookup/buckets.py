"""Tables of ids in which unknown keys share some more ids by their hash."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from penstock import dtypes
from penstock.dtypes import DType
from penstock.ir.composite import SparseTensor
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.lookup.tables import LookupInterface, StaticHashTable
from penstock.ops.binary import add
from penstock.ops.casts import cast
from penstock.ops.comparison import not_equal
from penstock.ops.control import no_op
from penstock.ops.select import where_v2
from penstock.ops.string_hashing import (
    string_to_hash_bucket,
    string_to_hash_bucket_fast,
    string_to_hash_bucket_strong,
)
from penstock.ops.string_numbers import as_string

_KEY_TYPES = (dtypes.int64, dtypes.string)


class HasherSpec(namedtuple("HasherSpec", ["hasher", "key"])):
    """How keys are hashed: the hash's name, and its key if it has one."""

    __slots__ = ()


FastHashSpec = HasherSpec("fasthash", None)


class StrongHashSpec(HasherSpec):
    """A hash that can't be attacked without its key, two unsigned integers."""

    __slots__ = ()

    def __new__(cls, key: Any) -> StrongHashSpec:
        if len(key) != 2:
            raise ValueError(f"key must have size 2, got {len(key)}.")
        if not all(isinstance(part, (int, np.integer)) for part in key):
            raise TypeError(f"Invalid key {key}. Must be unsigned integer values.")
        return super().__new__(cls, "stronghash", key)


def _hash_function(spec: Any) -> Callable[..., Tensor]:
    """The function that gives the buckets of strings."""
    if not isinstance(spec, HasherSpec):
        raise TypeError(f"hasher_spec must be of type HasherSpec {spec}")
    if spec.hasher == "fasthash":
        return string_to_hash_bucket_fast
    if spec.hasher == "legacy":
        return string_to_hash_bucket
    if spec.hasher == "stronghash":
        return partial(string_to_hash_bucket_strong, key=spec.key)
    raise ValueError(f"Unknown hasher {spec.hasher}")


def _as_string(keys: Tensor) -> Tensor:
    if keys.dtype.base_dtype is dtypes.string:
        return keys
    return as_string(keys)


def _check_table_types(table: Any, key_dtype: DType) -> None:
    """Refuses a table (or its initializer) that doesn't map strings or int64 keys to int64 ids."""
    if table.key_dtype not in _KEY_TYPES:
        raise TypeError(
            f"Invalid key dtype, expected one of {_KEY_TYPES}, but got {table.key_dtype}."
        )
    if table.key_dtype.is_integer != key_dtype.is_integer:
        wanted = "integer" if key_dtype.is_integer else "non-integer"
        raise TypeError(f"Invalid key dtype, expected {wanted} but got {table.key_dtype}.")
    if table.value_dtype is not dtypes.int64:
        raise TypeError(
            f"Invalid value dtype, expected {dtypes.int64} but got {table.value_dtype}."
        )


class _TableWithBuckets(LookupInterface):
    """Ids of an inner table first, then those of the buckets; or buckets alone."""

    def __init__(
        self, table: Any, num_oov_buckets: int, key_dtype: DType, hasher_spec: Any, name: str | None
    ):
        if not key_dtype.is_integer and key_dtype is not dtypes.string:
            raise TypeError(f"Invalid key_dtype, expected integer or string, got {key_dtype}.")
        self._table = table
        self._num_oov_buckets = num_oov_buckets
        self._hasher_spec = hasher_spec
        self._table_name = name.split("/")[-1] if name else None
        super().__init__(key_dtype, dtypes.int64)

    def _create_resource(self) -> Any:
        return None if self._table is None else self._table._create_resource()

    def _initialize(self) -> Any:
        return no_op() if self._table is None else self._table._initialize()

    @property
    def resource_handle(self) -> Any:
        return None if self._table is None else self._table.resource_handle

    @property
    def initializer(self) -> Operation:
        """The operation that fills the table."""
        if self._table is not None:
            return self._table.initializer
        with name_scope(None, "init"):
            return no_op()

    @property
    def init(self) -> Operation:
        """The operation that fills the table, by its old name."""
        return self.initializer

    @property
    def name(self) -> str | None:
        return self._table_name

    def size(self, name: str | None = None) -> Tensor:
        """The number of entries and buckets."""
        with name_scope(name, f"{self.name}_Size"):
            if self._table is not None:
                inner: Any = self._table.size()
            else:
                inner = convert_to_tensor(0, dtypes.int64)
            total: Tensor = inner + self._num_oov_buckets
            return total

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The ids of `keys`, a tensor or a sparse tensor."""
        if not isinstance(keys, SparseTensor):
            keys = convert_to_tensor(keys)
        self._check_key_type(keys)
        values = keys.values if isinstance(keys, SparseTensor) else keys
        if self._table is not None and self._table.key_dtype.base_dtype is dtypes.int64:
            values = cast(values, dtypes.int64)
        ids = self._ids(values, name)
        if isinstance(keys, SparseTensor):
            return SparseTensor(keys.indices, ids, keys.dense_shape)
        return ids

    def _ids(self, values: Any, name: str | None) -> Any:
        if self._num_oov_buckets == 0:
            return self._table.lookup(values, name=name)
        with name_scope(name, f"{self.name}_Lookup"):
            hashed = _hash_function(self._hasher_spec)(
                _as_string(values), num_buckets=self._num_oov_buckets, name="hash_bucket"
            )
            if self._table is None:
                return hashed
            ids = self._table.lookup(values)
            hashed = add(hashed, self._table.size())
            is_known = not_equal(ids, self._table.default_value)
            return where_v2(is_known, ids, hashed)


class IdTableWithHashBuckets(_TableWithBuckets):
    """A table of ids in which unknown keys get ids after those of the table, by their hash.

    Args:
      table: The table of known keys; None if there is none.
      num_oov_buckets: How many ids unknown keys share.
      hasher_spec: `FastHashSpec`, or `StrongHashSpec(key)`.
    """

    def __init__(
        self,
        table: LookupInterface | None,
        num_oov_buckets: int,
        hasher_spec: Any = FastHashSpec,
        name: str | None = None,
        key_dtype: Any = None,
    ):
        name = name.rstrip("/") if name else name
        if table is not None:
            key_dtype = table.key_dtype if key_dtype is None else dtypes.as_dtype(key_dtype)
            _check_table_types(table, key_dtype)
            name = name or table.name
        else:
            if num_oov_buckets <= 0:
                raise ValueError("oov_buckets must be > 0 if no table is supplied.")
            key_dtype = dtypes.string if key_dtype is None else dtypes.as_dtype(key_dtype)
            name = name or "hash_bucket"
        if not isinstance(hasher_spec, HasherSpec):
            raise TypeError(f"hasher_spec must be of type HasherSpec, got {hasher_spec}")
        super().__init__(table, num_oov_buckets, key_dtype, hasher_spec, name)


class StaticVocabularyTable(_TableWithBuckets):
    """A table from strings (or integers) to ids, with ids for unknown keys by their hash.

    >>> table = tf.lookup.StaticVocabularyTable(initializer, num_oov_buckets=5)
    """

    def __init__(
        self,
        initializer: Any,
        num_oov_buckets: int,
        lookup_key_dtype: Any = None,
        name: str | None = None,
    ):
        if num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0.")
        name = name.rstrip("/") if name else name
        table: StaticHashTable | None = None
        key_dtype = dtypes.string
        if initializer is not None:
            key_dtype = (
                initializer.key_dtype
                if lookup_key_dtype is None
                else dtypes.as_dtype(lookup_key_dtype)
            )
            _check_table_types(initializer, key_dtype)
            table = StaticHashTable(initializer, default_value=-1)
            name = name or table.name
        super().__init__(table, num_oov_buckets, key_dtype, FastHashSpec, name or "hash_bucket")


StaticVocabularyTableV1 = StaticVocabularyTable
