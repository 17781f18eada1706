"""Rows of a tensor replaced, or added to."""

from tests.ops.case import Case, array, bools, f32, f64, i32

ROWS = array([2, 0, -1], "int32")
CASES: list[Case] = []
for name in ("Update", "Add", "Sub"):
    op = f"Inplace{name}"
    CASES += [
        Case(op, (f32(4, 3), ROWS, f32(3, 3))),
        Case(op, (f64(4), ROWS, f64(3))),
        Case(op, (i32(0, 9, 4, 2, 2), ROWS, i32(0, 9, 3, 2, 2))),
        Case(op, (f32(4, 3), array([1, 1], "int32"), f32(2, 3)), label="twice"),
        Case(op, (f32(4, 3), array([], "int32"), f32(0, 3)), label="none"),
        Case(op, (f32(4, 3), ROWS, f32(2, 3)), label="count", fails=True),
        Case(op, (f32(4, 3), ROWS, f32(3, 2)), label="columns", fails=True),
        Case(op, (f32(4, 3), array([[1]], "int32"), f32(1, 3)), label="matrix", fails=True),
    ]
CASES += [
    Case("InplaceUpdate", (bools(3), array([1], "int32"), bools(1)), label="bool"),
    Case("DeepCopy", (f32(2, 3),)),
    Case("DeepCopy", (i32(0, 9, 0),)),
]
