"""Grayscale morphology."""

from typing import Any

from tests.ops.case import Case, f16, f32, f64, i32, ints

OP = "Dilation2D"


def _attrs(stride: int = 1, rate: int = 1, padding: str = "SAME") -> dict[str, Any]:
    strides, rates = [1, stride, stride, 1], [1, rate, rate, 1]
    return {"strides": strides, "rates": rates, "padding": padding}


CASES = [
    Case(OP, (f32(2, 5, 6, 3), f32(3, 3, 3)), _attrs()),
    Case(OP, (f64(2, 5, 6, 3), f64(2, 3, 3)), _attrs(2)),
    Case(OP, (f64(1, 7, 6, 2), f64(3, 2, 2)), _attrs(1, 2, "VALID")),
    Case(OP, (f16(1, 4, 4, 2), f16(2, 2, 2)), _attrs()),
    Case(OP, (i32(-9, 9, 1, 4, 4, 2), i32(-9, 9, 2, 2, 2)), _attrs()),
    Case(OP, (ints("uint16", 0, 9, 1, 4, 4, 2), ints("uint16", 0, 9, 2, 2, 2)), _attrs()),
    Case(OP, (f32(2, 5, 6, 3), f32(3, 3, 4)), _attrs(), label="depth", fails=True),
    Case(OP, (f32(2, 5, 6), f32(3, 3, 3)), _attrs(), label="rank", fails=True),
    Case(OP, (f32(2, 2, 3, 3), f32(3, 3, 3)), _attrs(padding="VALID"), label="no room", grad=False),
    Case(OP, (f32(2, 1, 3, 3), f32(3, 3, 3)), _attrs(padding="VALID"), fails=True),
    Case(f"{OP}BackpropInput", (f64(1, 5, 4, 2), f64(3, 2, 2), f64(1, 5, 4, 2)), _attrs()),
    Case(f"{OP}BackpropInput", (f32(1, 5, 4, 2), f32(3, 2, 2), f32(1, 3, 2, 2)), _attrs(2)),
    Case(f"{OP}BackpropFilter", (f64(1, 5, 4, 2), f64(3, 2, 2), f64(1, 5, 4, 2)), _attrs()),
    Case(f"{OP}BackpropFilter", (f32(1, 5, 4, 2), f32(3, 2, 2), f32(1, 3, 2, 2)), _attrs(2)),
]
