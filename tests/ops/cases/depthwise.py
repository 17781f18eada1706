"""Depthwise convolutions."""

from typing import Any

from tests.ops.case import Case, array, bf16, f32, f64

OP = "DepthwiseConv2dNative"


def _sizes(*sizes: int) -> Any:
    return array(sizes, "int32")


def _attrs(stride: int = 1, padding: str = "SAME", **more: Any) -> dict[str, Any]:
    return {"strides": [1, stride, stride, 1], "padding": padding, **more}


EXPLICIT = _attrs(2, "EXPLICIT", explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0])

CASES = [
    Case(OP, (f32(2, 5, 6, 3), f32(3, 3, 3, 2)), _attrs()),
    Case(OP, (f64(2, 5, 6, 3), f64(3, 3, 3, 1)), _attrs(2)),
    Case(OP, (f64(1, 6, 6, 2), f64(2, 4, 2, 3)), _attrs()),
    Case(OP, (f64(2, 5, 6, 3), f64(3, 2, 3, 2)), _attrs(2, "VALID")),
    Case(OP, (f64(1, 7, 6, 2), f64(3, 3, 2, 2)), EXPLICIT, label="explicit padding"),
    Case(OP, (bf16(1, 4, 4, 2), bf16(3, 3, 2, 2)), _attrs(), rtol=5e-2, atol=5e-2, grad=False),
    Case(OP, (f32(0, 5, 6, 3), f32(3, 3, 3, 2)), _attrs(), label="no images", grad=False),
    Case(OP, (f32(2, 5, 6, 3), f32(3, 3, 4, 2)), _attrs(), label="depth", fails=True),
    Case(OP, (f32(2, 5, 6), f32(3, 3, 3, 2)), _attrs(), label="rank", fails=True),
    Case(f"{OP}BackpropInput", (_sizes(2, 5, 6, 3), f64(3, 3, 3, 2), f64(2, 3, 3, 6)), _attrs(2)),
    Case(
        f"{OP}BackpropInput",
        (_sizes(2, 5, 6, 3), f32(3, 3, 3, 2), f32(2, 5, 6, 6)),
        _attrs(2),
        label="gradient of another size",
        fails=True,
    ),
    Case(f"{OP}BackpropFilter", (f64(2, 5, 6, 3), _sizes(3, 3, 3, 2), f64(2, 3, 3, 6)), _attrs(2)),
    Case(
        f"{OP}BackpropFilter",
        (f32(2, 5, 6, 3), _sizes(3, 3, 3, 2), f32(2, 5, 6, 6)),
        _attrs(2),
        label="gradient of another size",
        fails=True,
    ),
]
