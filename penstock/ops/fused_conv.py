"""Convolutions that first resize or pad their input, as graph transforms fuse them."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_shape, constant_value
from penstock.ir.registry import attr, op, types
from penstock.ir.type_sets import FLOATING
from penstock.ops import window
from penstock.ops.shape_checks import merge_sizes, with_rank, with_size
from penstock.shapes import Shape

_CONV_ATTRS: dict[str, Any] = {
    "mode": attr("string", allowed=("REFLECT", "SYMMETRIC")),
    "strides": attr("list(int)"),
    "padding": attr("string", allowed=("SAME", "VALID")),
}
FusedPadConv2D = op(
    "FusedPadConv2D(input: T, paddings: int32, filter: T) -> output: T", T=FLOATING, **_CONV_ATTRS
)
FusedResizeAndPadConv2D = op(
    "FusedResizeAndPadConv2D(input: T, size: int32, paddings: int32, filter: T) -> output: T",
    T=types(dtypes.float16, dtypes.float32, dtypes.float64),
    resize_align_corners=False,
    **_CONV_ATTRS,
)


@FusedPadConv2D.shape
def _(op: Any, input: Shape, paddings: Shape, filter: Shape) -> Shape:
    return _convolved(op, with_rank(input, 4), 1, paddings, filter)


@FusedResizeAndPadConv2D.shape
def _(op: Any, input: Shape, size: Shape, paddings: Shape, filter: Shape) -> Shape:
    batch, _, _, depth = with_rank(input, 4)
    resized = constant_shape(op.inputs[1])
    sizes = (None, None) if resized is None else with_rank(resized, 2)
    return _convolved(op, (batch, *sizes, depth), 2, paddings, filter)


def _convolved(
    op: Any, input: tuple[int | None, ...], paddings_at: int, paddings: Shape, filter: Shape
) -> Shape:
    taps = with_rank(filter, 4)
    count, pair = with_rank(paddings, 2)
    if count != 4:  # TensorFlow refuses paddings of unknown shape too
        raise ValueError(f"Shape must be rank {-1 if count is None else count} but is rank 4")
    with_size(pair, 2)
    known = constant_value(op.inputs[paddings_at])
    padded: list[int | None] = [None] * 4
    if known is not None:
        padded = [
            None if size is None else size + int(before) + int(after)
            for size, (before, after) in zip(input, known, strict=True)
        ]
    strides = op.attrs["strides"]
    window.check_length("FusedConv2D", "stride", strides, 4)
    merge_sizes(input[3], taps[2])
    sizes = window.output_sizes(padded[1:3], taps[:2], strides[1:3], op.attrs["padding"], [])
    return (padded[0], *sizes, taps[3])
