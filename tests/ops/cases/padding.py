"""Tensors with a border added."""

from tests.ops.case import Case, array, bools, c64, f16, f32, f64, i32, i64

_I32, _I64 = "int32", "int64"
_BORDERS = array([[1, 0], [2, 1]], _I32)
_REFLECT, _SYMMETRIC = {"mode": "REFLECT"}, {"mode": "SYMMETRIC"}

CASES = [
    Case("Pad", (f64(2, 3), _BORDERS)),
    Case("Pad", (f16(2), array([[0, 2]], _I64))),
    Case("Pad", (bools(2), array([[1, 1]], _I32))),
    Case("Pad", (f32(0, 2), array([[1, 1], [0, 0]], _I32)), label="empty"),
    Case("Pad", (f32(), array([], _I32).reshape(0, 2)), label="scalar"),
    Case("Pad", (f32(2, 3), array([[1, 1]], _I32)), label="too few", fails=True),
    Case("Pad", (f32(2), array([[-1, 1]], _I32)), label="negative", fails=True),
    Case("PadV2", (f64(2, 3), _BORDERS, f64()), grad=(0,)),
    Case("PadV2", (i64(0, 9, 2), array([[1, 2]], _I32), array(7, _I64))),
    Case("PadV2", (c64(2), array([[1, 0]], _I32), array(1 + 2j, "complex64")), grad=(0,)),
    Case("PadV2", (f32(2), array([[1, 0]], _I32), f32(1)), label="vector value", fails=True),
    Case("MirrorPad", (f64(2, 3), _BORDERS), _REFLECT),
    Case("MirrorPad", (f64(2, 3), _BORDERS), _SYMMETRIC, label="symmetric"),
    Case("MirrorPad", (i32(0, 9, 3), array([[2, 2]], _I64)), _REFLECT),
    Case("MirrorPad", (f32(2), array([[2, 2]], _I32)), _SYMMETRIC, label="whole"),
    Case("MirrorPad", (f32(2), array([[0, 0]], _I32)), _SYMMETRIC, label="nothing"),
    Case(
        "MirrorPad", (f32(2), array([[2, 0]], _I32)), _REFLECT, label="reflect too far", fails=True
    ),
    Case("MirrorPad", (f32(2), array([[3, 0]], _I32)), _SYMMETRIC, label="too far", fails=True),
    Case("MirrorPadGrad", (f64(3, 6), _BORDERS), _REFLECT),
    Case("MirrorPadGrad", (f64(3, 6), _BORDERS), _SYMMETRIC, label="symmetric"),
    Case("MirrorPadGrad", (f32(5), array([[1, 2]], _I64)), _SYMMETRIC, label="overlapping"),
    Case("MirrorPadGrad", (f32(5), array([[1, 2]], _I32)), _REFLECT, label="too far", fails=True),
]
