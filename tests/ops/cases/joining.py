"""Tensors put together and taken apart."""

from tests.ops.case import (
    Case,
    array,
    bf16,
    bools,
    c64,
    f16,
    f32,
    f64,
    i32,
    i64,
    ints,
    string,
    strings,
)

_I32, _I64 = "int32", "int64"
_ZERO, _ONE = array(0, _I32), array(1, _I32)

CASES = [
    Case("Concat", (_ONE, [f64(2, 3), f64(2, 2)])),
    Case("Concat", (_ZERO, [strings("a"), strings("b", "c")]), label="strings"),
    Case("ConcatV2", ([f64(2, 3), f64(2, 2), f64(2, 1)], _ONE)),
    Case("ConcatV2", ([f32(2, 3), f32(1, 3)], array(-2, _I32))),
    Case("ConcatV2", ([i64(0, 9, 2), i64(0, 9, 1)], array(0, _I64)), label="int64 axis"),
    Case("ConcatV2", ([bf16(2), bf16(3)], _ZERO)),
    Case("ConcatV2", ([ints("uint32", 0, 9, 2), ints("uint32", 0, 9, 3)], _ZERO)),
    Case("ConcatV2", ([f32(0, 3), f32(2, 3)], _ZERO), label="empty"),
    Case("ConcatV2", ([strings("a", "b"), strings("c")], _ZERO), label="strings"),
    Case("ConcatV2", ([f32(2, 3), f32(2, 2)], _ZERO), label="other sizes", fails=True),
    Case("ConcatV2", ([f32(2, 3), f32(2)], _ZERO), label="other rank", fails=True),
    Case("ConcatV2", ([f32(), f32()], _ZERO), label="scalars", fails=True),
    Case("ConcatV2", ([f32(2), f32(2)], _ONE), label="no such axis", fails=True),
    Case("ConcatOffset", (_ONE, [array([2, n], _I32) for n in (3, 5, 1)])),
    Case("ConcatOffset", (array(-1, _I32), [array([2, n], _I64) for n in (3, 5)])),
    Case(
        "ConcatOffset", (_ZERO, [array([2, n], _I32) for n in (3, 5)]), label="differ", fails=True
    ),
    Case("ParallelConcat", ([f32(1, 2), f32(1, 2)],), {"shape": [2, 2]}, grad=False),
    Case("Pack", ([f64(2, 3), f64(2, 3)],)),
    Case("Pack", ([f32(2), f32(2), f32(2)],), {"axis": -1}),
    Case("Pack", ([i32(0, 9), i32(0, 9)],), label="scalars"),
    Case("Pack", ([bools(2, 0), bools(2, 0)],), {"axis": 1}, label="empty"),
    Case("Pack", ([string("a"), string("bc")],), label="strings"),
    Case("Pack", ([f32(2), f32(3)],), label="other sizes", fails=True),
    Case("Pack", ([f32(2), f32(2)],), {"axis": 2}, label="no such axis", fails=True),
    Case("Unpack", (f64(2, 3),), {"num": 3, "axis": 1}),
    Case("Unpack", (f16(2, 3),), {"num": 2, "axis": -2}),
    Case("Unpack", (c64(2),), {"num": 2}, label="to scalars"),
    Case("Unpack", (f32(0, 3),), {"num": 0}, label="none"),
    Case("Unpack", (strings("a", "b"),), {"num": 2}, label="strings"),
    Case("Unpack", (f32(2, 3),), {"num": 3}, label="other number", fails=True),
    Case("Unpack", (f32(2, 3),), {"num": 2, "axis": 2}, label="no such axis", fails=True),
    Case("Split", (_ONE, f64(2, 6)), {"num_split": 3}),
    Case("Split", (array(-1, _I32), i64(0, 9, 2, 2)), {"num_split": 2}),
    Case("Split", (_ZERO, f32(0, 2)), {"num_split": 3}, label="empty"),
    Case("Split", (_ZERO, strings("a", "b")), {"num_split": 2}, label="strings"),
    Case("Split", (_ZERO, f32(3)), {"num_split": 2}, label="not divisible", fails=True),
    Case("Split", (_ONE, f32(4)), {"num_split": 2}, label="no such axis", fails=True),
    Case("SplitV", (f64(2, 6), array([1, 3, 2], _I32), _ONE), {"num_split": 3}),
    Case("SplitV", (f32(5, 2), array([-1, 2], _I64), _ZERO), {"num_split": 2}),
    Case("SplitV", (f32(5), array([5, 0], _I32), array(-1, _I32)), {"num_split": 2}),
    Case(
        "SplitV", (strings("a", "b", "c"), array([1, 2], _I32), _ZERO), {"num_split": 2}, "strings"
    ),
    Case("SplitV", (f32(5), array([1, 2], _I32), _ZERO), {"num_split": 2}, "too few", fails=True),
    Case(
        "SplitV", (f32(5), array([-1, -1], _I32), _ZERO), {"num_split": 2}, "two free", fails=True
    ),
]
