"""Depthwise convolutions: one filter per input channel, and what is built on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.ir.constants import constant_shape
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.registry import attr, op
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import FLOATING
from penstock.ops import window
from penstock.ops.conv import Conv2D
from penstock.ops.dilated import with_space_to_batch
from penstock.ops.shape_checks import merge_sizes, with_rank
from penstock.ops.shaping import renamed_argument, shape
from penstock.shapes import Shape

__all__ = [
    "depthwise_conv2d",
    "depthwise_conv2d_backprop_filter",
    "depthwise_conv2d_backprop_input",
    "depthwise_conv2d_native",
    "depthwise_conv2d_native_backprop_filter",
    "depthwise_conv2d_native_backprop_input",
    "separable_conv2d",
]

_ATTRS: dict[str, Any] = {
    "strides": attr("list(int)"),
    "padding": attr("string", allowed=("SAME", "VALID", "EXPLICIT")),
    "explicit_paddings": attr("list(int)", []),
    "data_format": attr("string", "NHWC", allowed=("NHWC", "NCHW")),
    "dilations": attr("list(int)", [1, 1, 1, 1]),
}

DepthwiseConv2dNative = op(
    "DepthwiseConv2dNative(input: T, filter: T) -> output: T", T=FLOATING, **_ATTRS
)
DepthwiseConv2dNativeBackpropInput = op(
    "DepthwiseConv2dNativeBackpropInput(input_sizes: int32, filter: T, out_backprop: T) "
    "-> output: T",
    T=FLOATING,
    **_ATTRS,
)
DepthwiseConv2dNativeBackpropFilter = op(
    "DepthwiseConv2dNativeBackpropFilter(input: T, filter_sizes: int32, out_backprop: T) "
    "-> output: T",
    T=FLOATING,
    **_ATTRS,
)


@DepthwiseConv2dNative.shape
def _(op: Any, input: Shape, filter: Shape) -> Any:
    input, filter = with_rank(input, 4), with_rank(filter, 4)
    attrs, channels = op.attrs, window.channel_axis(op.attrs["data_format"])
    window.check_length("DepthwiseConv2D", "stride", attrs["strides"], 4)
    window.check_length("DepthwiseConv2D", "dilation", attrs["dilations"], 4)
    window.check_explicit_pads(attrs, 4, channels)
    depth, multiplier = merge_sizes(input[channels], filter[2]), filter[3]
    outputs = None if depth is None or multiplier is None else depth * multiplier
    rates = window.spatial(attrs["dilations"], channels)
    sizes = window.output_sizes(
        window.spatial(input, channels),
        [window.dilated(n, rate) for n, rate in zip(filter[:2], rates, strict=True)],
        window.spatial(attrs["strides"], channels),
        attrs["padding"],
        window.explicit_pads(attrs, channels),
    )
    return window.assemble(input[0], sizes, outputs, channels)


@DepthwiseConv2dNativeBackpropInput.shape
def _(op: Any, input_sizes: Shape, filter: Shape, out_backprop: Shape) -> Any:
    return with_rank(constant_shape(op.inputs[0]), 4)


@DepthwiseConv2dNativeBackpropFilter.shape
def _(op: Any, input: Shape, filter_sizes: Shape, out_backprop: Shape) -> Any:
    return with_rank(constant_shape(op.inputs[1]), 4)


def _attrs(op: Any) -> dict[str, Any]:
    return {key: op.attrs[key] for key in _ATTRS}


@DepthwiseConv2dNative.gradient
def _(op: Any, grad: Any) -> Any:
    input, filter = op.inputs
    return [
        DepthwiseConv2dNativeBackpropInput(shape(input), filter, grad, **_attrs(op)),
        DepthwiseConv2dNativeBackpropFilter(input, shape(filter), grad, **_attrs(op)),
    ]


@DepthwiseConv2dNativeBackpropInput.gradient
def _(op: Any, grad: Any) -> Any:
    _, filter, out_backprop = op.inputs
    return [
        None,
        DepthwiseConv2dNativeBackpropFilter(grad, shape(filter), out_backprop, **_attrs(op)),
        DepthwiseConv2dNative(grad, filter, **_attrs(op)),
    ]


@DepthwiseConv2dNativeBackpropFilter.gradient
def _(op: Any, grad: Any) -> Any:
    input, _, out_backprop = op.inputs
    return [
        DepthwiseConv2dNativeBackpropInput(shape(input), grad, out_backprop, **_attrs(op)),
        None,
        DepthwiseConv2dNative(input, grad, **_attrs(op)),
    ]


# Public functions -----------------------------------------------------------------------------


def depthwise_conv2d_native(
    input: Any,
    filter: Any,
    strides: Sequence[int],
    padding: Any,
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """Convolves channel c of `input` with its own filters, into channels c*m to c*m + m - 1.

    Args:
      filter: [height, width, channels, m].
    """
    padding, explicit = window.padding_attrs(padding)
    return DepthwiseConv2dNative(
        input,
        filter,
        strides=strides,
        padding=padding,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


def depthwise_conv2d_native_backprop_input(
    input_sizes: Any,
    filter: Any,
    out_backprop: Any,
    strides: Sequence[int],
    padding: Any,
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of `depthwise_conv2d_native` for its input of shape `input_sizes`."""
    padding, explicit = window.padding_attrs(padding)
    return DepthwiseConv2dNativeBackpropInput(
        input_sizes,
        filter,
        out_backprop,
        strides=strides,
        padding=padding,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


def depthwise_conv2d_native_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Sequence[int],
    padding: Any,
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of `depthwise_conv2d_native` for its filter of shape `filter_sizes`."""
    padding, explicit = window.padding_attrs(padding)
    return DepthwiseConv2dNativeBackpropFilter(
        input,
        filter_sizes,
        out_backprop,
        strides=strides,
        padding=padding,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


depthwise_conv2d_backprop_input = depthwise_conv2d_native_backprop_input
depthwise_conv2d_backprop_filter = depthwise_conv2d_native_backprop_filter


def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Sequence[int],
    padding: Any,
    rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """Convolves each channel with its own filters, whose taps are `rate` apart.

    Args:
      filter: [height, width, channels, multiplier].
      strides: For all four dimensions; all ones if a rate is above one.
      rate: For height and width.
      dilations: Another name of `rate`.
    """
    rate = renamed_argument("dilations", dilations, "rate", rate)
    with name_scope(name, "depthwise", [input, filter]) as scope:
        input = convert_to_tensor(input, name="tensor_in")
        filter = convert_to_tensor(filter, name="filter_in")
        return _dilated_depthwise(
            input, filter, strides, padding, [1, 1] if rate is None else rate, data_format, scope
        )


def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Sequence[int],
    padding: Any,
    rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """A depthwise convolution whose channels a 1 by 1 convolution then mixes.

    Args:
      depthwise_filter: [height, width, channels, multiplier].
      pointwise_filter: [1, 1, channels * multiplier, output channels].
    """
    rate = renamed_argument("dilations", dilations, "rate", rate)
    with name_scope(name, "separable_conv2d", [input, depthwise_filter, pointwise_filter]) as scope:
        input = convert_to_tensor(input, name="tensor_in")
        depthwise_filter = convert_to_tensor(depthwise_filter, name="depthwise_filter")
        pointwise_filter = convert_to_tensor(pointwise_filter, name="pointwise_filter")
        taps = pointwise_filter.get_shape().with_rank(4)
        taps.dims[0].assert_is_compatible_with(1)
        taps.dims[1].assert_is_compatible_with(1)
        depthwise = _dilated_depthwise(
            input,
            depthwise_filter,
            strides,
            padding,
            [1, 1] if rate is None else rate,
            data_format,
            "depthwise",
        )
        return Conv2D(
            depthwise,
            pointwise_filter,
            strides=[1, 1, 1, 1],
            padding="VALID",
            data_format=data_format,
            name=scope,
        )


def _dilated_depthwise(
    input: Tensor,
    filter: Tensor,
    strides: Sequence[int],
    padding: Any,
    rate: Any,
    data_format: str | None,
    name: str,
) -> Tensor:
    def convolve(input_converted: Tensor, _: Any, padding: Any) -> Tensor:
        return depthwise_conv2d_native(
            input_converted, filter, strides, padding, data_format or "NHWC", name=name
        )

    return with_space_to_batch(
        input=input,
        filter_shape=shape(filter),
        dilation_rate=rate,
        padding=padding,
        data_format=data_format,
        op=convolve,
    )
