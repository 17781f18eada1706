"""`tf.contrib.lookup`: tables, and how to make them of vocabularies."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.lookup import vocabularies
from penstock.lookup.buckets import (
    FastHashSpec,
    HasherSpec,
    IdTableWithHashBuckets,
    StrongHashSpec,
)
from penstock.lookup.initializers import (
    KeyValueTensorInitializer,
    TableInitializerBase,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileInitializer,
    TextFileStringTableInitializer,
)
from penstock.lookup.mutable import DenseHashTable as MutableDenseHashTable
from penstock.lookup.mutable import MutableHashTable
from penstock.lookup.tables import (
    InitializableLookupTableBase,
    LookupInterface,
    StaticHashTable,
)
from penstock.lookup.vocabularies import index_table_from_file, index_to_string_table_from_file

__all__ = [
    "FastHashSpec",
    "HashTable",
    "HasherSpec",
    "IdTableWithHashBuckets",
    "InitializableLookupTableBase",
    "KeyValueTensorInitializer",
    "LookupInterface",
    "MutableDenseHashTable",
    "MutableHashTable",
    "StrongHashSpec",
    "TableInitializerBase",
    "TextFileIdTableInitializer",
    "TextFileIndex",
    "TextFileInitializer",
    "TextFileStringTableInitializer",
    "index_table_from_file",
    "index_table_from_tensor",
    "index_to_string",
    "index_to_string_table_from_file",
    "index_to_string_table_from_tensor",
    "string_to_index",
    "string_to_index_table_from_file",
    "string_to_index_table_from_tensor",
]

#: TensorFlow has the module `lookup_ops` in here, whose names are these.
__path__: list[str] = []


class HashTable(StaticHashTable):
    """`tf.lookup.StaticHashTable` with a name to share it by."""

    def __init__(
        self,
        initializer: TableInitializerBase,
        default_value: Any,
        shared_name: str | None = None,
        name: str | None = None,
    ):
        self._set_up(initializer, default_value, shared_name, name)


def index_table_from_tensor(
    mapping: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    dtype: Any = dtypes.string,
    name: str | None = None,
) -> LookupInterface:
    """A table from the words of a vector to their positions."""
    if mapping is None:
        raise ValueError("mapping must be specified.")
    return vocabularies.index_table_from_tensor(
        mapping, num_oov_buckets, default_value, hasher_spec, dtype, name
    )


def index_to_string_table_from_tensor(
    mapping: Any, default_value: Any = "UNK", name: str | None = None
) -> StaticHashTable:
    """A table from the positions in a vector of words to the words."""
    if mapping is None:
        raise ValueError("mapping must be specified.")
    return vocabularies.index_to_string_table_from_tensor(mapping, default_value, name)


def string_to_index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    name: str | None = None,
) -> LookupInterface:
    """A table from the words of a file to their line numbers."""
    return index_table_from_file(
        vocabulary_file, num_oov_buckets, vocab_size, default_value, hasher_spec, name=name
    )


def string_to_index_table_from_tensor(
    mapping: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    name: str | None = None,
) -> LookupInterface:
    """A table from the strings of a vector to their positions."""
    with name_scope(name, "string_to_index") as scope:
        mapping = convert_to_tensor(mapping)
    if mapping.dtype.base_dtype is not dtypes.string:
        raise ValueError("string_to_index_table_from_tensor requires string.")
    return index_table_from_tensor(mapping, num_oov_buckets, default_value, hasher_spec, name=scope)


def string_to_index(
    tensor: Any, mapping: Any, default_value: int = -1, name: str | None = None
) -> Any:
    """The positions of strings in a vector of words."""
    return index_table_from_tensor(mapping, default_value=default_value, name=name).lookup(tensor)


def index_to_string(
    tensor: Any, mapping: Any, default_value: Any = "UNK", name: str | None = None
) -> Any:
    """The words at positions in a vector of words."""
    return index_to_string_table_from_tensor(mapping, default_value, name).lookup(tensor)
