"""Choosing between two tensors."""

from tests.ops.case import Case, array, bools, c64, f32, f64, i32, ints, strings

CASES: list[Case] = []
for op in ("Select", "SelectV2"):
    CASES += [
        Case(op, (bools(2, 3), f32(2, 3), f32(2, 3))),
        Case(op, (bools(2, 3), f64(2, 3), f64(2, 3)), label="float64"),
        Case(op, (bools(5), i32(0, 9, 5), i32(0, 9, 5)), label="int32"),
        Case(op, (bools(5), ints("uint64", 0, 9, 5), ints("uint64", 0, 9, 5)), label="uint64"),
        Case(op, (bools(5), bools(5), bools(5)), label="bool"),
        Case(op, (bools(5), c64(5), c64(5)), label="complex64"),
        Case(
            op,
            (array([True, False], "bool"), strings("a", "b"), strings("c", "d")),
            label="strings",
        ),
        Case(op, (array(True, "bool"), f32(2, 3), f32(2, 3)), label="scalar condition"),
        Case(op, (bools(0), f32(0), f32(0)), label="empty"),
        Case(op, (bools(2), f32(2), f32(3)), label="shapes", fails=True),
    ]
CASES += [
    Case("Select", (bools(3), f64(3, 2, 2), f64(3, 2, 2)), label="rows"),
    Case("Select", (bools(2), f32(3, 2), f32(3, 2)), label="wrong rows", fails=True),
    Case("Select", (bools(2, 1), f32(2, 3), f32(2, 3)), label="no broadcast", fails=True),
    Case("SelectV2", (bools(3, 1), f64(4), f64()), label="broadcast"),
    Case("SelectV2", (bools(4), f64(3, 1), f64(3, 4)), label="broadcast more"),
    Case(
        "SelectV2",
        (array([True, False], "bool"), strings("a"), strings("c", "d")),
        label="strings broadcast",
    ),
]
