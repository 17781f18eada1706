"""Parts of tensors."""

from typing import Any

from tests.ops.case import (
    Case,
    Ref,
    Resource,
    array,
    bools,
    c64,
    f16,
    f32,
    f64,
    i32,
    i64,
    ints,
    strings,
)

_I32, _I64 = "int32", "int64"


def _bounds(*numbers: list[int], dtype: str = _I32) -> tuple[Any, ...]:
    return tuple(array(entry, dtype) for entry in numbers)


def _masks(**bits: int) -> dict[str, int]:
    return {f"{key}_mask": value for key, value in bits.items()}


CASES = [
    Case("Slice", (f64(3, 4), *_bounds([1, 0], [2, 3]))),
    Case("Slice", (f32(3, 4), *_bounds([0, 1], [-1, 2], dtype=_I64))),
    Case("Slice", (ints("uint16", 0, 9, 4), *_bounds([4], [-1])), label="empty"),
    Case("Slice", (f32(), *_bounds([], [])), label="scalar"),
    Case("Slice", (strings("a", "b", "c"), *_bounds([1], [2])), label="strings"),
    Case("Slice", (f32(3), *_bounds([2], [2])), label="too long", fails=True),
    Case("Slice", (f32(3), *_bounds([-1], [1])), label="negative begin", fails=True),
    Case("Slice", (f32(3), *_bounds([0], [-2])), label="negative size", fails=True),
    Case("Slice", (f32(3, 4), *_bounds([0], [2])), label="too few", fails=True),
    Case("StridedSlice", (f64(4, 5), *_bounds([1, 0], [3, 5], [1, 2]))),
    Case("StridedSlice", (f64(4, 5), *_bounds([3, 4], [0, -6], [-2, -1]))),
    Case("StridedSlice", (f32(4, 5), *_bounds([-3, 1], [-1, 9], [1, 1], dtype=_I64))),
    Case(
        "StridedSlice", (f32(4), *_bounds([1], [3], [1], dtype="int16")), label="int16", grad=False
    ),
    Case(
        "StridedSlice",
        (f64(4, 5), *_bounds([1, 2], [2, 9], [1, 1])),
        _masks(shrink_axis=1, end=2),
        label="position and open end",
    ),
    Case(
        "StridedSlice",
        (f32(2, 3, 4), *_bounds([0, 0, -1], [0, 0, 0], [1, 1, 1])),
        _masks(ellipsis=1, new_axis=2, shrink_axis=4),
        label="ellipsis and new axis",
    ),
    Case(
        "StridedSlice",
        (c64(3), *_bounds([0], [0], [-1])),
        _masks(begin=1, end=1),
        label="reversed",
    ),
    Case(
        "StridedSlice",
        (f32(3), *_bounds([1], [2], [1])),
        _masks(begin=1, shrink_axis=1),
        label="position with begin mask",
    ),
    Case("StridedSlice", (bools(3, 2), *_bounds([2], [1], [1])), label="empty"),
    Case("StridedSlice", (f32(2, 3), *_bounds([], [], [])), label="nothing"),
    Case(
        "StridedSlice",
        (strings("a", "b", "c"), *_bounds([1], [2], [1])),
        _masks(shrink_axis=1),
        label="one string",
    ),
    Case("StridedSlice", (strings("a", "b", "c"), *_bounds([2], [0], [-1])), label="strings"),
    Case(
        "StridedSlice",
        (f32(3), *_bounds([3], [4], [1])),
        _masks(shrink_axis=1),
        label="position outside",
        fails=True,
    ),
    Case("StridedSlice", (f32(3), *_bounds([0], [3], [0])), label="no stride", fails=True),
    Case(
        "StridedSlice",
        (f32(3), *_bounds([0], [1], [-1])),
        _masks(shrink_axis=1),
        label="position with negative stride",
        fails=True,
    ),
    Case("StridedSlice", (f32(3), *_bounds([0, 0], [1, 1], [1, 1])), label="rank", fails=True),
    Case(
        "StridedSlice",
        (f32(3, 3), *_bounds([0, 0], [0, 0], [1, 1])),
        _masks(ellipsis=3),
        label="two ellipses",
        fails=True,
    ),
    Case("StridedSliceGrad", (*_bounds([4, 5], [1, 0], [3, 5], [1, 2]), f64(2, 3))),
    Case("StridedSliceGrad", (*_bounds([4], [3], [0], [-2]), f32(2)), label="negative stride"),
    Case(
        "StridedSliceGrad",
        (*_bounds([2, 3], [1, 0], [2, 0], [1, 1], dtype=_I64), f16(1)),
        _masks(shrink_axis=1, new_axis=2),
        label="wrong shape",
        fails=True,
    ),
    Case(
        "StridedSliceGrad",
        (*_bounds([2, 3], [1, 0], [2, 0], [1, 1], dtype=_I64), f16(3)),
        _masks(shrink_axis=1, end=2),
        label="position",
    ),
    Case("TensorStridedSliceUpdate", (f64(4, 5), *_bounds([1, 0], [3, 5], [1, 2]), f64(2, 3))),
    Case("StridedSliceAssign", (Ref(f32(4, 5)), *_bounds([1, 0], [3, 5], [1, 2]), f32(2, 3))),
    Case("StridedSliceAssign", (Ref(i64(0, 9, 4)), *_bounds([2], [0], [-1]), i64(0, 9, 2))),
    Case(
        "StridedSliceAssign",
        (Ref(f32(4), initialized=False), *_bounds([1], [3], [1]), f32(2)),
        label="not initialized",
        fails=True,
    ),
    Case(
        "ResourceStridedSliceAssign",
        (Resource(f32(2, 3)), *_bounds([0, 1], [1, 2], [1, 1]), f32(3)),
        _masks(shrink_axis=1, begin=2, end=2),
    ),
    Case(
        "ResourceStridedSliceAssign",
        (Resource(i32(0, 9, 4)), *_bounds([4], [5], [1]), i32(0, 9)),
        _masks(shrink_axis=1),
        label="position outside",
        fails=True,
    ),
]
