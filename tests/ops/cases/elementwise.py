"""Functions of one tensor: signs, powers, exponentials, rounding."""

from tests.ops.case import Case, array, bf16, c64, c128, f16, f32, f64, floats, ints

NAN, INF = float("nan"), float("inf")
ODD = [NAN, INF, -INF, 0.0, -0.0, 1e-30, 3e38]
INTEGERS = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
# Of numbers above 0, where all of them are smooth.
ON_POSITIVE = (
    "Abs Neg Reciprocal Inv Square Sqrt Rsqrt Exp Expm1 Log Log1p Tanh Sigmoid Sign".split()
)
ROUNDING = "Floor Ceil Rint Round".split()
GRADIENTS = "InvGrad ReciprocalGrad SqrtGrad RsqrtGrad TanhGrad SigmoidGrad".split()
WITHOUT_COMPLEX = ("Abs",)

CASES: list[Case] = []
for op in ON_POSITIVE:
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        CASES.append(Case(op, (floats(dtype, 2, 3, lo=0.2, hi=2.0),), label=dtype))
    CASES += [
        Case(op, (f32(),), label="scalar"),
        Case(op, (f32(0, 3),), label="empty"),
        Case(op, (f32(2, 3, 4, 5, lo=-2, hi=2),), label="negative"),
        Case(op, (array(ODD, "float32"),), label="odd", grad=False),
    ]
    if op not in WITHOUT_COMPLEX:
        CASES += [
            Case(op, (c64(3),), label="complex64"),
            Case(op, (c128(3),), label="complex128"),
        ]
for op in ("Abs", "Neg", "Square", "Sign"):
    CASES += [Case(op, (ints(dtype, -9, 9, 3),), label=dtype) for dtype in INTEGERS]
CASES += [Case("Square", (ints(dtype, 0, 99, 3),), label=dtype) for dtype in UNSIGNED]
CASES += [Case("Square", (array([2**31 - 1, -(2**31)], "int32"),), label="overflow")]

HALVES = [0.5, 1.5, -0.5, 2.5, -2.5, 1.4, -1.6, 1e10, NAN, INF]
for op in ROUNDING:
    CASES += [
        Case(op, (array(HALVES, "float32"),), label="halves"),
        Case(op, (f64(2, 3, lo=-9, hi=9),), label="float64"),
    ]
    if op != "Rint":
        CASES += [
            Case(op, (f16(2, 3, lo=-9, hi=9),), label="float16"),
            Case(op, (bf16(2, 3, lo=-9, hi=9),), label="bfloat16"),
        ]

for op in ("IsNan", "IsInf", "IsFinite"):
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        CASES.append(Case(op, (array([NAN, INF, -INF, 1.0], dtype),), label=dtype))

for op in GRADIENTS:
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        pair = floats(dtype, 2, 3, lo=0.2, hi=0.9), floats(dtype, 2, 3)
        CASES.append(Case(op, pair, label=dtype))
    CASES += [
        Case(op, (c64(3), c64(3)), label="complex64", grad=False),
        Case(op, (f32(0), f32(0)), label="empty"),
    ]
