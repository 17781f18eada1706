"""Masks."""

from tests.ops.case import Case, array, bools, c64, f32, i32, ints

CASES = [
    Case("Where", (bools(3, 4),)),
    Case("Where", (array([0, 2.5, float("nan")], "float32"),), label="floats", grad=False),
    Case("Where", (i32(0, 2, 2, 2, 2),)),
    Case("Where", (ints("uint16", 0, 2, 5),)),
    Case("Where", (c64(2),), grad=False),
    Case("Where", (f32(0, 3),), label="empty", grad=False),
    Case("Where", (array(True, "bool"),), label="scalar", fails=True),
]
