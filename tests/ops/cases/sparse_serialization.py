"""Sparse tensors packed into strings, and put aside in a map."""

from typing import Any

import numpy as np

from tests.ops.case import Case, Made, array, bools, f32, f64, i64, strings


def ix(values: Any) -> Any:
    """Numbers of int64: indices, shapes."""
    return array(values, "int64")


ROWS = ix([[0, 1], [1, 0], [1, 2], [3, 1]])
SIZES = ix([4, 3])
WORDS = strings("a", "", "c" * 200, "d")
NONE = i64(0, 1, 0, 2)


def _packed(values: Any, op: str = "SerializeSparse", shape: Any = SIZES) -> Made:
    return Made(op, (ROWS, values, shape))


def _added(values: Any, rows: Any = ROWS, shape: Any = SIZES) -> Made:
    op = "AddManySparseToTensorsMap"
    return Made(op, (rows, values, shape), {"shared_name": "shared"})


CASES = [
    Case("SerializeSparse", (ROWS, f32(4), SIZES)),
    Case("SerializeSparse", (ROWS, WORDS, SIZES), label="strings"),
    Case("SerializeSparse", (ROWS, bools(4), SIZES), label="bools"),
    Case("SerializeSparse", (NONE, f64(0), SIZES), label="empty"),
    Case("SerializeManySparse", (ROWS, f32(4), SIZES)),
    Case("SerializeManySparse", (ROWS, WORDS, SIZES), label="strings"),
    Case("SerializeManySparse", (NONE, f32(0), SIZES), label="empty"),
    Case("SerializeManySparse", (ROWS, f32(4), ix([3, 3])), label="row outside", fails=True),
    Case("SerializeManySparse", (ix([[0]]), f32(1), ix([2])), label="vector", fails=True),
    *[
        Case("DeserializeSparse", (_packed(values),), {"dtype": dtype}, label=dtype)
        for dtype, values in (
            ("float32", f32(4)),
            ("string", WORDS),
            ("bool", bools(4)),
            ("int64", i64(0, 9, 4)),
        )
    ],
    Case(
        "DeserializeSparse",
        (_packed(f32(4), "SerializeManySparse"),),
        {"dtype": "float32"},
        label="batch",
    ),
    Case(
        "DeserializeSparse",
        (Made("Pack", ([_packed(f32(4)), _packed(f32(4), shape=ix([9, 9]))],)),),
        {"dtype": "float32"},
        label="shapes differ",
    ),
    Case("DeserializeSparse", (_packed(f32(4)),), {"dtype": "int64"}, label="type", fails=True),
    Case("DeserializeSparse", (strings("a", "b", "c"),), {"dtype": "int64"}, label="x", fails=True),
    Case("DeserializeSparse", (strings("a", "b"),), {"dtype": "int64"}, label="two", fails=True),
    Case("DeserializeManySparse", (_packed(WORDS, "SerializeManySparse"),), {"dtype": "string"}),
    Case(
        "DeserializeManySparse",
        (_packed(f32(4)),),
        {"dtype": "float32"},
        label="vector",
        fails=True,
    ),
    Case("AddSparseToTensorsMap", (ROWS, f32(4), SIZES)),
    Case("AddSparseToTensorsMap", (ROWS, f32(3), SIZES), label="too few values", fails=True),
    Case("AddManySparseToTensorsMap", (ROWS, f32(4), SIZES), shape_only=True),
    Case("AddManySparseToTensorsMap", (NONE, strings("a")[:0], SIZES), label="strings"),
    Case("AddManySparseToTensorsMap", (ROWS, f32(4), ix([2, 3])), label="outside", fails=True),
    Case(
        "TakeManySparseFromTensorsMap",
        (_added(f32(4)),),
        {"dtype": "float32", "shared_name": "shared"},
    ),
    Case(
        "TakeManySparseFromTensorsMap",
        (_added(WORDS),),
        {"dtype": "string", "shared_name": "shared"},
        label="strings",
    ),
    Case(
        "TakeManySparseFromTensorsMap",
        (_added(f32(4)),),
        {"dtype": "int64", "shared_name": "shared"},
        label="type",
        fails=True,
    ),
    Case(
        "TakeManySparseFromTensorsMap",
        (np.array([7], np.int64),),
        {"dtype": "int64", "shared_name": "shared"},
        label="unknown handle",
        fails=True,
    ),
]
