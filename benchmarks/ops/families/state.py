"""Variables: assignments, scatters, and tables and arrays that a step keeps."""

from typing import Any

import numpy as np

from benchmarks.ops.trial import Family, Trial, alike, side, takes
from tests.ops.case import Made, Ref, Resource, array, f32, i32

_COLUMNS = 50


def _variable(kind: type, n: int) -> Any:
    return kind(f32(n // _COLUMNS, _COLUMNS, lo=0.9, hi=1.1))


def _numbers(n: int) -> np.ndarray:
    """Half of a variable's rows, in no order."""
    count = n // _COLUMNS
    return np.random.RandomState(0).permutation(count)[: count // 2].astype("int32")


def _rows(n: int) -> np.ndarray:
    """Updates by which a variable is multiplied without end, so ones."""
    return np.ones((n // _COLUMNS // 2, _COLUMNS), "float32")


def _scattered(kind: type, n: int) -> Trial:
    return takes(_variable(kind, n), _numbers(n), _rows(n))


def _scattered_nd(kind: type, n: int) -> Trial:
    return takes(_variable(kind, n), _numbers(n)[:, None], _rows(n))


def _assigned(kind: type, n: int) -> Trial:
    return takes(kind(f32(n)), f32(n) * np.float32(1e-3))


def _slice(n: int) -> tuple[np.ndarray, ...]:
    edge = side(n)
    bounds = (
        array([1, 0], "int32"),
        array([edge - 1, edge], "int32"),
        array([2, 1], "int32"),
    )
    return (*bounds, f32((edge - 1) // 2, edge))


def _table(op_type: str = "MutableHashTableV2") -> Made:
    attrs = {"key_dtype": "int64", "value_dtype": "float32", "shared_name": "table"}
    return Made(op_type, (), attrs)


def _keys(n: int) -> np.ndarray:
    return np.random.RandomState(0).permutation(n).astype("int64")


def _found(make: str, fill: str, n: int) -> Trial:
    table, values = _table(make), f32(n)
    filled = Made(fill, (table, _keys(n), values))
    return takes(table, _keys(n), array(0, "float32"), before=(filled,))


def _array(count: int) -> Made:
    attrs = {"dtype": "float32", "clear_after_read": False}
    return Made("TensorArrayV3", (array(count, "int32"),), attrs)


def _written(made: Made, value: np.ndarray) -> Made:
    places = np.arange(len(value), dtype="int32")
    return Made("TensorArrayScatterV3", (made[0], places, value, made[1]))


def _read(n: int, *index: np.ndarray) -> Trial:
    made = _array(20)
    return takes(made[0], *index, _written(made, f32(20, n // 20)), dtype="float32")


def _write(n: int) -> Trial:
    made = _array(1)
    return takes(made[0], array(0, "int32"), f32(n), made[1])


def _scatter(n: int) -> Trial:
    made = _array(20)
    return takes(made[0], np.arange(20, dtype="int32"), f32(20, n // 20), made[1])


def _split(n: int) -> Trial:
    made = _array(20)
    return takes(made[0], f32(n // 20 * 20), np.full(20, n // 20, "int64"), made[1])


FAMILY: Family = {
    **alike("Assign AssignAdd AssignSub", lambda n: _assigned(Ref, n)),
    **alike(
        "AssignVariableOp AssignAddVariableOp AssignSubVariableOp",
        lambda n: _assigned(Resource, n),
    ),
    **alike(
        "ScatterAdd ScatterDiv ScatterMax ScatterMin ScatterMul ScatterSub ScatterUpdate",
        lambda n: _scattered(Ref, n),
    ),
    **alike(
        "ScatterNdAdd ScatterNdMax ScatterNdMin ScatterNdSub ScatterNdUpdate",
        lambda n: _scattered_nd(Ref, n),
    ),
    **alike(
        "ResourceScatterAdd ResourceScatterDiv ResourceScatterMax ResourceScatterMin "
        "ResourceScatterMul ResourceScatterSub ResourceScatterUpdate",
        lambda n: _scattered(Resource, n),
    ),
    **alike(
        "ResourceScatterNdAdd ResourceScatterNdMax ResourceScatterNdMin ResourceScatterNdSub "
        "ResourceScatterNdUpdate",
        lambda n: _scattered_nd(Resource, n),
    ),
    "ReadVariableOp": lambda n: takes(Resource(f32(n)), dtype="float32"),
    "VariableShape": lambda n: takes(Resource(f32(n))),
    "VarIsInitializedOp": lambda n: takes(Resource(f32(n))),
    "IsVariableInitialized": lambda n: takes(Ref(f32(n))),
    "ResourceGather": lambda n: takes(
        _variable(Resource, n), i32(0, n // _COLUMNS, n // _COLUMNS), dtype="float32"
    ),
    "ResourceGatherNd": lambda n: takes(
        _variable(Resource, n), i32(0, n // _COLUMNS, n // _COLUMNS, 1), dtype="float32"
    ),
    "StridedSliceAssign": lambda n: takes(Ref(f32(side(n), side(n))), *_slice(n)),
    "ResourceStridedSliceAssign": lambda n: takes(Resource(f32(side(n), side(n))), *_slice(n)),
    "LookupTableFindV2": lambda n: _found("HashTableV2", "InitializeTableV2", n),
    "LookupTableFind": lambda n: _found("HashTable", "InitializeTable", n),
    **alike("LookupTableInsertV2 LookupTableImportV2", lambda n: takes(_table(), _keys(n), f32(n))),
    **alike(
        "LookupTableInsert LookupTableImport",
        lambda n: takes(_table("MutableHashTable"), _keys(n), f32(n)),
    ),
    "LookupTableExportV2": lambda n: takes(
        _table(),
        before=(Made("LookupTableInsertV2", (_table(), _keys(n), f32(n))),),
        Tkeys="int64",
        Tvalues="float32",
    ),
    "TensorArrayReadV3": lambda n: _read(n, array(3, "int32")),
    "TensorArrayGatherV3": lambda n: _read(n, np.arange(20, dtype="int32")),
    "TensorArrayConcatV3": _read,
    "TensorArrayWriteV3": _write,
    "TensorArrayScatterV3": _scatter,
    "TensorArraySplitV3": _split,
}
