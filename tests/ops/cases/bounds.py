"""Bounds in sorted rows, and flat indices as coordinates."""

from tests.ops.case import Case, array, i32, i64

ROWS = array([[1, 3, 3, 5], [-2, 0, 7, 9]], "float32")
VALUES = array([[0, 1, 3, 4, 9], [-2, -3, 7, 8, 9]], "float32")

CASES = [
    *(
        case
        for name in ("LowerBound", "UpperBound")
        for case in (
            Case(name, (ROWS, VALUES)),
            Case(name, (ROWS, VALUES), {"out_type": "int64"}, label="wide"),
            Case(name, (ROWS.astype("int32"), VALUES.astype("int32")), label="integers"),
            Case(name, (ROWS[:, :0], VALUES), label="empty rows"),
            Case(name, (ROWS, VALUES[:, :0]), label="no values"),
            Case(name, (ROWS, VALUES[:1]), label="rows differ", fails=True),
            Case(name, (ROWS[0], VALUES), label="rank one", fails=True),
        )
    ),
    Case("UnravelIndex", (i32(0, 24, 5), array([2, 3, 4], "int32"))),
    Case("UnravelIndex", (array(7, "int64"), array([2, 3, 4], "int64")), label="a scalar"),
    Case("UnravelIndex", (i64(0, 6, 3), array([6], "int64")), label="one dimension"),
    Case("UnravelIndex", (array([24], "int32"), array([2, 3, 4], "int32")), fails=True),
    Case("UnravelIndex", (array([0], "int32"), array([2, 0], "int32")), label="zero", fails=True),
    Case("UnravelIndex", (i32(0, 2, 2, 2), array([2, 3], "int32")), label="matrix", fails=True),
    Case("UnravelIndex", (i32(0, 2, 2), array([[2, 3]], "int32")), label="dims", fails=True),
]
