"""Comparisons and logic."""

from tests.ops.case import Case, array, bools, c64, f32, f64, ints, strings

NAN, INF = float("nan"), float("inf")
REAL = (
    "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64"
).split()
ORDER = ("Less", "LessEqual", "Greater", "GreaterEqual")

CASES: list[Case] = []
for op in (*ORDER, "Equal", "NotEqual"):
    for dtype in REAL:
        CASES.append(
            Case(
                op,
                (
                    ints("int64", 0, 3, 8).astype(array(0, dtype).dtype),
                    ints("int64", 0, 3, 8).astype(array(0, dtype).dtype),
                ),
                label=dtype,
            )
        )
    CASES += [
        Case(op, (f32(2, 1), f32(3)), label="broadcast"),
        Case(op, (f32(0), f32()), label="empty"),
        Case(
            op,
            (array([NAN, 1, NAN, INF], "float32"), array([1, NAN, NAN, INF], "float32")),
            label="odd",
        ),
        Case(op, (array([2**63 + 5, 1], "uint64"), array([1, 2**63 + 5], "uint64")), label="high"),
        Case(op, (f32(2), f32(3)), label="shapes", fails=True),
    ]
for op in ("Equal", "NotEqual"):
    CASES += [
        Case(op, (bools(5), bools(5)), label="bool"),
        Case(op, (c64(2), c64(2)), label="complex64"),
        Case(op, (strings("a", "b", ""), strings("a", "c", "")), label="strings"),
        Case(op, (strings("a", "b"), strings("b")), label="strings broadcast"),
        Case(op, (f32(2), f32(3)), {"incompatible_shape_error": False}, label="lenient"),
        Case(op, (f32(2), f32(2)), {"incompatible_shape_error": False}, label="lenient equal"),
    ]
for op in ("LogicalAnd", "LogicalOr"):
    CASES += [
        Case(op, (bools(4, 1), bools(5))),
        Case(op, (bools(2), bools(3)), label="shapes", fails=True),
    ]
CASES += [
    Case("LogicalNot", (bools(2, 3),)),
    Case("LogicalNot", (bools(0),), label="empty"),
    Case("ApproximateEqual", (array([1, 2], "float32"), array([1.000001, 2.1], "float32"))),
    Case(
        "ApproximateEqual",
        (array([1, 2], "float64"), array([1.5, 2.1], "float64")),
        {"tolerance": 0.2},
    ),
    Case("ApproximateEqual", (f64(2), f64(3)), label="shapes", fails=True),
]
