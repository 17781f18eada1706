"""Summaries of distributions, sounds and tensors."""

from tests.ops.case import Case, array, f32, f64, string, strings

MANY = f64(1000)
SOUNDS = array([[0.5 / 32768, -0.5 / 32768, 1.5 / 32768, 1, -1, 2, -2]], "float32")

CASES: list[Case] = [
    Case("HistogramSummary", (string("h"), MANY), label="float64"),
    Case("HistogramSummary", (string("h"), array([1e300, -1e300, 1e-30], "float64")), label="far"),
    Case("HistogramSummary", (string("h"), array([0.0, -0.0, 0.0], "float32")), label="zeros"),
    Case("HistogramSummary", (string("h"), f32(0)), label="empty"),
    Case(
        "HistogramSummary",
        (string("h"), array([1, float("nan")], "float32")),
        label="nan",
        fails=True,
    ),
    Case(
        "HistogramSummary",
        (string("h"), array([1, float("inf")], "float32")),
        label="inf",
        fails=True,
    ),
    Case("HistogramSummary", (strings("h", "i"), f32(2)), label="two tags", fails=True),
    Case("AudioSummaryV2", (string("a"), f32(4, 50, 2), array(44100, "float32")), label="stereo"),
    Case(
        "AudioSummaryV2",
        (string("a"), SOUNDS, array(100.5, "float32")),
        {"max_outputs": 1},
        label="rounding",
    ),
    Case("AudioSummaryV2", (string("a"), f32(1, 0), array(100, "float32")), label="empty"),
    Case(
        "AudioSummaryV2", (string("a"), f32(4), array(100, "float32")), label="vector", fails=True
    ),
    Case("AudioSummaryV2", (string("a"), f32(1, 4), array(0, "float32")), label="rate", fails=True),
    Case("TensorSummary", (f32(2, 3),), {"description": "d"}),
    Case("TensorSummaryV2", (string("t"), f32(2, 3), string("")), label="float32"),
    Case("TensorSummaryV2", (string("t"), array(3, "int64"), string("")), label="scalar"),
    Case("TensorSummaryV2", (string("t"), strings("a", "b"), string("")), label="strings"),
    Case("TensorSummaryV2", (string("t"), array([True, False], "bool"), string("")), label="bool"),
]
for dtype in "float16 bfloat16 float32 int8 int16 int32 int64 uint8 uint16 uint32 uint64".split():
    CASES.append(
        Case(
            "HistogramSummary",
            (string("h"), array([1, 2, 2, 60, 100, 0], dtype)),
            label=f"few {dtype}",
        )
    )
