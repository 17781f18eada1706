"""Kernels of lookup tables: finding or making the table, filling it, asking it."""

import torch

from penstock import dtypes, errors
from penstock.kernels.queues import place_of
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.sparse_rows import invalid
from penstock.kernels.values import from_array, to_array
from penstock.kernels.vocabulary_files import read_vocabulary
from penstock.state.tables import DenseTable, LookupTable, MutableTable, StaticTable

_NUMBERS = ("float32", "float64", "int32")
_FOR_INT32 = {("int32", value) for value in _NUMBERS}
_FOR_INT64 = {("int64", value) for value in (*_NUMBERS, "int64")}
_FOR_STRING = {("string", value) for value in (*_NUMBERS, "int64", "bool")}
_NUMERIC_PAIRS = _FOR_INT32 | _FOR_INT64 | _FOR_STRING
# The key and value types that TensorFlow has tables for.
_STATIC = _NUMERIC_PAIRS | {("int32", "string"), ("int64", "string"), ("string", "string")}
_MUTABLE = _NUMERIC_PAIRS | {("int64", "string")}
_DENSE = _NUMERIC_PAIRS | {("int64", "bool")}


def _check_types(node, pairs):
    key, value = node.attrs["key_dtype"], node.attrs["value_dtype"]
    if (key.name, value.name) not in pairs:
        known = ", ".join(f"{k} -> {v}" for k, v in sorted(pairs))
        raise invalid(
            f"No OpKernel was registered to support Op '{node.type}' with key_dtype={key.name} and "
            f"value_dtype={value.name}. Registered kernels: {known}"
        )


def _find_or_make(node, env, make):
    """The function that gives the table of a node, which may live under a shared name."""
    resources, name = place_of(node, env)
    if node.attrs["use_node_name_sharing"]:
        resources = env.resources
    container = node.attrs["container"]
    key, value = node.attrs["key_dtype"], node.attrs["value_dtype"]

    def find(*inputs):
        table = resources.get_or_create(LookupTable, container, name, lambda: make(name, *inputs))
        if table.key_dtype is not key or table.value_dtype is not value:
            raise invalid(
                f"Conflicting key/value dtypes {key.name}->{value.name} with "
                f"{table.key_dtype.name}-{table.value_dtype.name} for table {name}"
            )
        return table

    return find


@kernel("HashTable", "HashTableV2", devices=HOST)
def _(node, env):
    _check_types(node, _STATIC)
    key, value = node.attrs["key_dtype"], node.attrs["value_dtype"]
    return _find_or_make(node, env, lambda name: StaticTable(name, key, value))


@kernel("AnonymousHashTable", devices=HOST)
def _(node):
    _check_types(node, _STATIC)
    key, value = node.attrs["key_dtype"], node.attrs["value_dtype"]
    return lambda: StaticTable(node.name, key, value)


@kernel("MutableHashTable", "MutableHashTableV2", devices=HOST)
def _(node, env):
    _check_types(node, _MUTABLE)
    key, value = node.attrs["key_dtype"], node.attrs["value_dtype"]
    return _find_or_make(node, env, lambda name: MutableTable(name, key, value))


@kernel("MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", devices=HOST)
def _(node, env):
    _check_types(node, _MUTABLE)
    key, value = node.attrs["key_dtype"], node.attrs["value_dtype"]
    shape = node.attrs["value_shape"]
    if shape is None or len(shape) != 1:
        raise invalid(f"Default value must be a vector, got shape {list(shape or ())}")
    return _find_or_make(node, env, lambda name: MutableTable(name, key, value, tuple(shape)))


@kernel("MutableDenseHashTable", "MutableDenseHashTableV2", devices=HOST)
def _(node, env):
    _check_types(node, _DENSE)
    attrs = node.attrs

    def make(name, empty_key, deleted_key=None):
        return DenseTable(
            name,
            attrs["value_dtype"],
            tuple(attrs["value_shape"] or ()),
            empty_key=to_array(empty_key).copy(),
            deleted_key=None if deleted_key is None else to_array(deleted_key).copy(),
            key_dtype=attrs["key_dtype"],
            buckets=attrs["initial_num_buckets"],
            max_load_factor=attrs["max_load_factor"],
        )

    return _find_or_make(node, env, make)


# Filling and asking ---------------------------------------------------------------------------


def _check_signature(table, handle, keys, values, *, gives=False):
    """Refuses keys and values of other types than the table's."""
    if keys is table.key_dtype and values in (None, table.value_dtype):
        return

    def signature(key, value):
        result = value.name if gives else ""
        given = [handle, key.name] if value is None else [handle, key.name, value.name]
        return f"{', '.join(given)}->{result}"

    expected = signature(table.key_dtype, None if values is None else table.value_dtype)
    raise invalid(f"Signature mismatch, have: {signature(keys, values)} expected: {expected}")


def _handle_name(node):
    return "string_ref" if node.inputs[0].dtype is not dtypes.resource else "resource"


def _filling(op_types, method):
    """Registers ops that hand keys and values to a method of the table."""

    @kernel(*op_types, devices=HOST)
    def _(node):
        handle = _handle_name(node)
        key, value = node.inputs[1].dtype.base_dtype, node.inputs[2].dtype.base_dtype

        def run(table, keys, values):
            _check_signature(table, handle, key, value)
            getattr(table, method)(to_array(keys), to_array(values))

        return run


_filling(("InitializeTable", "InitializeTableV2"), "initialize")
_filling(("LookupTableInsert", "LookupTableInsertV2"), "insert")
_filling(("LookupTableImport", "LookupTableImportV2"), "replace")


@kernel("LookupTableRemoveV2", devices=HOST)
def _(node):
    handle, key = _handle_name(node), node.inputs[1].dtype.base_dtype

    def run(table, keys):
        _check_signature(table, handle, key, None)
        table.remove(to_array(keys))

    return run


@kernel("LookupTableFind", "LookupTableFindV2", devices=HOST, fresh=True)
def _(node):
    handle = _handle_name(node)
    key, value = node.inputs[1].dtype.base_dtype, node.inputs[2].dtype.base_dtype

    def run(table, keys, default):
        _check_signature(table, handle, key, value, gives=True)
        return from_array(table.find(to_array(keys), to_array(default)))

    return run


@kernel("LookupTableSize", "LookupTableSizeV2", devices=HOST, fresh=True)
def _(node):
    return lambda table: torch.tensor(table.size())


@kernel("LookupTableExport", "LookupTableExportV2", devices=HOST, fresh=True)
def _(node):
    key, value = node.attrs["Tkeys"], node.attrs["Tvalues"]

    def run(table):
        if table.key_dtype is not key or table.value_dtype is not value:
            raise invalid(
                f"Signature mismatch, the table holds {table.key_dtype.name} -> "
                f"{table.value_dtype.name}, and is exported as {key.name} -> {value.name}"
            )
        return [from_array(part) for part in table.export()]

    return run


@kernel("InitializeTableFromTextFile", "InitializeTableFromTextFileV2", devices=HOST)
def _(node):
    attrs = node.attrs

    def run(table, filename):
        if not isinstance(table, StaticTable):
            raise errors.InvalidArgumentError(
                None, None, f"Table {table.name} is not initializable"
            )
        if table.is_initialized:
            return
        keys, values = read_vocabulary(
            filename[()],
            table.key_dtype,
            table.value_dtype,
            key_index=attrs["key_index"],
            value_index=attrs["value_index"],
            vocab_size=attrs["vocab_size"],
            delimiter=attrs["delimiter"],
            offset=attrs["offset"],
        )
        table.initialize(keys, values)

    return run
