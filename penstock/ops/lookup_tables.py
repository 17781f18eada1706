"""Op types of lookup tables, and their initialization. `tf.lookup` has the classes of tables."""

from __future__ import annotations

from typing import Any

from penstock.ir.collections import GraphKeys
from penstock.ir.operation import Operation
from penstock.ir.registry import READS, STATEFUL, WRITES, OpSpec, attr, not_differentiable, op
from penstock.ops.control import get_collection, group, no_op
from penstock.ops.shape_checks import merge_shapes, with_rank
from penstock.shapes import Shape

__all__ = ["initialize_all_tables", "tables_initializer"]

_NAMED: dict[str, Any] = {"container": "", "shared_name": "", "use_node_name_sharing": False}
_TYPES: dict[str, Any] = {"key_dtype": attr("type"), "value_dtype": attr("type")}
_SHAPED: dict[str, Any] = {**_TYPES, "value_shape": attr("shape", ())}
_DENSE: dict[str, Any] = {
    "value_dtype": attr("type"),
    "value_shape": attr("shape", ()),
    "initial_num_buckets": 131072,
    "max_load_factor": 0.8,
}

HashTable = op("HashTable() -> table_handle: &string", STATEFUL, **_NAMED, **_TYPES)
HashTableV2 = op("HashTableV2() -> table_handle: resource", STATEFUL, **_NAMED, **_TYPES)
AnonymousHashTable = op("AnonymousHashTable() -> table_handle: resource", STATEFUL, **_TYPES)
MutableHashTable = op("MutableHashTable() -> table_handle: &string", STATEFUL, **_NAMED, **_TYPES)
MutableHashTableV2 = op(
    "MutableHashTableV2() -> table_handle: resource", STATEFUL, **_NAMED, **_TYPES
)
MutableHashTableOfTensors = op(
    "MutableHashTableOfTensors() -> table_handle: &string", STATEFUL, **_NAMED, **_SHAPED
)
MutableHashTableOfTensorsV2 = op(
    "MutableHashTableOfTensorsV2() -> table_handle: resource", STATEFUL, **_NAMED, **_SHAPED
)
MutableDenseHashTable = op(
    "MutableDenseHashTable(empty_key: key_dtype) -> table_handle: &string",
    STATEFUL,
    **_NAMED,
    **_DENSE,
)
MutableDenseHashTableV2 = op(
    "MutableDenseHashTableV2(empty_key: key_dtype, deleted_key: key_dtype) "
    "-> table_handle: resource",
    STATEFUL,
    **_NAMED,
    **_DENSE,
)

_TEXT: dict[str, Any] = {
    "key_index": attr("int", minimum=-2),
    "value_index": attr("int", minimum=-2),
    "vocab_size": attr("int", -1, minimum=-1),
    "delimiter": "\t",
    "offset": 0,
}

InitializeTable = op("InitializeTable(table_handle: &string, keys: Tkey, values: Tval)", WRITES)
InitializeTableV2 = op(
    "InitializeTableV2(table_handle: resource, keys: Tkey, values: Tval)", STATEFUL, WRITES
)
InitializeTableFromTextFile = op(
    "InitializeTableFromTextFile(table_handle: &string, filename: string)", WRITES, **_TEXT
)
InitializeTableFromTextFileV2 = op(
    "InitializeTableFromTextFileV2(table_handle: resource, filename: string)",
    STATEFUL,
    WRITES,
    **_TEXT,
)
LookupTableFind = op(
    "LookupTableFind(table_handle: &string, keys: Tin, default_value: Tout) -> values: Tout", READS
)
LookupTableFindV2 = op(
    "LookupTableFindV2(table_handle: resource, keys: Tin, default_value: Tout) -> values: Tout",
    STATEFUL,
    READS,
)
LookupTableInsert = op("LookupTableInsert(table_handle: &string, keys: Tin, values: Tout)", WRITES)
LookupTableInsertV2 = op(
    "LookupTableInsertV2(table_handle: resource, keys: Tin, values: Tout)", STATEFUL, WRITES
)
LookupTableRemoveV2 = op("LookupTableRemoveV2(table_handle: resource, keys: Tin)", STATEFUL, WRITES)
LookupTableSize = op("LookupTableSize(table_handle: &string) -> size: int64", READS)
LookupTableSizeV2 = op("LookupTableSizeV2(table_handle: resource) -> size: int64", STATEFUL, READS)
LookupTableExport = op(
    "LookupTableExport(table_handle: &string) -> keys: Tkeys, values: Tvalues", READS
)
LookupTableExportV2 = op(
    "LookupTableExportV2(table_handle: resource) -> keys: Tkeys, values: Tvalues", STATEFUL, READS
)
LookupTableImport = op("LookupTableImport(table_handle: &string, keys: Tin, values: Tout)", WRITES)
LookupTableImportV2 = op(
    "LookupTableImportV2(table_handle: resource, keys: Tin, values: Tout)", STATEFUL, WRITES
)

