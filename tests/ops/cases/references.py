"""References and marks passed on as they are."""

from tests.ops.case import Case, Ref, array, f32, f64

CASES = [
    Case("RefIdentity", (Ref(f32(2, 3)),)),
    Case("RefIdentity", (Ref(array([True, False], "bool")),)),
    Case("DebugGradientIdentity", (f64(2, 3),), grad=False),
    Case("DebugGradientIdentity", (array([1, 2], "int32"),)),
    Case("DebugGradientRefIdentity", (Ref(f32(3)),)),
]
