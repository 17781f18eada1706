"""Reductions by segment of gathered rows."""

from tests.ops.case import Case, array, f32, f64, floats, ints

INDICES = array([3, 0, 0, 1, 3], "int32")
IDS = array([0, 0, 1, 3, 3], "int32")
TYPES = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()

CASES: list[Case] = []
for name in ("Sum", "Mean", "SqrtN"):
    op = f"SparseSegment{name}"
    counted = f"{op}WithNumSegments"
    gradient = f"{op}Grad"
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        CASES += [
            Case(op, (floats(dtype, 4, 2), INDICES, IDS), label=dtype),
            Case(counted, (floats(dtype, 4, 2), INDICES, IDS, array(5, "int32")), label=dtype),
            Case(
                gradient,
                (floats(dtype, 4, 2), INDICES, IDS, array(4, "int32")),
                label=dtype,
                grad=False,
            ),
        ]
    CASES += [
        Case(op, (f64(4, 2, 2), INDICES.astype("int64"), IDS.astype("int64")), label="long"),
        Case(op, (f32(4, 2), array([], "int32"), array([], "int32")), label="empty", grad=False),
        Case(
            op,
            (f32(4, 2), array([0, 4], "int32"), array([0, 0], "int32")),
            label="index",
            fails=True,
        ),
        Case(
            op,
            (f32(4, 2), array([0, 1], "int32"), array([1, 0], "int32")),
            label="not sorted",
            fails=True,
        ),
        Case(
            op,
            (f32(4, 2), array([0, 1], "int32"), array([0], "int32")),
            label="lengths",
            fails=True,
        ),
        Case(
            counted,
            (f32(4, 2), array([], "int32"), array([], "int32"), array(2, "int32")),
            label="empty",
            grad=False,  # TensorFlow's is not defined
        ),
        Case(
            counted,
            (f32(4, 2), array([0, 1], "int32"), array([0, 3], "int32"), array(2, "int32")),
            label="large",
            fails=True,
        ),
        Case(
            gradient,
            (f32(2, 2), array([0, 5], "int32"), array([0, 1], "int32"), array(4, "int32")),
            label="index",
            fails=True,
        ),
    ]
for op in ("SparseSegmentSum", "SparseSegmentSumWithNumSegments"):
    count = (array(5, "int32"),) if op.endswith("Segments") else ()
    CASES += [Case(op, (ints(t, 0, 9, 4, 2), INDICES, IDS, *count), label=t) for t in TYPES]
for op in ("SparseSegmentSumGradV2", "SparseSegmentMeanGradV2", "SparseSegmentSqrtNGradV2"):
    CASES += [
        Case(
            op,
            (f32(3, 2), array([4, 1, 4, 0], t), array([0, 0, 1, 2], "int32"), array(6, "int32")),
            label=t,
            grad=False,
        )
        for t in ("int32", "int64")
    ]
    CASES += [
        Case(
            op,
            (f32(2, 2), array([0, 5], "int32"), array([0, 1], "int32"), array(4, "int32")),
            label="index",
            fails=True,
        )
    ]
for op in ("SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"):
    CASES += [
        Case(
            op,
            (f64(6, 2), array([4, 1, 4, 0], "int32"), array([0, 0, 1, 2], "int32")),
            {"sparse_gradient": True},
            label="sparse gradient",
        )
    ]
