"""Order, branches, assertions, printing and summaries."""

from tests.ops.case import Case, array, f32, f64, i32, string, strings

_TRUE, _FALSE = array(True, "bool"), array(False, "bool")

_SUMMARY = string(b"\n\x08\n\x01a\x15\x00\x00\x80?")

CASES = [
    Case("NoOp", ()),
    Case("Fact", ()),
    Case("ControlTrigger", ()),
    Case("Switch", (f32(2, 3), _TRUE), outputs=(1,), grad=False, label="true"),
    Case("Switch", (f32(2, 3), _FALSE), outputs=(0,), grad=False, label="false"),
    Case("Merge", ([f64(2), f64(2)],), outputs=(0,), grad=False),
    Case("Assert", (_TRUE, [f32(2)]), label="holds"),
    Case("Assert", (_FALSE, [f32(2), string("said")]), {"summarize": 1}, "fails", fails=True),
    Case("Print", (f64(2, 3), [f32(4)]), {"message": "seen: ", "summarize": 2}),
    Case("ScalarSummary", (string("loss"), f32())),
    Case("ScalarSummary", (strings("a", "b"), i32(0, 9, 2)), label="several"),
    Case("ScalarSummary", (string("a"), f32(2)), label="shapes differ", fails=True),
    Case("MergeSummary", ([string(b"\n\x08\n\x01a\x15\x00\x00\x80?"), string(b"")],)),
    Case(
        "MergeSummary",
        ([string(b"\n\x08\n\x01a\x15\x00\x00\x80?")] * 2,),
        label="twice",
        fails=True,
    ),
    Case("MergeSummary", ([string(b"nonsense")],), label="no summary", fails=True),
]
