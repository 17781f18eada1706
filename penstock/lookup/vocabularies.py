"""Tables made of a vocabulary: from words to their numbers and back."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.lookup.buckets import FastHashSpec, IdTableWithHashBuckets
from penstock.lookup.initializers import (
    KeyValueTensorInitializer,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileStringTableInitializer,
)
from penstock.lookup.tables import LookupInterface, StaticHashTable
from penstock.ops.casts import cast
from penstock.ops.filling import range as count
from penstock.ops.shaping import size


def index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    key_dtype: Any = dtypes.string,
    name: str | None = None,
    key_column_index: int = TextFileIndex.WHOLE_LINE,
    value_column_index: int = TextFileIndex.LINE_NUMBER,
    delimiter: str = "\t",
) -> LookupInterface:
    """A table from the words of a file to their line numbers.

    Unknown words get `default_value`, or by their hash one of `num_oov_buckets` further ids.
    """
    _check_file(vocabulary_file)
    if num_oov_buckets < 0:
        raise ValueError(f"num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}.")
    if vocab_size is not None and vocab_size < 1:
        file = vocabulary_file
        if isinstance(file, Tensor):
            known = constant_value(file)
            file = "?" if known is None else known.item()
        raise ValueError(
            f"vocab_size must be greater than 0, got {vocab_size}. vocabulary_file: {file}"
        )
    key_dtype = dtypes.as_dtype(key_dtype)
    _check_key_type(key_dtype)
    with name_scope(name, "string_to_index"):
        with name_scope(None, "hash_table"):
            initializer = TextFileIdTableInitializer(
                vocabulary_file,
                vocab_size=vocab_size,
                key_dtype=dtypes.int64 if key_dtype.is_integer else key_dtype,
                name="table_init",
                key_column_index=key_column_index,
                value_column_index=value_column_index,
                delimiter=delimiter,
            )
            table = StaticHashTable(initializer, default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, key_dtype)


def index_table_from_tensor(
    vocabulary_list: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    dtype: Any = dtypes.string,
    name: str | None = None,
) -> LookupInterface:
    """A table from the words of a vector to their positions."""
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified.")
    if num_oov_buckets < 0:
        raise ValueError(f"num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}.")
    dtype = dtypes.as_dtype(dtype)
    _check_key_type(dtype)
    with name_scope(name, "string_to_index"):
        keys = convert_to_tensor(vocabulary_list)
        if keys.dtype.is_integer != dtype.is_integer:
            wanted = "integer" if dtype.is_integer else "non-integer"
            raise ValueError(f"Expected {wanted}, got {keys.dtype}.")
        if not dtype.is_integer and keys.dtype.base_dtype is not dtype:
            raise ValueError(f"Expected {dtype}, got {keys.dtype}.")
        positions = cast(count(size(keys)), dtypes.int64)
        with name_scope(None, "hash_table"):
            if keys.dtype.is_integer:
                keys = cast(keys, dtypes.int64)
            initializer = KeyValueTensorInitializer(
                keys, positions, keys.dtype.base_dtype, dtypes.int64, name="table_init"
            )
            table = StaticHashTable(initializer, default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, dtype)


def _check_file(vocabulary_file: Any) -> None:
    if vocabulary_file is None or (isinstance(vocabulary_file, str) and not vocabulary_file):
        raise ValueError("vocabulary_file must be specified and must not be empty.")


def _check_key_type(dtype: Any) -> None:
    if not dtype.is_integer and dtype.base_dtype is not dtypes.string:
        raise TypeError(f"Only integer and string keys are supported, got {dtype}.")


def _with_buckets(
    table: StaticHashTable, num_oov_buckets: int, hasher_spec: Any, key_dtype: Any
) -> LookupInterface:
    if not num_oov_buckets:
        return table
    return IdTableWithHashBuckets(
        table, num_oov_buckets=num_oov_buckets, hasher_spec=hasher_spec, key_dtype=key_dtype
    )


def index_to_string_table_from_file(
    vocabulary_file: Any,
    vocab_size: int | None = None,
    default_value: Any = "UNK",
    name: str | None = None,
    key_column_index: int = TextFileIndex.LINE_NUMBER,
    value_column_index: int = TextFileIndex.WHOLE_LINE,
    delimiter: str = "\t",
) -> StaticHashTable:
    """A table from line numbers of a file to its words."""
    _check_file(vocabulary_file)
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"vocab_size must be greater than 0, got {vocab_size}.")
    with name_scope(name, "index_to_string"):
        initializer = TextFileStringTableInitializer(
            vocabulary_file,
            vocab_size=vocab_size,
            name="table_init",
            key_column_index=key_column_index,
            value_column_index=value_column_index,
            delimiter=delimiter,
        )
        return StaticHashTable(initializer, default_value)


def index_to_string_table_from_tensor(
    vocabulary_list: Any, default_value: Any = "UNK", name: str | None = None
) -> StaticHashTable:
    """A table from the positions in a vector of words to the words."""
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified.")
    with name_scope(name, "index_to_string"):
        words = convert_to_tensor(vocabulary_list, dtypes.string)
        positions = cast(count(size(words)), dtypes.int64)
        initializer = KeyValueTensorInitializer(
            positions, words, dtypes.int64, dtypes.string, name="table_init"
        )
        return StaticHashTable(initializer, default_value)
