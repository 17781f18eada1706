"""Tensors repeated along dimensions, and the shape arithmetic of broadcasting."""

from tests.ops.case import Case, array, bools, c64, f32, f64, i64, strings

_I32, _I64 = "int32", "int64"


def _shapes(s0: list[int], s1: list[int], dtype: str = _I32) -> tuple:
    return array(s0, dtype), array(s1, dtype)


CASES = [
    Case("BroadcastTo", (f64(1, 3), array([2, 3], _I32))),
    Case("BroadcastTo", (f32(3), array([2, 1, 3], _I64))),
    Case("BroadcastTo", (f32(), array([2, 2], _I32)), label="scalar"),
    Case("BroadcastTo", (bools(2, 1), array([2, 0], _I32)), label="to empty"),
    Case("BroadcastTo", (c64(2, 3), array([2, 3], _I32)), label="same shape"),
    Case("BroadcastTo", (f32(2, 3), array([2, 4], _I32)), label="other size", fails=True),
    Case("BroadcastTo", (f32(2, 3), array([3], _I32)), label="lower rank", fails=True),
    Case("BroadcastArgs", _shapes([1, 3], [2, 1])),
    Case("BroadcastArgs", _shapes([], [2, 1], _I64)),
    Case("BroadcastArgs", _shapes([4, 1, 3], [2, 1])),
    Case("BroadcastArgs", _shapes([2], [3]), label="not compatible", fails=True),
    Case("BroadcastGradientArgs", _shapes([2, 3], [2, 3])),
    Case("BroadcastGradientArgs", _shapes([1, 10], [10])),
    Case("BroadcastGradientArgs", _shapes([5, 1, 3], [1, 3])),
    Case("BroadcastGradientArgs", _shapes([2, 1], [1, 3], _I64)),
    Case("BroadcastGradientArgs", _shapes([], [2])),
    Case("BroadcastGradientArgs", _shapes([1], [1])),
    Case("BroadcastGradientArgs", _shapes([1, 1], [1])),
    Case("BroadcastGradientArgs", _shapes([0], [1])),
    Case("BroadcastGradientArgs", _shapes([2], [3]), label="not compatible", fails=True),
    Case("Tile", (f64(2, 3), array([2, 1], _I32))),
    Case("Tile", (f32(2), array([3], _I64))),
    Case("Tile", (i64(0, 9, 2, 2), array([2, 0], _I32)), label="to empty"),
    Case("Tile", (f32(), array([], _I32)), label="scalar"),
    Case("Tile", (strings("a", "b"), array([2], _I32)), label="strings"),
    Case("Tile", (f32(2, 3), array([2], _I32)), label="too few", fails=True),
    Case("Tile", (f32(2), array([-1], _I32)), label="negative", fails=True),
]
