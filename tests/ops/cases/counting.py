"""Counts and histograms."""

from tests.ops.case import Case, array, f32, f64, i32, i64

NAN = float("nan")
NO_WEIGHTS = array([], "int32")
NUMBERS = array([1, 1, 5, 0, 2], "int32")

CASES = [
    Case("Bincount", (NUMBERS, array(6, "int32"), NO_WEIGHTS)),
    Case("Bincount", (NUMBERS, array(3, "int32"), NO_WEIGHTS), label="cut off"),
    Case("Bincount", (NUMBERS, array(8, "int32"), f32(5)), label="weights", grad=False),
    Case("Bincount", (NUMBERS, array(8, "int32"), f64(5)), label="double", grad=False),
    Case("Bincount", (NUMBERS, array(8, "int32"), i64(0, 9, 5)), label="int64"),
    Case("Bincount", (i32(0, 4, 2, 3), array(4, "int32"), NO_WEIGHTS), label="matrix"),
    Case("Bincount", (array([], "int32"), array(3, "int32"), NO_WEIGHTS), label="empty"),
    Case(
        "Bincount",
        (array([-1], "int32"), array(3, "int32"), NO_WEIGHTS),
        label="negative",
        fails=True,
    ),
    Case("Bincount", (NUMBERS, array(-1, "int32"), NO_WEIGHTS), label="size", fails=True),
    Case("DenseBincount", (NUMBERS, array(6, "int32"), NO_WEIGHTS)),
    Case("DenseBincount", (i64(0, 4, 7), array(3, "int64"), f32(7)), label="weights", grad=False),
    Case(
        "DenseBincount", (i32(0, 4, 2, 5), array(4, "int32"), f64(2, 5)), label="matrix", grad=False
    ),
    Case(
        "DenseBincount",
        (i32(0, 4, 2, 5), array(4, "int32"), NO_WEIGHTS),
        {"binary_output": True},
        label="binary",
    ),
    Case(
        "DenseBincount",
        (array([-1], "int32"), array(3, "int32"), NO_WEIGHTS),
        label="negative",
        fails=True,
    ),
    Case(
        "HistogramFixedWidth",
        (array([-1, 0, 0.5, 1, 2], "float32"), array([0, 1], "float32"), array(4, "int32")),
        grad=False,
    ),
    Case(
        "HistogramFixedWidth",
        (f64(50), array([-1, 1], "float64"), array(7, "int32")),
        {"dtype": "int64"},
        label="double",
        grad=False,
    ),
    Case(
        "HistogramFixedWidth",
        (i32(0, 9, 20), array([0, 10], "int32"), array(5, "int32")),
        label="int32",
    ),
    Case(
        "HistogramFixedWidth",
        (f32(3), array([1, 1], "float32"), array(5, "int32")),
        label="range",
        fails=True,
    ),
    Case(
        "HistogramFixedWidth",
        (f32(3), array([0, 1], "float32"), array(0, "int32")),
        label="bins",
        fails=True,
    ),
    Case(
        "HistogramFixedWidth",
        (array([NAN], "float32"), array([0, 1], "float32"), array(2, "int32")),
        label="nan",
        fails=True,
    ),
    Case(
        "Bucketize",
        (array([-1, 0, 1, 5, NAN], "float32"),),
        {"boundaries": [0.0, 1.0, 2.0]},
        grad=False,
    ),
    Case("Bucketize", (f64(3, 4),), {"boundaries": [-0.5, 0.1, 0.5]}, label="double", grad=False),
    Case("Bucketize", (i32(-3, 9, 8),), {"boundaries": [0.0, 2.5]}, label="int32"),
    Case("Bucketize", (i64(-3, 9, 8),), {"boundaries": []}, label="no boundaries"),
    Case("Bucketize", (f32(3),), {"boundaries": [0.0, 3.0, 2.0]}, label="not sorted", fails=True),
]
