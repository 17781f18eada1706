"""The different elements of a vector, and those that another vector has not."""

from tests.ops.case import Case, array, bools, i64, ints, strings

_I32, _I64 = "int32", "int64"
_NUMBERS = array([4, 1, 4, 9, 1, 0, 4], _I32)
_TABLE = array([[1, 0, 1], [2, 0, 2], [1, 0, 1]], _I64)
_NO_AXIS = array([], _I64)

CASES = [
    Case("Unique", (_NUMBERS,)),
    Case("Unique", (i64(-3, 3, 20),), {"out_idx": _I64}),
    Case("Unique", (array([2.5, -1, 2.5, 0], "float32"),), label="floats", grad=False),
    Case("Unique", (ints("uint16", 0, 3, 8),)),
    Case("Unique", (bools(5),)),
    Case("Unique", (array([], "float64"),), label="empty", grad=False),
    Case("Unique", (strings("b", "a", "b", "", "a"),), label="strings"),
    Case("Unique", (_TABLE,), label="matrix", fails=True),
    Case("UniqueWithCounts", (_NUMBERS,)),
    Case("UniqueWithCounts", (strings("b", "a", "b"),), {"out_idx": _I64}, label="strings"),
    Case("UniqueV2", (_NUMBERS, _NO_AXIS)),
    Case("UniqueV2", (_TABLE, array([0], _I64))),
    Case("UniqueV2", (_TABLE, array([1], _I32)), {"out_idx": _I64}),
    Case("UniqueV2", (_TABLE, array([2], _I32)), label="no such axis", fails=True),
    Case("UniqueWithCountsV2", (_NUMBERS, array([0], _I64))),
    Case("UniqueWithCountsV2", (_TABLE, array([0], _I64))),
    Case("ListDiff", (_NUMBERS, array([4, 0, 7], _I32))),
    Case("ListDiff", (i64(0, 9, 8), array([], _I64)), {"out_idx": _I64}, label="nothing removed"),
    Case("ListDiff", (strings("a", "b", "c"), strings("b")), label="strings"),
    Case("ListDiff", (ints("uint16", 0, 9, 8), array([3], "uint16"))),
    Case("ListDiff", (_TABLE, array([1], _I64)), label="matrix", fails=True),
]
