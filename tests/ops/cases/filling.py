"""Tensors made from numbers: filled with one value, counted up, or one-hot."""

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
    ints,
    string,
    strings,
    u8,
)

_I32, _I64 = "int32", "int64"


def _range(start: float, limit: float, delta: float, dtype: str) -> tuple:
    return array(start, dtype), array(limit, dtype), array(delta, dtype)


def _space(start: float, stop: float, num: int, dtype: str) -> tuple:
    return array(start, dtype), array(stop, dtype), array(num, _I32)


CASES = [
    Case("Fill", (array([2, 3], _I32), string("ab")), label="strings"),
    Case("Fill", (array([2], _I32), array(True, "bool")), label="bool"),
    Case("Fill", (array([2], _I64), array(7, "uint32")), label="uint32"),
    Case("Fill", (array([], _I32), f32()), label="scalar"),
    Case("Fill", (array([2, 0], _I32), f32()), label="empty"),
    Case("Fill", (array([[2]], _I32), f32()), label="matrix as shape", fails=True),
    Case("Fill", (array([2], _I32), f32(1)), label="vector as value", fails=True),
    Case("Empty", (array([2, 3], _I32),), {"dtype": "float32", "init": True}),
    Case("Empty", (array([2], _I32),), {"dtype": "int64"}, "anything", shape_only=True),
    Case("Empty", (array([2], _I32),), {"dtype": "string", "init": True}, label="strings"),
    Case("ZerosLike", (f64(2, 3),)),
    Case("ZerosLike", (bools(3),)),
    Case("ZerosLike", (bf16(3),)),
    Case("ZerosLike", (strings("a", "b"),), label="strings"),
    Case("OnesLike", (f64(2, 3),)),
    Case("OnesLike", (bools(3),)),
    Case("OnesLike", (c64(3),)),
    Case("OnesLike", (ints("uint16", 0, 9, 3),)),
    Case("Range", _range(0, 5, 1, _I32)),
    Case("Range", _range(1, 10, 3, _I64)),
    Case("Range", _range(7, -3, -4, _I32)),
    Case("Range", _range(2, 2, 1, _I32), label="empty"),
    Case("Range", _range(0, 1, 0.125, "float32"), grad=False),
    Case("Range", _range(0, 1, 0.1, "float32"), label="inexact", grad=False),
    Case("Range", _range(1, -1, -0.25, "float64"), grad=False),
    Case("Range", _range(0, 4, 1, "bfloat16"), grad=False),
    Case(
        "Range", _range(3, 9, 2, "uint16"), label="uint16", expected=(array([3, 5, 7], "uint16"),)
    ),
    Case("Range", _range(2**31 - 5, 2**31 - 1, 3, _I32), label="to the end of its type"),
    Case("Range", _range(0, 5, 0, _I32), label="no step", fails=True),
    Case("Range", _range(5, 0, 1, _I32), label="wrong direction", fails=True),
    Case("Range", _range(0, 5, -1, _I64), label="wrong direction down", fails=True),
    Case("LinSpace", _space(0, 1, 5, "float32"), grad=False),
    Case("LinSpace", _space(3, -2, 7, "float64"), grad=False),
    Case("LinSpace", _space(2, 9, 1, "float32"), label="one", grad=False),
    Case("LinSpace", _space(-1, 1, 4, "float32"), grad=False),
    Case("LinSpace", _space(0, 1, 0, "float32"), label="none", fails=True),
    Case("OneHot", (i32(0, 4, 3), array(4, _I32), f32(), f32()), grad=False),
    Case(
        "OneHot",
        (
            array([[0, 2, -1], [5, 1, 2]], _I64),
            array(3, _I32),
            array(1, "float64"),
            array(0, "float64"),
        ),
        label="indices outside",
        grad=False,
    ),
    Case(
        "OneHot",
        (u8(0, 3, 2, 2), array(3, _I32), array(7, _I32), array(-1, _I32)),
        {"axis": 0},
        label="first axis",
    ),
    Case(
        "OneHot",
        (i32(0, 3, 2, 2), array(3, _I32), array(True, "bool"), array(False, "bool")),
        {"axis": 1},
        label="middle axis",
    ),
    Case("OneHot", (array(1, _I32), array(3, _I32), f16(), f16()), label="scalar", grad=False),
    Case("OneHot", (i32(0, 2, 3), array(2, _I32), string("on"), string("off")), label="strings"),
    Case("OneHot", (i32(0, 2, 3), array(0, _I32), f32(), f32()), label="no depth", grad=False),
    Case("OneHot", (i32(0, 2, 3), array(-1, _I32), f32(), f32()), label="negative", fails=True),
    Case("OneHot", (i32(0, 2, 3), array(2, _I32), f32(), f32()), {"axis": 2}, "axis", fails=True),
]
