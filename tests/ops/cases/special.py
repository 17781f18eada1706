"""Special functions."""

from tests.ops.case import Case, array, c64, f16, f32, f64, floats

NAN, INF = float("nan"), float("inf")

CASES: list[Case] = []
for op, lo, hi in (
    ("Erf", -2.0, 2.0),
    ("Erfc", -2.0, 2.0),
    ("Erfinv", -0.9, 0.9),
    ("Ndtri", 0.1, 0.9),
    ("Lgamma", 0.2, 4.0),
    ("Digamma", 0.2, 4.0),
    ("BesselI0", -3.0, 3.0),
    ("BesselI1", -3.0, 3.0),
    ("BesselI0e", -3.0, 3.0),
    ("BesselI1e", -3.0, 3.0),
):
    CASES += [
        Case(op, (f32(2, 3, lo=lo, hi=hi),), label="float32", rtol=1e-5, atol=2e-6),
        Case(op, (f64(2, 3, lo=lo, hi=hi),), label="float64"),
        Case(op, (f32(0),), label="empty"),
    ]
for op in ("Erf", "Erfc", "Lgamma", "Digamma"):
    CASES.append(Case(op, (f16(2, 3, lo=0.2, hi=2.0),), label="float16", grad=False))
CASES += [
    Case("Erfinv", (array([-1, 1, 2, 0, NAN], "float32"),), label="ends", grad=False),
    Case("Ndtri", (array([-1, 0, 1, 0.5, 2], "float32"),), label="ends", grad=False),
    Case("Lgamma", (array([0, -1, -INF, INF, NAN, -1.5], "float32"),), label="poles", grad=False),
    Case("Digamma", (array([0, -1, INF, NAN, -1.5], "float32"),), label="poles", grad=False),
    Case("BesselI1", (array([0.0, 1e-3], "float64"),), label="near zero", numeric=False),
    Case("BesselI1e", (array([0.0, 1e-3], "float64"),), label="near zero", numeric=False),
]
for op in ("Igamma", "Igammac"):
    CASES += [
        Case(op, (f32(2, 3, lo=0.5, hi=5), f32(2, 3, lo=0.5, hi=5)), label="float32", rtol=1e-4),
        Case(op, (f64(2, 3, lo=0.5, hi=5), f64(3, lo=0.5, hi=9)), label="float64", rtol=1e-9),
        Case(
            op,
            (array([1, 0, -1, 1], "float32"), array([1, 1, 1, -1], "float32")),
            label="ends",
            grad=False,
        ),
    ]
CASES += [
    Case("IgammaGradA", (f64(2, 3, lo=0.5, hi=9), f64(2, 3, lo=0.1, hi=20)), rtol=1e-8),
    Case(
        "IgammaGradA",
        (
            array([300.0, 1e4, 5.0, 1e6], "float64"),
            array([310.0, 1e4, 900.0, 1e6 + 500], "float64"),
        ),
        label="large",
        rtol=1e-5,
    ),
    Case("IgammaGradA", (f32(3, lo=0.5, hi=9), f32(3, lo=0.1, hi=9)), rtol=1e-4),
    Case("Zeta", (f32(2, 3, lo=1.5, hi=5), f32(2, 3, lo=0.5, hi=5)), label="float32"),
    Case("Zeta", (f64(2, 3, lo=1.5, hi=5), f64(3, lo=0.5, hi=5)), label="float64", numeric=False),
    Case(
        "Zeta",
        (array([1, 2, 0.5, 2], "float32"), array([1, 1, 1, -0.5], "float32")),
        label="ends",
        grad=False,
    ),
    Case("Polygamma", (array([1, 2, 3], "float32"), f32(3, lo=0.5, hi=5)), label="float32"),
    Case(
        "Polygamma",
        (array([[1], [2]], "float64"), f64(3, lo=0.5, hi=5)),
        label="float64",
        numeric=False,
    ),
    Case(
        "Polygamma",
        (array([0, 1, 0.5, -1], "float32"), array([1, 1, 1, 1], "float32")),
        label="ends",
        grad=False,
    ),
    Case(
        "Betainc",
        (f64(3, lo=0.5, hi=5), f64(3, lo=0.5, hi=5), f64(3, lo=0.1, hi=0.9)),
        label="float64",
        numeric=False,
        rtol=1e-9,
    ),
    Case(
        "Betainc",
        (f32(), f32(lo=0.5, hi=5), f32(2, 3, lo=0.1, hi=0.9)),
        label="scalars",
        grad=False,
    ),
    Case(
        "Betainc",
        (array(2, "float32"), array(3, "float32"), f32(2, 3, lo=0.1, hi=0.9)),
        label="broadcast",
        rtol=1e-4,
    ),
    Case(
        "Betainc",
        (
            array([1, 1, -1, 1], "float32"),
            array([1, 1, 1, 1], "float32"),
            array([0, 1, 0.5, 2], "float32"),
        ),
        label="ends",
        grad=False,
    ),
    Case("Betainc", (f32(2), f32(3), f32(3)), label="shapes", fails=True),
    Case("NextAfter", (array([1, 1, 0, NAN], "float32"), array([2, 0, -1, 1], "float32"))),
    Case("NextAfter", (array([1, 1], "float64"), array(2, "float64")), label="float64"),
]
for op in ("Xlogy", "Xlog1py", "Xdivy"):
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        pair = floats(dtype, 2, 3, lo=0.5, hi=2), floats(dtype, 2, 3, lo=0.5, hi=2)
        CASES.append(Case(op, pair, label=dtype))
    CASES += [
        Case(op, (c64(3), c64(3)), label="complex64", grad=False),
        Case(op, (f64(2, 3, lo=0.5, hi=2), f64(3, lo=0.5, hi=2)), label="broadcast"),
        Case(
            op, (array([0, 0, 0, 1], "float32"), array([NAN, 0, -1, 0.5], "float32")), label="zeros"
        ),
    ]
