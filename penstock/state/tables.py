"""Lookup tables: keys with a value each, behind the handles of table ops.

Keys and values come and go as NumPy arrays. A table keeps Python values in a dictionary; a value
that is a tensor is kept as an array.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from penstock import dtypes, errors
from penstock.dtypes import DType


def _invalid(message: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, message)


def _sizes(shape: Iterable[int]) -> str:
    return "[" + ",".join(str(size) for size in shape) + "]"


def _array(entries: list[Any], dtype: DType, shape: tuple[int, ...]) -> np.ndarray:
    """Python values (or arrays of equal shape) as one array."""
    if dtype is dtypes.string and not any(isinstance(entry, np.ndarray) for entry in entries[:1]):
        result = np.empty(len(entries), dtype=object)
        result[:] = entries
        return result.reshape(shape)
    return np.array(entries, dtype=dtype.as_numpy_dtype).reshape(shape)


class LookupTable:
    """A table that can be read; what it is filled with is for its kinds to say.

    1. Every access holds `lock`: concurrent steps see whole insertions.
    2. A key is a Python value, or a tuple of them where keys are vectors.
    """

    key_shape: tuple[int, ...] = ()

    def __init__(
        self,
        name: str,
        key_dtype: DType,
        value_dtype: DType,
        value_shape: tuple[int, ...] = (),
    ):
        self.name = name
        self.key_dtype = key_dtype
        self.value_dtype = value_dtype
        self.value_shape = value_shape
        self.lock = threading.RLock()
        self._entries: dict[Hashable, Any] = {}

    def size(self) -> int:
        return len(self._entries)

    def find(self, keys: np.ndarray, default: np.ndarray) -> np.ndarray:
        """The value of each key, the default where the table has none."""
        outer = self._outer_shape(keys)
        shape = (*outer, *self.value_shape)
        if default.shape not in (self.value_shape, shape):
            raise _invalid(
                f"Expected shape {_sizes(self.value_shape)} or {_sizes(shape)} for default value, "
                f"got {_sizes(default.shape)}"
            )
        wanted = self._keys(keys)
        with self.lock:
            get = self._entries.get
            if default.shape == self.value_shape:
                other = default.tolist() if not self.value_shape else default
                found = [get(key, other) for key in wanted]
            else:
                others = self._values(default)
                found = [get(key, other) for key, other in zip(wanted, others, strict=True)]
        return _array(found, self.value_dtype, shape)

    def export(self) -> tuple[np.ndarray, np.ndarray]:
        """All keys and their values."""
        with self.lock:
            keys, values = list(self._entries), list(self._entries.values())
        count = len(keys)
        return (
            _array(keys, self.key_dtype, (count, *self.key_shape)),
            _array(values, self.value_dtype, (count, *self.value_shape)),
        )

    def _keys(self, keys: np.ndarray) -> list[Any]:
        flat: list[Any] = keys.reshape(-1).tolist()
        return flat

    def _values(self, values: np.ndarray) -> list[Any]:
        if not self.value_shape:
            return values.reshape(-1).tolist()
        return list(values.reshape(-1, *self.value_shape).copy())

    def _outer_shape(self, keys: np.ndarray) -> tuple[int, ...]:
        """The shape of a tensor of keys, without the dimensions that make up one key."""
        depth = keys.ndim - len(self.key_shape)
        if depth < 0 or keys.shape[depth:] != self.key_shape:
            raise _invalid(
                f"Input key shape {_sizes(keys.shape)} must end with the table's key shape "
                f"{_sizes(self.key_shape)}"
            )
        return keys.shape[:depth]

    def _check_values(self, keys: np.ndarray, values: np.ndarray) -> None:
        wanted = (*self._outer_shape(keys), *self.value_shape)
        if values.shape != wanted:
            raise _invalid(f"Expected shape {_sizes(wanted)} for value, got {_sizes(values.shape)}")

    # What only some kinds of tables can do.

    def initialize(self, keys: np.ndarray, values: np.ndarray) -> None:
        raise _invalid(f"Table {self.name} is not initializable")

    def insert(self, keys: np.ndarray, values: np.ndarray) -> None:
        raise NotImplementedError

    def remove(self, keys: np.ndarray) -> None:
        raise NotImplementedError

    def replace(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Forgets what the table holds and fills it anew."""
        raise NotImplementedError


