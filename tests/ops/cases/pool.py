"""Pooling."""

from typing import Any

import numpy as np

from tests.ops.case import Case, array, bf16, f16, f32, f64, i32, i64, ints, u8


def _attrs(size: int, stride: int, padding: str = "SAME", **more: Any) -> dict[str, Any]:
    attrs = {"ksize": [1, size, size, 1], "strides": [1, stride, stride, 1]}
    return {**attrs, "padding": padding, **more}


def _attrs3d(size: int, stride: int, padding: str = "SAME") -> dict[str, Any]:
    steps = [1, stride, stride, stride, 1]
    return {"ksize": [1, size, size, size, 1], "strides": steps, "padding": padding}


def _distinct(*shape: int, dtype: str = "float64") -> np.ndarray:
    """Numbers that lie far apart, so that a small step changes no maximum."""
    count = int(np.prod(shape))
    order = np.argsort(np.asarray(f64(count)), kind="stable")
    return (order.reshape(shape) / 8).astype(dtype)


def _maxima(x: np.ndarray) -> np.ndarray:
    """The maxima of windows of two that don't overlap."""
    for axis in range(1, x.ndim - 1):
        halved = (*x.shape[:axis], x.shape[axis] // 2, 2, *x.shape[axis + 1 :])
        x = x.reshape(halved).max(axis + 1)
    return x


IMAGE, VOLUME = _distinct(2, 4, 6, 2), _distinct(1, 4, 4, 4, 1, dtype="float32")
EXPLICIT = _attrs(3, 2, "EXPLICIT", explicit_paddings=[0, 0, 1, 0, 1, 1, 0, 0])
UNEVEN = {"ksize": [1, 2, 3, 1], "strides": [1, 3, 1, 1], "padding": "SAME"}
DEEP = {"ksize": [1, 1, 1, 2], "strides": [1, 1, 1, 2], "padding": "VALID"}
ARGMAX = "MaxPoolWithArgmax"
BATCH = {"include_batch_in_index": True}
WINDOW, STEPS = array([1, 2, 2, 1], "int32"), array([1, 2, 2, 1], "int32")


def _max(size: int, stride: int, padding: str, *shape: int, **more: Any) -> Case:
    return Case("MaxPool", (_distinct(*shape),), _attrs(size, stride, padding), **more)


def _mean(size: int, stride: int, padding: str, *shape: int, **more: Any) -> Case:
    return Case("AvgPool", (f64(*shape),), _attrs(size, stride, padding), **more)


def _window_cases(make: Any) -> list[Case]:
    """Windows of all kinds: each padding, odd and even, over images that they fit or don't."""
    return [
        make(2, 2, "VALID", 2, 4, 6, 3),
        make(3, 2, "VALID", 1, 7, 6, 2),
        make(3, 2, "SAME", 2, 6, 6, 2),
        make(3, 2, "SAME", 1, 7, 5, 2),
        make(3, 1, "SAME", 1, 4, 5, 2),
        make(2, 1, "SAME", 1, 4, 5, 2, label="even window at stride one"),
        make(4, 1, "SAME", 1, 6, 5, 1, label="window of four at stride one"),
        make(2, 3, "SAME", 1, 7, 8, 2, label="stride beyond the window"),
        make(5, 1, "SAME", 1, 2, 3, 2, label="window beyond the image"),
        make(1, 1, "SAME", 1, 2, 3, 2, label="window of one"),
        make(2, 2, "SAME", 0, 4, 4, 3, label="no images"),
    ]


CASES = [
    *_window_cases(_max),
    *_window_cases(_mean),
    Case("MaxPool", (f32(2, 6, 6, 3),), _attrs(3, 2)),
    Case("MaxPool", (f16(1, 4, 4, 2),), _attrs(2, 2)),
    Case("MaxPool", (bf16(1, 4, 4, 2),), _attrs(2, 2)),
    Case("MaxPool", (i32(-9, 9, 1, 4, 4, 2),), _attrs(3, 2)),
    Case("MaxPool", (u8(0, 9, 1, 4, 4, 2),), _attrs(2, 1)),
    Case("MaxPool", (ints("uint16", 0, 9, 1, 4, 4, 2),), _attrs(2, 1)),
    Case("MaxPool", (i64(-9, 9, 1, 4, 4, 2),), _attrs(2, 1)),
    Case("MaxPool", (_distinct(1, 6, 5, 2),), EXPLICIT, label="explicit padding"),
    Case("MaxPool", (_distinct(1, 6, 5, 2),), UNEVEN, label="uneven window"),
    Case("MaxPool", (f32(1, 2, 3, 6),), DEEP, label="over channels", grad=False),
    Case("MaxPool", (f32(2, 4, 4),), _attrs(2, 2), label="rank", fails=True),
    Case("MaxPool", (f32(2, 4, 4, 3),), _attrs(5, 1, "VALID"), label="too large", fails=True),
    Case("MaxPool", (f32(2, 4, 4, 3),), {**DEEP, "ksize": [2, 1, 1, 1]}, fails=True),
    Case("MaxPoolV2", (_distinct(1, 5, 4, 2), WINDOW, STEPS), {"padding": "SAME"}),
    Case("MaxPoolV2", (f32(1, 5, 4, 2), WINDOW, STEPS), {"padding": "VALID"}),
    Case("AvgPool", (f32(2, 6, 6, 3),), _attrs(3, 2)),
    Case("AvgPool", (f16(1, 4, 4, 2),), _attrs(2, 2)),
    Case("AvgPool", (f64(1, 6, 5, 2),), UNEVEN, label="uneven window"),
    Case("AvgPool", (f32(2, 4, 4),), _attrs(2, 2), label="rank", fails=True),
    Case("AvgPoolGrad", (array([1, 5, 4, 2], "int32"), f64(1, 3, 2, 2)), _attrs(3, 2), grad=(1,)),
    Case(
        "AvgPoolGrad",
        (array([1, 5, 4, 2], "int32"), f64(1, 5, 4, 2)),
        _attrs(2, 1),
        label="even window at stride one",
        grad=(1,),
    ),
    Case(
        "MaxPoolGrad",
        (IMAGE, _maxima(IMAGE), f64(2, 2, 3, 2)),
        _attrs(2, 2),
        grad=(2,),
    ),
    Case(
        "MaxPoolGrad",
        (np.ones((1, 4, 4, 1), np.float32), np.ones((1, 3, 3, 1), np.float32), f32(1, 3, 3, 1)),
        _attrs(2, 1, "VALID"),
        label="ties",
        grad=False,
    ),
    Case(
        "MaxPoolGrad",
        (_distinct(1, 4, 4, 1), f64(1, 4, 4, 1), f64(1, 4, 4, 1)),
        _attrs(2, 1),
        label="even window at stride one",
        grad=False,
    ),
    Case(
        "MaxPoolGrad",
        (i32(0, 99, 1, 4, 4, 1), i32(0, 9, 1, 2, 2, 1), i32(0, 9, 1, 2, 2, 1)),
        _attrs(2, 2),
    ),
    Case(
        "MaxPoolGrad",
        (f32(1, 4, 4, 1), f32(1, 2, 2, 1), f32(1, 3, 3, 1)),
        _attrs(2, 2),
        label="gradient of another size",
        fails=True,
    ),
    Case(
        "MaxPoolGradV2",
        (IMAGE, _maxima(IMAGE), f64(2, 2, 3, 2), WINDOW, STEPS),
        {"padding": "SAME"},
        grad=(2,),
    ),
    Case(
        "MaxPoolGradGrad",
        (IMAGE, _maxima(IMAGE), f64(2, 4, 6, 2)),
        _attrs(2, 2),
        grad=(2,),
    ),
    Case(
        "MaxPoolGradGradV2",
        (IMAGE, _maxima(IMAGE), f64(2, 4, 6, 2), WINDOW, STEPS),
        {"padding": "SAME"},
        grad=False,
    ),
    Case(ARGMAX, (_distinct(2, 5, 4, 2),), _attrs(2, 2)),
    Case(ARGMAX, (f32(2, 5, 4, 2),), _attrs(2, 2, "VALID", **BATCH), label="in the batch"),
    Case(ARGMAX, (f32(1, 4, 4, 2),), _attrs(2, 1), label="even window at stride one", grad=False),
    Case(
        ARGMAX,
        (f32(1, 4, 4, 2),),
        _attrs(2, 2, Targmax="int32"),
        label="short positions",
        grad=False,
    ),
    Case(ARGMAX, (i32(-9, 9, 1, 4, 4, 2),), _attrs(3, 2)),
    Case(
        "MaxPoolGradWithArgmax",
        (f64(1, 2, 2, 1), f64(1, 1, 2, 1), array([[[[1], [2]]]], "int64")),
        {"ksize": [1, 2, 1, 1], "strides": [1, 2, 1, 1], "padding": "VALID"},
        grad=False,
    ),
    Case(
        "MaxPoolGradGradWithArgmax",
        (
            f32(1, 2, 2, 1),
            array([[[[1], [2]], [[3], [4]]]], "float32"),
            array([[[[1], [2]]]], "int64"),
        ),
        {"ksize": [1, 2, 1, 1], "strides": [1, 2, 1, 1], "padding": "VALID"},
        expected=(array([[[[2], [3]]]], "float32"),),
    ),
    Case("MaxPool3D", (_distinct(1, 4, 5, 4, 2, dtype="float32"),), _attrs3d(2, 2)),
    Case("MaxPool3D", (_distinct(1, 4, 5, 4, 2, dtype="float32"),), _attrs3d(3, 2, "VALID")),
    Case("MaxPool3D", (_distinct(1, 3, 3, 3, 1, dtype="float32"),), _attrs3d(2, 1)),
    Case("AvgPool3D", (f32(1, 4, 5, 4, 2),), _attrs3d(2, 2)),
    Case("AvgPool3D", (f32(1, 4, 5, 4, 2),), _attrs3d(3, 2, "VALID")),
    Case("AvgPool3D", (f32(1, 3, 3, 3, 1),), _attrs3d(2, 1)),
    Case("AvgPool3D", (bf16(1, 4, 4, 4, 2),), _attrs3d(2, 2), grad=False),
    Case("AvgPool3D", (f32(1, 4, 4, 4),), _attrs3d(2, 2), label="rank", fails=True),
    Case(
        "MaxPool3DGrad",
        (VOLUME, _maxima(VOLUME), f32(1, 2, 2, 2, 1)),
        _attrs3d(2, 2),
        grad=(2,),
    ),
    Case(
        "MaxPool3DGradGrad",
        (VOLUME, _maxima(VOLUME), f32(1, 4, 4, 4, 1)),
        _attrs3d(2, 2),
        grad=False,
    ),
    Case(
        "AvgPool3DGrad",
        (array([1, 4, 5, 4, 2], "int32"), f32(1, 2, 3, 2, 2)),
        _attrs3d(3, 2),
        grad=(1,),
    ),
]
