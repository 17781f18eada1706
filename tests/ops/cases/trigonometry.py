"""Circular and hyperbolic functions."""

from tests.ops.case import Case, array, c64, c128, f32, floats

NAN, INF = float("nan"), float("inf")
OPS = "Sin Cos Tan Asin Atan Sinh Cosh Asinh Atanh Acos".split()

CASES: list[Case] = []
for op in [*OPS, "Acosh"]:
    lo, hi = (1.1, 3.0) if op == "Acosh" else (-0.9, 0.9)
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        CASES.append(Case(op, (floats(dtype, 2, 3, lo=lo, hi=hi),), label=dtype))
    CASES += [
        Case(op, (c64(3),), label="complex64", rtol=1e-4),
        Case(op, (c128(3),), label="complex128"),
        Case(op, (f32(0),), label="empty"),
        Case(op, (array([NAN, 0.0, 1.0], "float32"),), label="odd", grad=False),
    ]
for dtype in ("float16", "bfloat16", "float32", "float64"):
    CASES.append(Case("Atan2", (floats(dtype, 2, 3), floats(dtype, 2, 3)), label=dtype))
CASES += [
    Case("Atan2", (f32(2, 3), f32(3)), label="broadcast"),
    Case(
        "Atan2",
        (array([0.0, -0.0, 1.0, 0.0], "float32"), array([-1, -1, 0, 0], "float32")),
        label="axes",
        grad=False,
    ),
    Case("Atan2", (f32(2), f32(3)), label="shapes", fails=True),
]
