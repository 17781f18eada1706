"""Values written to positions of a tensor."""

from tests.ops.case import (
    Case,
    array,
    bf16,
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
_ROWS = array([[1], [3], [1]], _I32)
_CELLS = array([[0, 1], [2, 0]], _I64)
_OUTSIDE = array([[4]], _I32)

CASES = [
    Case("ScatterNd", (_ROWS, f64(3), array([5], _I32))),
    Case("ScatterNd", (_ROWS, f32(3, 2), array([5, 2], _I32))),
    Case("ScatterNd", (_CELLS, f64(2, 2), array([3, 2, 2], _I64))),
    Case("ScatterNd", (_ROWS, bf16(3), array([5], _I32))),
    Case("ScatterNd", (_ROWS, ints("uint16", 0, 9, 3), array([5], _I32))),
    Case("ScatterNd", (_ROWS, array([True, False, False], "bool"), array([5], _I32)), label="bool"),
    Case("ScatterNd", (_ROWS, strings("a", "b", "c"), array([5], _I32)), label="strings"),
    Case("ScatterNd", (_OUTSIDE, f32(1), array([4], _I32)), label="outside", fails=True),
    Case("ScatterNd", (_ROWS, f32(2), array([5], _I32)), label="too few updates", fails=True),
    Case("ScatterNd", (_ROWS, f32(3, 2), array([5], _I32)), label="too wide", fails=True),
    Case("TensorScatterUpdate", (f64(4), array([[2], [0]], _I32), f64(2))),
    Case("TensorScatterUpdate", (f32(3, 2, 2), _CELLS, f32(2, 2))),
    Case("TensorScatterUpdate", (i64(0, 9, 4), array([[2]], _I32), i64(0, 9, 1))),
    Case(
        "TensorScatterUpdate",
        (ints("uint32", 0, 9, 4), array([[2]], _I32), ints("uint32", 0, 9, 1)),
    ),
    Case(
        "TensorScatterUpdate",
        (strings("a", "b", "c"), array([[2]], _I32), strings("z")),
        label="strings",
    ),
    Case("TensorScatterUpdate", (f32(4), _OUTSIDE, f32(1)), label="outside", fails=True),
    Case(
        "TensorScatterUpdate", (f32(4, 2), array([[1]], _I32), f32(1, 3)), label="wide", fails=True
    ),
    Case("TensorScatterAdd", (f64(4), _ROWS, f64(3))),
    Case("TensorScatterAdd", (c64(3, 2), _CELLS, c64(2))),
    Case("TensorScatterAdd", (i32(0, 9, 4), _ROWS, i32(0, 9, 3))),
    Case("TensorScatterSub", (f64(4), _ROWS, f64(3))),
    Case("TensorScatterSub", (f16(3, 2), _CELLS, f16(2))),
    Case("TensorScatterMin", (f64(4), array([[1], [3]], _I32), f64(2))),
    Case("TensorScatterMin", (i32(0, 9, 4), _ROWS, i32(0, 9, 3))),
    Case("TensorScatterMax", (f64(4, 2), array([[1], [3]], _I32), f64(2, 2))),
    Case("TensorScatterMax", (f32(3, 2), _CELLS, f32(2))),
    Case("TensorScatterMax", (f32(4), array([[-1]], _I32), f32(1)), label="negative", fails=True),
    Case("ScatterNdNonAliasingAdd", (f64(4), _ROWS, f64(3))),
    Case("ScatterNdNonAliasingAdd", (i64(0, 9, 3, 2), _CELLS, i64(0, 9, 2))),
]
