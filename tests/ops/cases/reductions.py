"""Reductions over axes."""

from tests.ops.case import Case, array, bools, c64, c128, f32, f64, floats, i32, ints

NAN, INF = float("nan"), float("inf")
FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
NUMBERS = ("Sum", "Mean", "Prod", "EuclideanNorm")
EXTREMES = ("Max", "Min")
AXES = [[0], [1], [0, 1], [1, 0], [-1], [], [0, 2], [2, 1, 0], 1, -2]


def index(value: object, dtype: str = "int32") -> object:
    return array(value, dtype)


CASES: list[Case] = []
for op in (*NUMBERS, *EXTREMES):
    for dtype in FLOATS:
        CASES.append(Case(op, (floats(dtype, 2, 3, lo=0.5, hi=1.5), index([1])), label=dtype))
    for dtype in INTEGERS:
        CASES.append(Case(op, (ints(dtype, 0, 5, 3, 2), index([0])), label=dtype))
    for n, axes in enumerate(AXES):
        CASES.append(Case(op, (f64(2, 3, 2), index(axes)), label=f"axes {n}"))
    CASES += [
        Case(op, (f64(2, 3, 2), index([0, 2])), {"keep_dims": True}, label="kept"),
        Case(op, (f64(2, 3, 2), index([0, 1, 2])), {"keep_dims": True}, label="all kept"),
        Case(op, (f32(2, 3), index([1], "int64")), label="long axes"),
        Case(op, (f32(), index([])), label="scalar"),
        Case(op, (f32(0, 3), index([0])), label="of nothing", grad=False),
        Case(op, (f32(0, 3), index([1])), label="empty", grad=False),
        Case(op, (f32(2, 3), index([2])), label="bad axis", fails=True),
        Case(op, (f32(2, 3), index([-3])), label="bad negative axis", fails=True),
        Case(op, (f32(2, 3), index([[0]])), label="matrix of axes", fails=True),
        Case(
            op,
            (array([[1, NAN, 2], [INF, -INF, 1]], "float32"), index([1])),
            label="odd",
            grad=False,
        ),
    ]
for op in NUMBERS:
    CASES += [
        Case(op, (c64(2, 3), index([1])), label="complex64", grad=op in ("Sum", "Mean") or False),
        Case(
            op,
            (c128(2, 3), index([0, 1])),
            label="complex128",
            grad=None if op in ("Sum", "Mean") else False,
        ),
    ]
CASES[:] = [case for case in CASES if case.grad is not True]
CASES += [
    Case("Sum", (array([100, 100, 100], "int8"), index([0])), label="overflow"),
    Case("Mean", (array([100, 100, 101], "int8"), index([0])), label="no overflow"),
    Case("Mean", (array([-1, -2, -2], "int32"), index([0])), label="towards zero"),
    Case("Mean", (i32(0, 9, 0, 2), index([0])), label="of no integers"),
    Case("Max", (i32(0, 9, 0, 2), index([0])), label="of no integers"),
    Case(
        "Max", (array([[1, 3, 3], [2, 2, 2]], "float64"), index([1])), label="ties", numeric=False
    ),
    Case("Min", (array([2**63 + 1, 5, 2**64 - 1], "uint64"), index([0])), label="high"),
    Case("Prod", (array([[1, 0, 2], [0, 0, 3]], "float64"), index([1])), label="zeros"),
]
for op in ("All", "Any"):
    CASES += [
        Case(op, (bools(3, 4), index([1]))),
        Case(op, (bools(3, 4), index([0, 1])), label="all axes"),
        Case(op, (bools(3, 4), index([0])), {"keep_dims": True}, label="kept"),
        Case(op, (bools(3), index([])), label="no axes"),
        Case(op, (bools(0, 2), index([0])), label="of nothing"),
        Case(op, (bools(3), index([1])), label="bad axis", fails=True),
    ]
for op in ("ArgMax", "ArgMin"):
    for dtype in (*FLOATS, *INTEGERS):
        source = ints("int64", 0, 9, 3, 4).astype(array(0, dtype).dtype)
        CASES.append(Case(op, (source, index(1)), label=dtype))
    CASES += [
        Case(op, (f32(3, 4), index(0)), {"output_type": "int32"}, label="int32 index"),
        Case(op, (f32(3, 4), index(-1)), label="last axis"),
        Case(op, (f32(3, 4), index(1, "int64")), label="long axis"),
        Case(op, (array([1, 2, 2, 0, 0], "float32"), index(0)), label="ties"),
        Case(op, (bools(3, 4), index(1)), label="bool"),
        Case(op, (f32(2, 0), index(0)), label="empty"),
        Case(op, (f32(0, 2), index(0)), label="of nothing", fails=True),
        Case(op, (f32(2, 3), index(2)), label="bad axis", fails=True),
    ]
