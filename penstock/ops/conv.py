"""Convolutions over two and three spatial dimensions: ops, shape rules and gradients.

The public functions stand in `convolution.py` and `dilated.py`, depthwise ones in `depthwise.py`.
"""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_shape
from penstock.ir.registry import attr, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import FLOATING, INDEX
from penstock.ops import window
from penstock.ops.shape_checks import merge_sizes, with_rank
from penstock.ops.shaping import shape, shape_n
from penstock.shapes import Shape

_PADDINGS = ("SAME", "VALID", "EXPLICIT")
_CONV2D_ATTRS: dict[str, Any] = {
    "strides": attr("list(int)"),
    "use_cudnn_on_gpu": True,
    "padding": attr("string", allowed=_PADDINGS),
    "explicit_paddings": attr("list(int)", []),
    "data_format": attr("string", "NHWC", allowed=("NHWC", "NCHW")),
    "dilations": attr("list(int)", [1, 1, 1, 1]),
}
_CONV3D_ATTRS: dict[str, Any] = {
    "strides": attr("list(int)", minimum=5),
    "padding": attr("string", allowed=("SAME", "VALID")),
    "data_format": attr("string", "NDHWC", allowed=("NDHWC", "NCDHW")),
    "dilations": attr("list(int)", [1, 1, 1, 1, 1]),
}
Conv2D = op(
    "Conv2D(input: T, filter: T) -> output: T", T=types(FLOATING, dtypes.int32), **_CONV2D_ATTRS
)
Conv2DBackpropInput = op(
    "Conv2DBackpropInput(input_sizes: int32, filter: T, out_backprop: T) -> output: T",
    T=types(FLOATING, dtypes.int32),
    **_CONV2D_ATTRS,
)
Conv2DBackpropFilter = op(
    "Conv2DBackpropFilter(input: T, filter_sizes: int32, out_backprop: T) -> output: T",
    T=FLOATING,
    **_CONV2D_ATTRS,
)
Conv3D = op("Conv3D(input: T, filter: T) -> output: T", T=FLOATING, **_CONV3D_ATTRS)
Conv3DBackpropInputV2 = op(
    "Conv3DBackpropInputV2(input_sizes: Tshape, filter: T, out_backprop: T) -> output: T",
    T=FLOATING,
    Tshape=types(INDEX, default=dtypes.int32),
    **_CONV3D_ATTRS,
)
Conv3DBackpropFilterV2 = op(
    "Conv3DBackpropFilterV2(input: T, filter_sizes: int32, out_backprop: T) -> output: T",
    T=FLOATING,
    **_CONV3D_ATTRS,
)


# Shapes ---------------------------------------------------------------------------------------


@Conv2D.shape
@Conv3D.shape
def _(op: Any, input: Shape, filter: Shape) -> Any:
    rank = 5 if op.type == "Conv3D" else 4
    filter, input = with_rank(filter, rank), with_rank(input, rank)
    channels = window.channel_axis(op.attrs["data_format"])
    depth = input[channels]
    _check_groups(depth, filter[-2], filter[-1])
    sizes = _output_sizes(op, input, filter[:-2], channels)
    return window.assemble(input[0], sizes, filter[-1], channels)


def _check_groups(depth: int | None, filter_depth: int | None, output_depth: int | None) -> None:
    if not filter_depth or depth is None:
        return
    if depth % filter_depth:
        raise ValueError(
            f"Depth of input ({depth}) is not a multiple of input depth of filter ({filter_depth})"
        )
    groups = depth // filter_depth
    if groups > 1 and output_depth is not None and output_depth % groups:
        raise ValueError(
            f"Depth of output ({output_depth}) is not a multiple of the number of groups ({groups})"
        )


def _output_sizes(
    op: Any, input: tuple[int | None, ...], taps: tuple[int | None, ...], channels: int
) -> list[int | None]:
    """The spatial sizes of a convolution's output, its attrs checked."""
    attrs, rank = op.attrs, len(input)
    what = f"Conv2D on data format {attrs['data_format']}" if rank == 4 else "Conv3D"
    window.check_length(what, "stride", attrs["strides"], rank)
    window.check_length(f"Conv{rank - 2}D", "dilation", attrs["dilations"], rank)
    window.check_explicit_pads(attrs, rank, channels)
    rates = window.spatial(attrs["dilations"], channels)
    extents = [window.dilated(n, rate) for n, rate in zip(taps, rates, strict=True)]
    return window.output_sizes(
        window.spatial(input, channels),
        extents,
        window.spatial(attrs["strides"], channels),
        attrs["padding"],
        window.explicit_pads(attrs, channels),
    )


