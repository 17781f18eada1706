"""Slices taken from a tensor by their indices."""

from tests.ops.case import (
    Case,
    array,
    bf16,
    bools,
    c64,
    f16,
    f32,
    f64,
    i32,
    i64,
    ints,
    strings,
)

_I32, _I64 = "int32", "int64"
_ZERO, _ONE = array(0, _I32), array(1, _I32)

CASES = [
    Case("Gather", (f64(4, 2), i32(0, 4, 5))),
    Case("Gather", (f32(4), i64(0, 4, 2, 2))),
    Case("Gather", (strings("a", "b"), array([1, 0], _I32)), label="strings"),
    Case("Gather", (f32(4, 2), array([4], _I32)), label="outside", fails=True),
    Case("GatherV2", (f64(4, 2), i32(0, 4, 5), _ZERO)),
    Case("GatherV2", (f32(4, 2), i64(0, 4, 3, 2), _ZERO)),
    Case("GatherV2", (f32(4, 2, 3), i32(0, 4, 2), _ZERO)),
    Case("GatherV2", (f32(4), array(2, _I32), _ZERO), label="scalar index"),
    Case("GatherV2", (f64(3, 4, 2), i32(0, 4, 3), _ONE)),
    Case("GatherV2", (f32(3, 4), i32(0, 4, 2, 2), array(-1, _I64))),
    Case("GatherV2", (bf16(4, 2), i32(0, 4, 3), _ZERO)),
    Case("GatherV2", (ints("uint32", 0, 9, 4), i32(0, 4, 3), _ZERO)),
    Case("GatherV2", (bools(4, 2), ints("int16", 0, 4, 3), _ZERO), label="int16 indices"),
    Case("GatherV2", (c64(4, 2), array([], _I32), _ZERO), label="no indices"),
    Case("GatherV2", (f32(3, 0), array([1, 1], _I32), _ZERO), label="empty rows"),
    Case("GatherV2", (f64(2, 4), i32(0, 4, 2, 3), _ONE), {"batch_dims": 1}, "batch"),
    Case("GatherV2", (f64(2, 3, 4), i32(0, 4, 2, 2), array(2, _I32)), {"batch_dims": 1}, "batch 2"),
    Case(
        "GatherV2", (f32(2, 4, 3), i64(0, 4, 2), _ONE), {"batch_dims": -1}, "negative", fails=True
    ),
    Case("GatherV2", (f32(2, 4, 3), i64(0, 4, 2), _ONE), {"batch_dims": 1}, "batch scalars"),
    Case("GatherV2", (strings(["a", "b"], ["c", "d"]), array([1], _I32), _ONE), label="strings"),
    Case("GatherV2", (f32(4, 2), array([0, 4], _I32), _ZERO), label="outside", fails=True),
    Case("GatherV2", (f32(4), array([-1], _I32), _ZERO), label="negative index", fails=True),
    Case("GatherV2", (f32(4, 2), array([2], _I32), _ONE), label="outside axis", fails=True),
    Case("GatherV2", (f32(4), i32(0, 4, 2), _ONE), label="no such axis", fails=True),
    Case("GatherV2", (f32(), array([0], _I32), _ZERO), label="scalar", fails=True),
    Case(
        "GatherV2",
        (f32(2, 4), array([[1], [4]], _I32), _ONE),
        {"batch_dims": 1},
        "outside batch",
        fails=True,
    ),
    Case("GatherNd", (f64(3, 4, 2), array([[0, 1], [2, 3], [0, 1]], _I32))),
    Case("GatherNd", (f64(3, 2), array([[2], [0]], _I64)), label="rows"),
    Case("GatherNd", (f16(3, 2), array([1, 1], _I32)), label="one element"),
    Case("GatherNd", (f32(3, 2), array([[], []], _I32)), label="whole tensors"),
    Case("GatherNd", (bools(3, 2), i32(0, 2, 2, 2, 2)), label="bool"),
    Case("GatherNd", (f32(3, 2), array([], _I32).reshape(0, 2)), label="no indices"),
    Case("GatherNd", (strings(["a", "b"], ["c", "d"]), array([[1, 0]], _I32)), label="strings"),
    Case("GatherNd", (f32(3, 2), array([[0, 2]], _I32)), label="outside", fails=True),
    Case("GatherNd", (f32(3, 2), array([[-1]], _I32)), label="negative", fails=True),
    Case("GatherNd", (f32(3), array([[0, 0]], _I32)), label="too deep", fails=True),
]
