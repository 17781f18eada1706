"""Arithmetic on two tensors that broadcast."""

from tests.ops.case import (
    Case,
    array,
    c64,
    c128,
    f32,
    f64,
    floats,
    i32,
    ints,
    strings,
)

NAN, INF = float("nan"), float("inf")
FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
SHAPES = [
    ((2, 3), (3,)),
    ((3,), (2, 3)),
    ((2, 3), ()),
    ((2, 1, 3), (4, 1)),
    ((1, 3), (1,)),
    ((0, 3), (1, 3)),
    ((1,), ()),
]
ALL_NUMBERS = ("AddV2", "Sub", "Mul", "Div")
COMPLEX = (*ALL_NUMBERS, "Add", "MulNoNan", "DivNoNan", "RealDiv", "SquaredDifference", "Pow")

CASES: list[Case] = []


def operands(dtype: str) -> tuple:
    return floats(dtype, 2, 3, lo=0.5, hi=3), floats(dtype, 2, 3, lo=0.5, hi=3)


for op in (*COMPLEX, "FloorDiv", "TruncateDiv", "FloorMod", "Maximum", "Minimum"):
    CASES += [Case(op, operands(dtype), label=dtype) for dtype in FLOATS]
    CASES.append(Case(op, (f32(2), f32(3)), label="shapes", fails=True))
    for n, (x, y) in enumerate(SHAPES):
        pair = f64(*x, lo=0.5, hi=3), f64(*y, lo=0.5, hi=3)
        CASES.append(Case(op, pair, label=f"broadcast {n}", numeric=op != "FloorMod"))
for op in COMPLEX:
    CASES += [
        Case(op, (c64(2, 3), c64(2, 3)), label="complex64", rtol=1e-4),
        Case(op, (c128(2, 3), c128(3)), label="complex128"),
    ]
for op in ("AddV2", "Sub", "Mul", "Maximum", "Minimum", "Add"):
    CASES += [Case(op, (ints(t, -9, 9, 4), ints(t, -9, 9, 4)), label=t) for t in INTEGERS]
for op in ("AddV2", "Sub", "Mul", "Maximum", "Minimum"):
    CASES += [Case(op, (ints(t, 0, 9, 4), ints(t, 0, 9, 4)), label=t) for t in UNSIGNED]
for op in ("Div", "FloorDiv", "TruncateDiv", "FloorMod"):
    for dtype in (*INTEGERS, *UNSIGNED):
        signed = dtype in INTEGERS
        pair = ints(dtype, -9 if signed else 0, 9, 6), ints(dtype, 1, 5, 6)
        CASES.append(Case(op, pair, label=dtype))
    CASES += [
        Case(op, (array([7, -7, 7, -7], "int32"), array([2, 2, -2, -2], "int32")), label="signs"),
        Case(op, (array([1, 2], "int32"), array([1, 0], "int32")), label="by zero", fails=True),
        Case(op, (array([-(2**31), 5], "int32"), array([-1, -1], "int32")), label="lowest"),
        Case(op, (array([-(2**63), 5], "int64"), array(-1, "int64")), label="lowest long"),
    ]
for op in ("Mod", "TruncateMod"):
    CASES += [
        Case(op, (array([1, 2], "int32"), array([1, 0], "int32")), label="by zero", fails=True),
        Case(op, (array([7, -7, 7, -7], "int32"), array([2, 2, -2, -2], "int32")), label="signs"),
        Case(op, (array([7, -7], "int64"), array(3, "int64")), label="int64"),
        Case(op, (f32(2, 3), f32(2, 3)), label="float32", grad=False),
        Case(op, (f64(2, 3), f64(3)), label="float64", grad=False),
    ]

ODD = [NAN, 1.0, NAN, INF, -INF, 0.0, -0.0, INF]
OTHER = [1.0, NAN, NAN, INF, INF, 0.0, 0.0, 0.0]
for op in ("AddV2", "Sub", "Mul", "RealDiv", "MulNoNan", "DivNoNan", "Maximum", "Minimum"):
    CASES.append(
        Case(op, (array(ODD, "float32"), array(OTHER, "float32")), label="odd", grad=False)
    )
QUOTIENTS = [1.0, -1.0, 5.0, INF, 1.0, -1.0]
DIVISORS = [0.1, 0.3, 0.0, 2.0, INF, INF]
for op in ("FloorDiv", "FloorMod"):
    pair = array(QUOTIENTS, "float32"), array(DIVISORS, "float32")
    CASES.append(Case(op, pair, label="odd", grad=False))

CASES += [
    Case("Add", (strings("a", "b"), strings("c", "")), label="strings"),
    Case("AddV2", (array([2**31 - 1], "int32"), array([1], "int32")), label="overflow"),
    Case("Mul", (array([200], "uint8"), array([2], "uint8")), label="overflow"),
    Case("AddV2", (array([2**64 - 1], "uint64"), array([1], "uint64")), label="overflow long"),
    Case("Maximum", (array([2**64 - 1], "uint64"), array([1], "uint64")), label="high"),
    Case("AddN", ([f32(2, 3)],), label="one"),
    Case("AddN", ([f32(2, 3), f32(2, 3)],), label="two"),
    Case("AddN", ([f64(3), f64(3), f64(3), f64(3)],), label="four"),
    Case("AddN", ([i32(-9, 9, 3), i32(-9, 9, 3)],), label="int32"),
    Case("AddN", ([ints("uint32", 0, 9, 3), ints("uint32", 0, 9, 3)],), label="uint32"),
    Case("AddN", ([c64(3), c64(3)],), label="complex64"),
    Case("AddN", ([f32(0), f32(0)],), label="empty"),
    Case("AddN", ([f32(2), f32(3)],), label="shapes", fails=True),
    Case(
        "AccumulateNV2",
        ([array([1, 2], "float32"), array([3, 4], "float32")],),
        {"shape": [2]},
        expected=(array([4, 6], "float32"),),
    ),
    Case("Pow", (array([-2, 0, 0, 2], "float32"), array([3, 0, 1, 0], "float32")), label="zeros"),
    Case(
        "Pow", (array([-2.0, 0.0], "float32"), array([0.5, -1], "float32")), label="odd", grad=False
    ),
    Case("Pow", (f64(2, 3, lo=0.5, hi=2), array(2.0, "float64")), label="square"),
    Case("Pow", (f64(2, 3, lo=0.5, hi=2), array(-0.5, "float64")), label="root"),
    Case("Pow", (array(2.0, "float64"), f64(2, 3)), label="of two"),
    Case("SquaredDifference", (i32(-9, 9, 3), i32(-9, 9, 3)), label="int32"),
]
CASES.append(
    Case("Pow", (i32(1, 4, 2), array([1, -1], "int32")), label="negative power", fails=True)
)
for dtype in INTEGERS:
    CASES.append(Case("Pow", (ints(dtype, -3, 4, 5), ints(dtype, 0, 4, 5)), label=dtype))