@Conv2DBackpropInput.shape
def _(op: Any, input_sizes: Shape, filter: Shape, out_backprop: Shape) -> Any:
    filter, out_backprop = with_rank(filter, 4), with_rank(out_backprop, 4)
    channels = window.channel_axis(op.attrs["data_format"])
    merge_sizes(out_backprop[channels], filter[3])
    with_rank(input_sizes, 1)
    sizes = constant_shape(op.inputs[0])
    if sizes is None:
        return window.assemble(out_backprop[0], [None, None], None, channels)
    if len(sizes) == 2:  # spatial sizes alone
        return window.assemble(out_backprop[0], sizes, filter[2], channels)
    if len(sizes) != 4:
        raise ValueError(
            "Conv2DBackpropInput requires input_sizes to contain 4 values or 2 values, but got: "
            f"{len(sizes)}"
        )
    return (merge_sizes(sizes[0], out_backprop[0]), *sizes[1:])


@Conv3DBackpropInputV2.shape
def _(op: Any, input_sizes: Shape, filter: Shape, out_backprop: Shape) -> Any:
    return with_rank(constant_shape(op.inputs[0]), 5)


@Conv2DBackpropFilter.shape
@Conv3DBackpropFilterV2.shape
def _(op: Any, input: Shape, filter_sizes: Shape, out_backprop: Shape) -> Any:
    return with_rank(constant_shape(op.inputs[1]), 4 if op.type == "Conv2DBackpropFilter" else 5)


# Gradients ------------------------------------------------------------------------------------

_PASSED_ON = (
    "strides",
    "padding",
    "use_cudnn_on_gpu",
    "explicit_paddings",
    "data_format",
    "dilations",
)


def _attrs(op: Any) -> dict[str, Any]:
    """The attrs that a convolution and its gradients have in common."""
    return {key: op.attrs[key] for key in _PASSED_ON if key in op.attrs}


def _shape(tensor: Tensor) -> Tensor:
    return shape(tensor)


@Conv2D.gradient
def _(op: Any, grad: Any) -> Any:
    input, filter = op.inputs
    input_shape, filter_shape = shape_n([input, filter])
    return [
        Conv2DBackpropInput(input_shape, filter, grad, **_attrs(op)),
        Conv2DBackpropFilter(input, filter_shape, grad, **_attrs(op)),
    ]


@Conv2DBackpropInput.gradient
def _(op: Any, grad: Any) -> Any:
    _, filter, out_backprop = op.inputs
    return [
        None,
        Conv2DBackpropFilter(grad, _shape(filter), out_backprop, **_attrs(op)),
        Conv2D(grad, filter, **_attrs(op)),
    ]


@Conv2DBackpropFilter.gradient
def _(op: Any, grad: Any) -> Any:
    input, _, out_backprop = op.inputs
    return [
        Conv2DBackpropInput(_shape(input), grad, out_backprop, **_attrs(op)),
        None,
        Conv2D(input, grad, **_attrs(op)),
    ]


@Conv3D.gradient
def _(op: Any, grad: Any) -> Any:
    input, filter = op.inputs
    return [
        Conv3DBackpropInputV2(_shape(input), filter, grad, **_attrs(op)),
        Conv3DBackpropFilterV2(input, _shape(filter), grad, **_attrs(op)),
    ]


@Conv3DBackpropInputV2.gradient
def _(op: Any, grad: Any) -> Any:
    _, filter, out_backprop = op.inputs
    return [
        None,
        Conv3DBackpropFilterV2(grad, _shape(filter), out_backprop, **_attrs(op)),
        Conv3D(grad, filter, **_attrs(op)),
    ]


@Conv3DBackpropFilterV2.gradient
def _(op: Any, grad: Any) -> Any:
    input, _, out_backprop = op.inputs
    return [
        Conv3DBackpropInputV2(_shape(input), grad, out_backprop, **_attrs(op)),
        None,
        Conv3D(input, grad, **_attrs(op)),
    ]