class StaticTable(LookupTable):
    """A table that is filled once: HashTable."""

    def __init__(self, name: str, key_dtype: DType, value_dtype: DType):
        super().__init__(name, key_dtype, value_dtype)
        self.is_initialized = False

    def find(self, keys: np.ndarray, default: np.ndarray) -> np.ndarray:
        if not self.is_initialized:
            raise errors.FailedPreconditionError(
                None,
                None,
                "Table not initialized. Run its initializer first "
                "(sess.run(tf.tables_initializer()))",
            )
        return super().find(keys, default)

    def export(self) -> tuple[np.ndarray, np.ndarray]:
        if not self.is_initialized:
            raise errors.AbortedError(None, None, "HashTable is not initialized.")
        return super().export()

    def initialize(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Fills the table; once it is filled, nothing happens any more."""
        if not keys.size:
            raise _invalid("keys and values cannot be empty tensors.")
        self._check_values(keys, values)
        with self.lock:
            if self.is_initialized:
                return
            entries: dict[Hashable, Any] = {}
            for key, value in zip(self._keys(keys), self._values(values), strict=True):
                if entries.setdefault(key, value) != value:
                    raise errors.FailedPreconditionError(
                        None,
                        None,
                        "HashTable has different value for same key. "
                        f"Key {_shown(key)} has {_shown(entries[key])} and trying to add value "
                        f"{_shown(value)}",
                    )
            self._entries = entries
            self.is_initialized = True

    replace = initialize

    def insert(self, keys: np.ndarray, values: np.ndarray) -> None:
        raise self._unsupported("Insert")

    def remove(self, keys: np.ndarray) -> None:
        raise self._unsupported("Remove")

    @staticmethod
    def _unsupported(what: str) -> errors.UnimplementedError:
        message = f"{what} not supported by InitializableLookupTable implementations"
        return errors.UnimplementedError(None, None, message)


def _shown(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


class MutableTable(LookupTable):
    """A table that is filled and changed as the program runs: MutableHashTable."""

    def insert(self, keys: np.ndarray, values: np.ndarray) -> None:
        self._check_values(keys, values)
        with self.lock:
            self._entries.update(zip(self._keys(keys), self._values(values), strict=True))

    def remove(self, keys: np.ndarray) -> None:
        self._outer_shape(keys)
        with self.lock:
            for key in self._keys(keys):
                self._entries.pop(key, None)

    def replace(self, keys: np.ndarray, values: np.ndarray) -> None:
        with self.lock:
            self._entries.clear()
            self.insert(keys, values)


class DenseTable(MutableTable):
    """A mutable table with a known number of buckets: MutableDenseHashTable.

    What a program can see of the buckets are the entries of an export: there is one for each
    bucket, with `empty_key` or `deleted_key` where a bucket holds nothing.
    """

    def __init__(
        self,
        name: str,
        value_dtype: DType,
        value_shape: tuple[int, ...],
        *,
        empty_key: np.ndarray,
        deleted_key: np.ndarray | None,
        key_dtype: DType,
        buckets: int,
        max_load_factor: float,
    ):
        super().__init__(name, key_dtype, value_dtype, value_shape)
        self.key_shape = empty_key.shape
        self._check_options(empty_key, deleted_key, buckets, max_load_factor)
        self._empty_key = self._keys(empty_key)[0]
        self._deleted_key = None if deleted_key is None else self._keys(deleted_key)[0]
        if self._empty_key == self._deleted_key:
            raise _invalid("Empty and deleted keys cannot be equal")
        self._buckets = buckets
        self._load = max_load_factor
        self._deleted: dict[Hashable, Any] = {}  # what deleted buckets still hold

    def _check_options(
        self, empty_key: np.ndarray, deleted_key: np.ndarray | None, buckets: int, load: float
    ) -> None:
        if not 0 < load < 1:
            raise _invalid(f"max_load_factor must be between 0 and 1, got: {load:g}")
        if buckets < 4 or buckets & (buckets - 1):
            raise _invalid(f"Number of buckets must be at least 4 and a power of 2, got: {buckets}")
        if empty_key.ndim > 1:
            raise _invalid(
                f"Empty key must be a scalar or a vector, got shape {_sizes(empty_key.shape)}"
            )
        if deleted_key is not None and deleted_key.shape != empty_key.shape:
            raise _invalid(
                "Empty and deleted keys must have same shape, got shapes: "
                f"{_sizes(empty_key.shape)} and {_sizes(deleted_key.shape)}"
            )

    def _keys(self, keys: np.ndarray) -> list[Any]:
        if not self.key_shape:
            return super()._keys(keys)
        return [tuple(key) for key in keys.reshape(-1, *self.key_shape).tolist()]

    def _checked(self, keys: np.ndarray) -> None:
        given = self._keys(keys)
        for reserved, name in ((self._empty_key, "empty"), (self._deleted_key, "deleted")):
            if reserved is not None and reserved in given:
                raise _invalid(f"Using the {name}_key as a table key is not allowed")

    def _outer_shape(self, keys: np.ndarray) -> tuple[int, ...]:
        """Keys come one in a row, unlike those of other tables."""
        outer = super()._outer_shape(keys)
        if math.prod(outer[1:]) != 1:
            wanted = (*keys.shape[:1], *self.key_shape)
            raise _invalid(f"Expected key shape {_sizes(wanted)} got {_sizes(keys.shape)}")
        return outer

    def find(self, keys: np.ndarray, default: np.ndarray) -> np.ndarray:
        self._outer_shape(keys)
        self._checked(keys)
        return super().find(keys, default)

    def insert(self, keys: np.ndarray, values: np.ndarray) -> None:
        self._outer_shape(keys)
        self._checked(keys)
        self._check_values(keys, values)
        with self.lock:
            self._grow_for(len(self._entries) + len(self._keys(keys)))
            super().insert(keys, values)
            for key in self._keys(keys):
                self._deleted.pop(key, None)

    def _grow_for(self, entries: int) -> None:
        if entries <= self._buckets * self._load:
            return
        while entries > self._buckets * self._load:
            self._buckets *= 2
        self._deleted.clear()  # they are not moved to the new buckets

    def remove(self, keys: np.ndarray) -> None:
        if self._deleted_key is None:
            raise errors.UnimplementedError(None, None, "this table has no deleted_key")
        self._outer_shape(keys)
        self._checked(keys)
        with self.lock:
            for key in self._keys(keys):
                if key in self._entries:
                    self._deleted[key] = self._entries.pop(key)

    def replace(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Takes an export: an entry for each bucket; empty and deleted ones are left out."""
        given = self._keys(keys)
        unused = (self._empty_key, self._deleted_key)
        kept = [i for i, key in enumerate(given) if key not in unused]
        rows = keys.reshape(len(given), *self.key_shape)[kept]
        with self.lock:
            self._entries.clear()
            self._deleted.clear()
            self._buckets = max(4, 1 << (len(given) - 1).bit_length())
            self.insert(rows, values.reshape(len(given), *self.value_shape)[kept])

    def export(self) -> tuple[np.ndarray, np.ndarray]:
        with self.lock:
            empty = self._buckets - len(self._entries) - len(self._deleted)
            keys = [
                *self._entries,
                *[self._deleted_key] * len(self._deleted),
                *[self._empty_key] * empty,
            ]
            values = [*self._entries.values(), *self._deleted.values()]
        width = self.key_shape or (1,)
        depth = self.value_shape or (1,)
        filled = _array(values, self.value_dtype, (len(values), *depth))
        nothing: Any = b"" if self.value_dtype is dtypes.string else 0
        padding = np.full((empty, *depth), nothing, dtype=filled.dtype)
        return (
            _array(keys, self.key_dtype, (len(keys), *width)),
            np.concatenate([filled, padding]),
        )
