"""Running sums and products."""

from tests.ops.case import Case, array, c64, f32, f64, floats, ints

LOG_SUM = "CumulativeLogsumexp"  # exclusive, its first result is minus infinity
TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
WAYS = [
    {"exclusive": exclusive, "reverse": reverse}
    for exclusive in (False, True)
    for reverse in (False, True)
]


def axis(value: int, dtype: str = "int32") -> object:
    return array(value, dtype)


CASES: list[Case] = []
for op in ("Cumsum", "Cumprod", LOG_SUM):
    for n, way in enumerate(WAYS):
        CASES += [
            Case(op, (f64(2, 3, 2), axis(1)), way, label=f"way {n}", numeric=op != LOG_SUM),
            Case(op, (f32(4), axis(0)), way, label=f"vector way {n}"),
        ]
    for dtype in ("float16", "bfloat16", "float32"):
        CASES.append(Case(op, (floats(dtype, 2, 3, lo=0.5, hi=1.5), axis(1)), label=dtype))
    CASES += [
        Case(op, (f64(2, 3), axis(-2, "int64")), label="negative axis"),
        Case(op, (f32(0, 3), axis(0)), label="empty", grad=False),
        Case(op, (f32(2), axis(1)), label="bad axis", fails=True),
        Case(op, (f32(), axis(0)), label="scalar", fails=True),
    ]
for op in ("Cumsum", "Cumprod"):
    CASES += [Case(op, (ints(t, 1, 4, 2, 3), axis(1)), label=t) for t in TYPES]
    CASES += [Case(op, (c64(3), axis(0)), label="complex64", grad=False)]
CASES += [
    Case("Cumsum", (array([100, 100], "int8"), axis(0)), label="overflow"),
    Case("Cumprod", (array([2.0, 0.0, 3.0], "float64"), axis(0)), label="zero", numeric=False),
]