_MAKING = (
    HashTable,
    HashTableV2,
    AnonymousHashTable,
    MutableHashTable,
    MutableHashTableV2,
    MutableHashTableOfTensors,
    MutableHashTableOfTensorsV2,
    MutableDenseHashTable,
    MutableDenseHashTableV2,
)
not_differentiable(
    *_MAKING,
    InitializeTable,
    InitializeTableV2,
    InitializeTableFromTextFile,
    InitializeTableFromTextFileV2,
    LookupTableFind,
    LookupTableFindV2,
    LookupTableInsert,
    LookupTableInsertV2,
    LookupTableRemoveV2,
    LookupTableSize,
    LookupTableSizeV2,
    LookupTableExport,
    LookupTableExportV2,
    LookupTableImport,
    LookupTableImportV2,
)


def _makes_handle(spec: OpSpec) -> None:
    """A handle is a scalar; the old kind is a pair of strings."""
    shape: Shape = (2,) if spec.outputs[0].is_ref else ()
    spec.shape(lambda op, *inputs: shape)


for _spec in _MAKING:
    _makes_handle(_spec)


@InitializeTable.shape
@InitializeTableV2.shape
def _(op: Any, table: Shape, keys: Shape, values: Shape) -> list[Shape]:
    merge_shapes(with_rank(keys, 1), with_rank(values, 1))
    return []


@InitializeTableFromTextFile.shape
@InitializeTableFromTextFileV2.shape
def _(op: Any, table: Shape, filename: Shape) -> list[Shape]:
    with_rank(filename, 0)
    return []


@LookupTableFind.shape
@LookupTableFindV2.shape
def _(op: Any, table: Shape, keys: Shape, default: Shape) -> Shape:
    """As the keys, with the shape of a value in place of that of a key.

    Only the node that makes the table says what those are.
    """
    maker = op.inputs[0]._op
    if maker.spec not in _MAKING or keys is None:
        return None
    value_shape = maker.attrs.get("value_shape", ())
    key_shape = maker.inputs[0]._shape if maker.inputs else ()
    if value_shape is None or key_shape is None or len(key_shape) > len(keys):
        return None
    return (*keys[: len(keys) - len(key_shape)], *value_shape)


@LookupTableSize.shape
@LookupTableSizeV2.shape
def _(op: Any, table: Shape) -> Shape:
    return ()


@LookupTableExport.shape
@LookupTableExportV2.shape
def _(op: Any, table: Shape) -> list[Shape]:
    maker = op.inputs[0]._op
    if maker.spec not in _MAKING or maker.inputs:  # a dense table exports keys as a matrix
        return [None, None]
    value_shape = maker.attrs.get("value_shape", ())
    return [(None,), None if value_shape is None else (None, *value_shape)]


@LookupTableImport.shape
@LookupTableImportV2.shape
def _(op: Any, table: Shape, keys: Shape, values: Shape) -> list[Shape]:
    if keys and values:
        merge_shapes(keys[:1], values[:1])
    return []


def tables_initializer(name: str = "init_all_tables") -> Operation:
    """An operation that initializes all tables of the default graph."""
    initializers = get_collection(GraphKeys.TABLE_INITIALIZERS)
    return group(*initializers, name=name) if initializers else no_op(name=name)


def initialize_all_tables(name: str = "init_all_tables") -> Operation:
    """`tables_initializer` by its old name."""
    return tables_initializer(name)
