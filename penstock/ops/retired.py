"""Ops that TensorFlow reads in old graphs alone; newer ones took their places."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_value
from penstock.ir.registry import attr, not_differentiable, op, types
from penstock.ir.type_sets import NUMERIC
from penstock.ops.conv import Conv3D
from penstock.ops.shape_checks import merge_shapes, merge_sizes, with_rank, with_rank_at_least
from penstock.shapes import Shape

_NORM_ATTRS: dict[str, Any] = {
    "T": NUMERIC,
    "variance_epsilon": attr("float"),
    "scale_after_normalization": attr("bool"),
}
_CONV3D_ATTRS: dict[str, Any] = {
    "T": types(dtypes.float16, dtypes.float32, dtypes.float64),
    "strides": attr("list(int)", minimum=5),
    "padding": attr("string", allowed=("SAME", "VALID")),
    "dilations": attr("list(int)", [1, 1, 1, 1, 1]),
}
BatchNormWithGlobalNormalization = op(
    "BatchNormWithGlobalNormalization(t: T, m: T, v: T, beta: T, gamma: T) -> result: T",
    **_NORM_ATTRS,
)
BatchNormWithGlobalNormalizationGrad = op(
    "BatchNormWithGlobalNormalizationGrad(t: T, m: T, v: T, gamma: T, backprop: T) -> dx: T, "
    "dm: T, dv: T, db: T, dg: T",
    **_NORM_ATTRS,
)
Conv3DBackpropInput = op(
    "Conv3DBackpropInput(input: T, filter: T, out_backprop: T) -> output: T", **_CONV3D_ATTRS
)
Conv3DBackpropFilter = op(
    "Conv3DBackpropFilter(input: T, filter: T, out_backprop: T) -> output: T", **_CONV3D_ATTRS
)
CompareAndBitpack = op(
    "CompareAndBitpack(input: T, threshold: T) -> output: uint8",
    T=types(
        *(dtypes.bool, dtypes.float16, dtypes.float32, dtypes.float64),
        *(dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64),
    ),
)
not_differentiable(CompareAndBitpack)
TileGrad = op("TileGrad(input: T, multiples: int32) -> output: T")


def _channels(input: Shape, *vectors: Shape) -> tuple[tuple[int | None, ...], int | None]:
    """The images' shape, and how many channels they and the vectors have."""
    images = with_rank(input, 4)
    depth = images[3]
    for vector in vectors:
        depth = merge_sizes(depth, with_rank(vector, 1)[0])
    return (*images[:3], depth), depth


@BatchNormWithGlobalNormalization.shape
def _(op: Any, t: Shape, m: Shape, v: Shape, beta: Shape, gamma: Shape) -> Shape:
    return _channels(t, m, v, beta, gamma)[0]


@BatchNormWithGlobalNormalizationGrad.shape
def _(op: Any, t: Shape, m: Shape, v: Shape, gamma: Shape, backprop: Shape) -> list[Shape]:
    images, depth = _channels(merge_shapes(t, backprop), m, v, gamma)
    return [images, *[(depth,)] * 4]


@BatchNormWithGlobalNormalization.gradient
def _(op: Any, grad: Any) -> Any:
    t, m, v, _, gamma = op.inputs
    return BatchNormWithGlobalNormalizationGrad(
        *(t, m, v, gamma, grad),
        variance_epsilon=op.attrs["variance_epsilon"],
        scale_after_normalization=op.attrs["scale_after_normalization"],
    )


@CompareAndBitpack.shape
def _(op: Any, input: Shape, threshold: Shape) -> Shape:
    with_rank(threshold, 0)
    bits = with_rank_at_least(input, 1)
    if bits is None or bits[-1] is None:
        return bits
    if bits[-1] % 8:
        raise ValueError(f"Dimension size must be evenly divisible by 8 but is {bits[-1]}")
    return (*bits[:-1], bits[-1] // 8)


@Conv3DBackpropInput.shape
def _(op: Any, input: Shape, filter: Shape, out_backprop: Shape) -> Shape:
    return with_rank(input, 5)


@Conv3DBackpropFilter.shape
def _(op: Any, input: Shape, filter: Shape, out_backprop: Shape) -> Shape:
    return with_rank(filter, 5)


def _conv_attrs(op: Any) -> dict[str, Any]:
    return {key: op.attrs[key] for key in ("strides", "padding", "dilations")}


@Conv3DBackpropInput.gradient
def _(op: Any, grad: Any) -> Any:
    _, filter, out_backprop = op.inputs
    return [
        None,
        Conv3DBackpropFilter(grad, filter, out_backprop, **_conv_attrs(op)),
        Conv3D(grad, filter, **_conv_attrs(op)),
    ]


@Conv3DBackpropFilter.gradient
def _(op: Any, grad: Any) -> Any:
    input, _, out_backprop = op.inputs
    return [
        Conv3DBackpropInput(input, grad, out_backprop, **_conv_attrs(op)),
        None,
        Conv3D(input, grad, **_conv_attrs(op)),
    ]


@TileGrad.shape
def _(op: Any, input: Shape, multiples: Shape) -> Shape:
    times = constant_value(op.inputs[1])
    if input is None or times is None:
        return None if input is None else (None,) * len(input)
    return tuple(
        None if size is None else size // int(count)
        for size, count in zip(with_rank(input, len(times)), times, strict=True)
    )
