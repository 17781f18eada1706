"""Tensors passed on: as they are, checked, or as other bits."""

from tests.ops.case import (
    Case,
    array,
    bf16,
    c64,
    f16,
    f32,
    f64,
    i32,
    i64,
    string,
    strings,
    u8,
)

_NAN, _INF = float("nan"), float("inf")

CASES = [
    Case("IdentityN", ([f32(2), f64(3), strings("a")],)),
    Case("IdentityN", ([f64(2), f64(2)],)),
    Case("Snapshot", (f32(2, 3),)),
    Case("GuaranteeConst", (f32(2, 3),)),
    Case("StopGradient", (f64(2, 3),)),
    Case("StopGradient", (string("a"),), label="strings"),
    Case("PreventGradient", (f32(2, 3),), {"message": "why"}, grad=False),
    Case("CheckNumerics", (f64(2, 3),), {"message": "x"}),
    Case("CheckNumerics", (bf16(3),), {"message": "x"}),
    Case("CheckNumerics", (array([1, _NAN], "float32"),), {"message": "x"}, "nan", fails=True),
    Case("CheckNumerics", (array([-_INF, 1], "float16"),), {"message": "x"}, "inf", fails=True),
    Case("CheckNumericsV2", (f32(2, 3),), {"message": "x"}),
    Case(
        "CheckNumericsV2", (array([_NAN, _INF], "float64"),), {"message": "x"}, "both", fails=True
    ),
    Case("Bitcast", (f32(2, 3),), {"type": "int32"}),
    Case("Bitcast", (f64(2),), {"type": "uint8"}, label="to smaller"),
    Case("Bitcast", (f32(),), {"type": "int16"}, label="scalar to smaller"),
    Case("Bitcast", (u8(0, 250, 3, 4),), {"type": "float32"}, label="to larger", grad=False),
    Case("Bitcast", (c64(2),), {"type": "int64"}, label="complex"),
    Case("Bitcast", (i64(-9, 9, 2, 1),), {"type": "uint16"}, label="to unsigned"),
    Case("Bitcast", (f16(2),), {"type": "bfloat16"}, label="half to bfloat16"),
    Case("Bitcast", (i32(0, 9, 2, 3),), {"type": "float64"}, label="wrong size", fails=True),
]
