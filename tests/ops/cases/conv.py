"""Convolutions; TensorFlow's own kernels for processors know channels-last tensors alone."""

from typing import Any

from tests.ops.case import Case, array, bf16, f16, f32, f64


def _sizes(*sizes: int) -> Any:
    return array(sizes, "int32")


def _attrs(stride: int = 1, padding: str = "SAME", **more: Any) -> dict[str, Any]:
    return {"strides": [1, stride, stride, 1], "padding": padding, **more}


def _attrs3d(stride: int = 1, padding: str = "SAME") -> dict[str, Any]:
    return {"strides": [1, stride, stride, stride, 1], "padding": padding}


UNEVEN = {"strides": [1, 2, 3, 1], "padding": "SAME"}
EXPLICIT = _attrs(2, "EXPLICIT", explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0])
DILATED = _attrs(dilations=[1, 2, 3, 1])
DILATED_VALID = _attrs(padding="VALID", dilations=[1, 2, 1, 1])

CASES = [
    Case("Conv2D", (f32(2, 5, 6, 3), f32(3, 3, 3, 4)), _attrs()),
    Case("Conv2D", (f64(2, 5, 6, 3), f64(3, 3, 3, 4)), _attrs(2)),
    Case("Conv2D", (f64(1, 6, 6, 2), f64(2, 4, 2, 3)), _attrs()),
    Case("Conv2D", (f64(2, 5, 6, 3), f64(3, 2, 3, 4)), _attrs(2, "VALID")),
    Case("Conv2D", (f32(1, 4, 4, 2), f32(1, 1, 2, 5)), _attrs(), label="one by one"),
    Case("Conv2D", (f64(1, 7, 8, 2), f64(3, 3, 2, 2)), UNEVEN, label="uneven strides"),
    Case("Conv2D", (f64(1, 7, 6, 2), f64(3, 3, 2, 2)), EXPLICIT, label="explicit padding"),
    Case("Conv2D", (f64(1, 7, 8, 2), f64(3, 3, 2, 2)), DILATED, label="dilated", grad=False),
    Case(
        "Conv2D",
        (f64(1, 7, 8, 2), f64(3, 3, 2, 2)),
        DILATED_VALID,
        label="dilated and valid",
        grad=False,
    ),
    Case("Conv2D", (f32(1, 2, 2, 3), f32(5, 5, 3, 2)), _attrs(), label="filter beyond the image"),
    Case("Conv2D", (f32(1, 7, 7, 1), f32(2, 2, 1, 1)), _attrs(3), label="stride beyond filter"),
    Case("Conv2D", (f16(1, 4, 4, 2), f16(3, 3, 2, 2)), _attrs(), rtol=1e-2),
    Case("Conv2D", (bf16(1, 4, 4, 2), bf16(3, 3, 2, 2)), _attrs(), rtol=5e-2, atol=5e-2),
    Case("Conv2D", (f32(0, 5, 5, 3), f32(3, 3, 3, 4)), _attrs(), label="no images"),
    Case("Conv2D", (f32(2, 5, 5), f32(3, 3, 3, 4)), _attrs(), label="rank", fails=True),
    Case("Conv2D", (f32(2, 5, 5, 3), f32(3, 3, 3)), _attrs(), label="filter rank", fails=True),
    Case("Conv2D", (f32(2, 5, 5, 3), f32(3, 3, 2, 4)), _attrs(), label="depth", fails=True),
    Case("Conv2D", (f32(2, 2, 5, 3), f32(3, 3, 3, 4)), _attrs(1, "VALID"), fails=True),
    Case("Conv2D", (f32(2, 5, 5, 3), f32(3, 3, 3, 0)), _attrs(), label="no filters", grad=False),
    Case("Conv2D", (f32(2, 5, 5, 3), f32(3, 3, 3, 4)), _attrs(0), label="stride 0", fails=True),
    Case("Conv2DBackpropInput", (_sizes(2, 5, 6, 3), f64(3, 3, 3, 4), f64(2, 3, 3, 4)), _attrs(2)),
    Case(
        "Conv2DBackpropInput",
        (_sizes(1, 6, 6, 2), f64(2, 4, 2, 3), f64(1, 6, 6, 3)),
        _attrs(),
        label="uneven padding",
    ),
    Case(
        "Conv2DBackpropInput",
        (_sizes(1, 7, 6, 2), f64(3, 3, 2, 2), f64(1, 4, 3, 2)),
        EXPLICIT,
        label="explicit padding",
    ),
    Case(
        "Conv2DBackpropInput",
        (_sizes(5, 6), f32(3, 3, 3, 4), f32(2, 5, 6, 4)),
        _attrs(),
        label="sizes of the image alone",
        grad=False,
    ),
    Case(
        "Conv2DBackpropInput",
        (_sizes(2, 5, 6, 3), f32(3, 3, 3, 4), f32(2, 5, 6, 4)),
        _attrs(2),
        label="gradient of another size",
        fails=True,
    ),
    Case(
        "Conv2DBackpropInput",
        (_sizes(2, 5, 6, 3), f32(3, 3, 3, 4), f32(2, 5, 6, 5)),
        _attrs(),
        label="depth",
        fails=True,
    ),
    Case("Conv2DBackpropFilter", (f64(2, 5, 6, 3), _sizes(3, 3, 3, 4), f64(2, 3, 3, 4)), _attrs(2)),
    Case(
        "Conv2DBackpropFilter",
        (f64(1, 6, 6, 2), _sizes(2, 4, 2, 3), f64(1, 6, 6, 3)),
        _attrs(),
        label="uneven padding",
    ),
    Case(
        "Conv2DBackpropFilter",
        (f32(2, 5, 6, 3), _sizes(3, 3, 3, 4), f32(2, 5, 6, 4)),
        _attrs(2),
        label="gradient of another size",
        fails=True,
    ),
    Case("Conv3D", (f64(1, 4, 5, 4, 2), f64(3, 3, 3, 2, 3)), _attrs3d()),
    Case("Conv3D", (f64(2, 4, 5, 4, 2), f64(2, 3, 2, 2, 3)), _attrs3d(2)),
    Case("Conv3D", (f32(1, 4, 5, 4, 2), f32(2, 3, 2, 2, 3)), _attrs3d(1, "VALID")),
    Case("Conv3D", (f32(1, 4, 5, 4, 3), f32(2, 3, 2, 2, 3)), _attrs3d(), label="depth", fails=True),
    Case("Conv3D", (f32(1, 4, 5, 4), f32(2, 3, 2, 2, 3)), _attrs3d(), label="rank", fails=True),
    Case(
        "Conv3DBackpropInputV2",
        (_sizes(1, 4, 5, 4, 2), f64(3, 3, 3, 2, 3), f64(1, 2, 3, 2, 3)),
        _attrs3d(2),
    ),
    Case(
        "Conv3DBackpropFilterV2",
        (f64(1, 4, 5, 4, 2), _sizes(3, 3, 3, 2, 3), f64(1, 2, 3, 2, 3)),
        _attrs3d(2),
    ),
]
