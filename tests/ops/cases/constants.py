"""Where values enter the graph, and ops that repeat them."""

from tests.ops.case import (
    Case,
    Ref,
    Resource,
    array,
    bools,
    c64,
    f32,
    f64,
    i32,
    i64,
    string,
    strings,
)

CASES = [
    Case("Const", attrs={"value": f32(2, 3), "dtype": "float32"}),
    Case("Const", attrs={"value": i64(-9, 9, 4), "dtype": "int64"}),
    Case("Const", attrs={"value": strings("ab", "", b"\x00\xff"), "dtype": "string"}),
    Case("Const", attrs={"value": array([], "float32"), "dtype": "float32"}, label="empty"),
    Case("Placeholder", attrs={"dtype": "float32", "shape": [2]}, label="not fed", fails=True),
    Case("PlaceholderWithDefault", (f32(2, 3),), {"shape": [None, 3]}),
    Case("PlaceholderWithDefault", (f64(2, 3),), {"shape": None}, label="unknown shape"),
    Case("PlaceholderWithDefault", (f32(2, 3),), {"shape": [3]}, label="other shape", fails=True),
    Case("Identity", (f32(2, 3),)),
    Case("Identity", (f64(3),)),
    Case("Identity", (c64(3),)),
    Case("Identity", (bools(3),)),
    Case("Identity", (string(b"a\x00"),)),
    Case("Identity", (Ref(f32(2)),), label="of a variable"),
    Case("ReadVariableOp", (Resource(f32(2)),), {"dtype": "float32"}, grad=(0,)),
    Case("Fill", (i32(1, 4, 2), f32())),
    Case("Fill", (i64(1, 4, 2), f64())),
    Case("Fill", (array([2, -1], "int32"), f32()), label="negative size", fails=True),
]
