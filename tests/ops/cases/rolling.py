"""Rolled tensors."""

import numpy as np

from tests.ops.case import Case, array, bf16, bools, c64, f64, i32, ints, strings

_I32, _I64 = "int32", "int64"
_ONE = array(1, _I32)

CASES = [
    Case("Roll", (f64(5), array(2, _I32), array(0, _I32)), grad=(0,)),
    Case("Roll", (i32(0, 9, 3, 4), array([1, -2], _I64), array([0, 1], _I64))),
    Case(
        "Roll", (c64(2, 3, 4), array([7, 1], _I32), array([-1, -1], _I64)), label="twice", grad=(0,)
    ),
    Case("Roll", (strings("a", "b", "c"), _ONE, array(0, _I32)), label="strings"),
    Case("Roll", (bools(4), _ONE, array(0, _I32)), label="bools"),
    Case("Roll", (bf16(2, 2), _ONE, _ONE), label="narrow", grad=(0,)),
    Case("Roll", (ints("uint16", 0, 9, 4), _ONE, array(0, _I32)), label="unsigned"),
    Case("Roll", (np.zeros((0, 3)), _ONE, array(0, _I32)), label="empty", grad=(0,)),
    Case("Roll", (f64(3), _ONE, _ONE), label="axis outside", fails=True),
    Case("Roll", (f64(3), array([1, 2], _I32), _ONE), label="other counts", fails=True),
    Case("Roll", (array(1, "float64"), _ONE, array(0, _I32)), label="scalar", fails=True),
    Case(
        "Roll", (f64(3), array([[1]], _I32), array(0, _I32)), label="matrix of shifts", fails=True
    ),
]
