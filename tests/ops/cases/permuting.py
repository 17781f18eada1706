"""Tensors with their elements in another order."""

from tests.ops.case import (
    Case,
    array,
    bf16,
    bools,
    c64,
    c128,
    f16,
    f32,
    f64,
    i32,
    i64,
    ints,
    strings,
)

_I32, _I64 = "int32", "int64"

CASES = [
    Case("Transpose", (f64(2, 3, 4), array([2, 0, 1], _I32))),
    Case("Transpose", (bf16(2, 3), array([1, 0], _I64))),
    Case("Transpose", (f32(2, 3), array([-1, 0], _I32)), label="negative", grad=False),
    Case("Transpose", (f32(), array([], _I32)), label="scalar"),
    Case("Transpose", (f32(0, 3), array([1, 0], _I32)), label="empty"),
    Case("Transpose", (strings(["a", "b"], ["c", "d"]), array([1, 0], _I32)), label="strings"),
    Case("Transpose", (f32(2, 3), array([0, 0], _I32)), label="twice", fails=True),
    Case("Transpose", (f32(2, 3), array([0], _I32)), label="too few", fails=True),
    Case("Transpose", (f32(2, 3), array([0, 2], _I32)), label="no such axis", fails=True),
    Case("ConjugateTranspose", (c64(2, 3), array([1, 0], _I32))),
    Case("ConjugateTranspose", (c128(2, 3, 1), array([2, 1, 0], _I64))),
    Case("ConjugateTranspose", (f32(2, 3), array([1, 0], _I32)), label="real"),
    Case("InvertPermutation", (array([2, 0, 1, 3], _I32),)),
    Case("InvertPermutation", (array([1, 0], _I64),)),
    Case("InvertPermutation", (array([], _I32),), label="empty"),
    Case("InvertPermutation", (array([0, 0], _I32),), label="twice", fails=True),
    Case("InvertPermutation", (array([0, 2], _I32),), label="outside", fails=True),
    Case("InvertPermutation", (array([[0]], _I32),), label="matrix", fails=True),
    Case("Reverse", (f64(2, 3), array([True, False], "bool"))),
    Case("Reverse", (i32(0, 9, 2, 3), array([True, True], "bool"))),
    Case("Reverse", (f32(2, 3), array([True], "bool")), label="too few", fails=True),
    Case("ReverseV2", (f64(2, 3), array([1], _I32))),
    Case("ReverseV2", (f16(2, 3), array([0, -1], _I64))),
    Case("ReverseV2", (ints("uint64", 0, 9, 3), array([0], _I32))),
    Case("ReverseV2", (c64(3), array([], _I32)), label="no axis"),
    Case("ReverseV2", (strings("a", "b"), array([0], _I32)), label="strings"),
    Case("ReverseV2", (f32(2, 3), array([2], _I32)), label="no such axis", fails=True),
    Case("ReverseV2", (f32(2, 3), array([1, -1], _I32)), label="twice", fails=True),
    Case("ReverseSequence", (f64(2, 4), array([3, 0], _I32)), {"seq_dim": 1}),
    Case(
        "ReverseSequence",
        (f32(4, 3, 2), array([1, 4], _I64)),
        {"seq_dim": 0, "batch_dim": 2},
        label="other axes",
    ),
    Case("ReverseSequence", (bools(2, 3), array([2, 3], _I64)), {"seq_dim": 1}, label="bool"),
    Case(
        "ReverseSequence",
        (strings(["a", "b"], ["c", "d"]), array([2, 1], _I32)),
        {"seq_dim": 1},
        label="strings",
    ),
    Case(
        "ReverseSequence", (f32(2, 3), array([4, 1], _I32)), {"seq_dim": 1}, "too long", fails=True
    ),
    Case(
        "ReverseSequence", (f32(2, 3), array([-1, 1], _I32)), {"seq_dim": 1}, "negative", fails=True
    ),
    Case("ReverseSequence", (f32(2, 3), array([1], _I32)), {"seq_dim": 1}, "too few", fails=True),
    Case("ReverseSequence", (f32(2, 3), i64(0, 2, 2)), {"seq_dim": 0}, "one axis", fails=True),
]
