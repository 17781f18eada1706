"""Reductions of rows by segment."""

from tests.ops.case import Case, array, c64, f32, f64, floats, i32, ints

NUMBERS = ("Sum", "Mean", "Prod", "Max", "Min")
TYPES = ("float16 bfloat16 float32 int8 int16 int32 int64 uint8 uint16 uint32 uint64").split()
IDS = array([0, 0, 2, 3], "int32")
ANY_IDS = array([2, 0, 2, 0], "int32")

CASES: list[Case] = []
for name in NUMBERS:
    op = f"Segment{name}"
    for dtype in TYPES:
        data = ints("int64", 1, 9, 4, 2).astype(array(0, dtype).dtype)
        CASES.append(Case(op, (data, IDS), label=dtype))
    CASES += [
        Case(op, (f64(4, 3), IDS), label="float64"),
        Case(op, (f64(4), array([0, 1, 1, 1], "int64")), label="vector"),
        Case(op, (f32(0, 3), array([], "int32")), label="empty"),
        Case(op, (f32(3), array([0, 2, 1], "int32")), label="not sorted", fails=True),
        Case(op, (f32(3), array([-1, 0, 1], "int32")), label="negative", fails=True),
        Case(op, (f32(3), array([0, 1], "int32")), label="lengths", fails=True),
        Case(op, (f32(2, 2), array([[0, 1]], "int32")), label="matrix of ids", fails=True),
    ]
CASES += [
    Case("SegmentSum", (c64(4), IDS), label="complex64"),
    Case(
        "SegmentProd",
        (array([0.0, 2, 0, 0, 3], "float64"), array([0, 0, 1, 1, 1], "int32")),
        label="zeros",
    ),
    Case(
        "SegmentMax",
        (array([2.0, 2, 1], "float64"), array([0, 0, 0], "int32")),
        label="ties",
        numeric=False,
    ),
]
for name in ("Sum", "Prod", "Max", "Min"):
    op = f"UnsortedSegment{name}"
    for dtype in TYPES:
        data = ints("int64", 1, 9, 4, 2).astype(array(0, dtype).dtype)
        CASES.append(Case(op, (data, ANY_IDS, array(4, "int32")), label=dtype))
    CASES += [
        # A segment without rows holds the lowest or highest number.
        Case(
            op,
            (f64(4, 3), ANY_IDS, array(3, "int64")),
            label="float64",
            numeric=name in ("Sum", "Prod"),
        ),
        Case(
            op,
            (f64(2, 2, 3), array([[1, 0], [1, 1]], "int64"), array(2, "int32")),
            label="matrix of ids",
        ),
        Case(op, (f64(2, 2), array([[1, 0], [1, 1]], "int32"), array(2, "int32")), label="numbers"),
        Case(
            op,
            (f64(4, 3), array([2, -1, 2, 0], "int32"), array(3, "int32")),
            label="negative",
            numeric=name in ("Sum", "Prod"),
        ),
        Case(op, (f32(0, 3), array([], "int32"), array(2, "int32")), label="empty"),
        Case(op, (f32(3), array([0, 5, 1], "int32"), array(3, "int32")), label="large", fails=True),
        Case(op, (f32(3), array([0, 1], "int32"), array(3, "int32")), label="lengths", fails=True),
        Case(
            op, (f32(3), array([0, 1, 0], "int32"), array(-1, "int32")), label="count", fails=True
        ),
    ]
CASES += [
    Case("UnsortedSegmentSum", (c64(4), ANY_IDS, array(3, "int32")), label="complex64"),
    Case(
        "UnsortedSegmentSum",
        (f32(4), array([2, 0, 2, 0], "int16"), array(3, "int32")),
        label="short ids",
    ),
    Case(
        "UnsortedSegmentProd",
        (array([0.0, 2, 0, 0, 3], "float64"), array([1, 1, 0, 0, 0], "int32"), array(2, "int32")),
        label="zeros",
        grad=False,
    ),
    Case(
        "UnsortedSegmentMax",
        (floats("float64", 3), i32(0, 1, 3), array(1, "int32")),
        label="one segment",
    ),
]
