"""Convolutions as users call them: `conv2d` and its kin of one and three dimensions."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Any

from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops import window
from penstock.ops.conv import (
    Conv2D,
    Conv2DBackpropFilter,
    Conv2DBackpropInput,
    Conv3D,
    Conv3DBackpropFilterV2,
    Conv3DBackpropInputV2,
)
from penstock.ops.joining import concat
from penstock.ops.shaping import expand_dims, renamed_argument, reshape, shape, squeeze
from penstock.shapes import dimension_value

__all__ = [
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_backprop_filter",
    "conv2d_backprop_input",
    "conv2d_transpose",
    "conv3d",
    "conv3d_backprop_filter",
    "conv3d_backprop_filter_v2",
    "conv3d_transpose",
    "conv_transpose",
]


def conv2d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """Slides `filter` over images and sums the products.

    Args:
      input: [batch, height, width, channels], or [batch, channels, height, width] for NCHW;
        further batch dimensions may stand in front.
      filter: [height, width, input channels, output channels].
      strides: A number, two (height, width), or one per dimension.
      padding: "SAME", "VALID", or a list of [before, after] pairs, one per dimension.
      dilations: How far apart the filter's taps are, in the forms of `strides`.
    """
    filter = renamed_argument("filters", filters, "filter", filter)
    padding, explicit = window.padding_attrs(padding)
    channels = window.channel_axis(data_format)
    attrs = {
        "strides": window.per_dimension(strides, 2, channels, "strides"),
        "use_cudnn_on_gpu": use_cudnn_on_gpu,
        "padding": padding,
        "explicit_paddings": explicit,
        "data_format": data_format or "NHWC",
        "dilations": window.per_dimension(dilations, 2, channels, "dilations"),
    }
    rank = getattr(input, "shape", None)
    rank = None if rank is None else len(rank) if isinstance(rank, tuple) else rank.ndims
    if rank is None or rank <= 4:
        return Conv2D(input, filter, name=name, **attrs)
    return squeeze_batch_dims(
        input, lambda images, name=None: Conv2D(images, filter, name=name, **attrs), 3, name
    )


def squeeze_batch_dims(input: Any, op: Any, inner_rank: int, name: str | None) -> Tensor:
    """Applies `op` with all but the last `inner_rank` dimensions of `input` made one."""
    with name_scope(name, "squeeze_batch_dims", [input]):
        input = convert_to_tensor(input, name="input")
        inner = _sizes(input.shape[-inner_rank:], lambda: shape(input)[-inner_rank:])
        batch = _sizes(input.shape[:-inner_rank], lambda: shape(input)[:-inner_rank])
        if isinstance(inner, list):
            flat = reshape(input, [-1, *inner])
        else:
            flat = reshape(input, concat(([-1], inner), axis=-1))
        output = op(flat)
        result_inner = _sizes(output.shape[-inner_rank:], lambda: shape(output)[-inner_rank:])
        result = reshape(output, concat((batch, result_inner), axis=-1))
        result.set_shape(input.shape[:-inner_rank].concatenate(output.shape[-inner_rank:]))
        return result


def _sizes(static: Any, dynamic: Any) -> Any:
    """The sizes of some dimensions: a list where they are known, else a tensor."""
    return static.as_list() if static.is_fully_defined() else dynamic()


def conv2d_backprop_input(
    input_sizes: Any,
    filter: Any = None,
    out_backprop: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """The gradient of `conv2d` for its input of shape `input_sizes`."""
    padding, explicit = window.padding_attrs(padding)
    return Conv2DBackpropInput(
        input_sizes,
        renamed_argument("filters", filters, "filter", filter),
        out_backprop,
        strides=strides,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        padding=padding,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


def conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of `conv2d` for its filter of shape `filter_sizes`."""
    padding, explicit = window.padding_attrs(padding)
    return Conv2DBackpropFilter(
        input,
        filter_sizes,
        out_backprop,
        strides=strides,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        padding=padding,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


def conv2d_transpose(
    value: Any = None,
    filter: Any = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: Any = "SAME",
    data_format: str = "NHWC",
    name: str | None = None,
    input: Any = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """The transpose of `conv2d`, often called deconvolution.

    Args:
      filter: [height, width, output channels, input channels].
      output_shape: The shape of the result.
    """
    value = renamed_argument("input", input, "value", value)
    filter = renamed_argument("filters", filters, "filter", filter)
    with name_scope(name, "conv2d_transpose", [value, filter, output_shape]) as scope:
        data_format = data_format or "NHWC"
        channels = window.channel_axis(data_format)
        padding, explicit = window.padding_attrs(padding)
        return Conv2DBackpropInput(
            output_shape,
            filter,
            value,
            strides=window.per_dimension(strides, 2, channels, "strides"),
            padding=padding,
            explicit_paddings=explicit,
            data_format=data_format,
            dilations=window.per_dimension(dilations, 2, channels, "dilations"),
            name=scope,
        )


def conv1d(
    value: Any = None,
    filters: Any = None,
    stride: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool | None = None,
    data_format: str | None = None,
    name: str | None = None,
    input: Any = None,
    dilations: Any = None,
) -> Tensor:
    """Slides `filters` over sequences: a 2-D convolution over images of height one.

    Args:
      value: [batch, width, channels], or [batch, channels, width] for data format NCW.
      filters: [width, input channels, output channels].
    """
    value = renamed_argument("input", input, "value", value)
    with name_scope(name, "conv1d", [value, filters]) as scope:
        format_2d, axis = _format_1d(data_format)
        channels = window.channel_axis(format_2d)
        strides = [1, *window.per_dimension(stride, 1, channels, "stride")]
        rates = [1, *window.per_dimension(dilations, 1, channels, "dilations")]
        if channels == 1:  # batch, channels, height, width: a 1 for the height as well
            strides, rates = _height_behind_channels(strides), _height_behind_channels(rates)
        images = expand_dims(value, axis)
        result = conv2d(
            images,
            expand_dims(filters, 0),
            strides=strides,
            padding=padding,
            use_cudnn_on_gpu=True if use_cudnn_on_gpu is None else use_cudnn_on_gpu,
            data_format=format_2d,
            dilations=rates,
            name=scope,
        )
        return squeeze(result, [axis])


def _format_1d(data_format: str | None) -> tuple[str, int]:
    """The 2-D data format for a 1-D one, and the axis of the height that it adds."""
    if data_format in (None, "NHWC", "NWC"):
        return "NHWC", 1
    if data_format in ("NCHW", "NCW"):
        return "NCHW", 2
    raise ValueError('data_format must be "NWC" or "NCW".')


def _height_behind_channels(entries: list[int]) -> list[int]:
    height, batch, channels, width = entries
    return [batch, channels, height, width]


def conv1d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: str = "SAME",
    data_format: str = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of `conv1d`.

    Args:
      filters: [width, output channels, input channels].
    """
    if data_format not in ("NWC", "NCW"):
        raise ValueError('data_format must be "NWC" or "NCW".')
    with name_scope(name, "conv1d_transpose", [input, filters, output_shape]) as scope:
        format_2d, _ = _format_1d(data_format)
        channels = window.channel_axis(format_2d)
        axis = 2 if channels == 1 else 1
        strides_1d = window.per_dimension(strides, 1, channels, "strides")
        rates_1d = window.per_dimension(dilations, 1, channels, "dilations")
        images = expand_dims(input, axis)
        filters = expand_dims(filters, 0)
        if isinstance(output_shape, (list, tuple)):
            output_shape = list(output_shape)
        sizes = concat([output_shape[:axis], [1], output_shape[axis:]], axis=0)
        result = Conv2DBackpropInput(
            sizes,
            filters,
            images,
            strides=[*strides_1d[:axis], 1, *strides_1d[axis:]],
            padding=padding,
            data_format=format_2d,
            dilations=[*rates_1d[:axis], 1, *rates_1d[axis:]],
            name=scope,
        )
        return squeeze(result, axis)


def conv3d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    padding: Any = None,
    data_format: str = "NDHWC",
    dilations: Sequence[int] = (1, 1, 1, 1, 1),
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """Slides `filter` over volumes.

    Args:
      input: [batch, depth, height, width, channels].
      filter: [depth, height, width, input channels, output channels].
    """
    return Conv3D(
        input,
        renamed_argument("filters", filters, "filter", filter),
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


def conv3d_backprop_filter_v2(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NDHWC",
    dilations: Sequence[int] = (1, 1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of `conv3d` for its filter of shape `filter_sizes`."""
    return Conv3DBackpropFilterV2(
        input,
        filter_sizes,
        out_backprop,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


conv3d_backprop_filter = conv3d_backprop_filter_v2


def conv3d_transpose(
    value: Any,
    filter: Any = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: Any = "SAME",
    data_format: str = "NDHWC",
    name: str | None = None,
    input: Any = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """The transpose of `conv3d`.

    Args:
      filter: [depth, height, width, output channels, input channels].
    """
    value = renamed_argument("input", input, "value", value)
    filter = renamed_argument("filters", filters, "filter", filter)
    with name_scope(name, "conv3d_transpose", [value, filter, output_shape]) as scope:
        data_format = data_format or "NDHWC"
        channels = window.channel_axis(data_format)
        return Conv3DBackpropInputV2(
            output_shape,
            filter,
            value,
            strides=window.per_dimension(strides, 3, channels, "strides"),
            padding=padding,
            data_format=data_format,
            dilations=window.per_dimension(dilations, 3, channels, "dilations"),
            name=scope,
        )


def conv_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of a convolution over one to three dimensions, as `output_shape` says."""
    with name_scope(name, "conv_transpose", [input, filters, output_shape]) as scope:
        length = getattr(output_shape, "shape", None)
        if length is not None:
            rank = None if length.ndims is None else dimension_value(length[0])
        elif isinstance(output_shape, Sized):
            rank = len(output_shape)
        else:
            raise ValueError("output_shape must be a tensor or sized collection.")
        if rank is None:
            raise ValueError("output_shape must have a known number of elements")
        transposes = {1: conv1d_transpose, 2: conv2d_transpose, 3: conv3d_transpose}
        transpose: Any = transposes.get(rank - 2)
        if transpose is None:
            raise ValueError(f"output_shape must be of length 3, 4 or 5 but was {rank}.")
        default_format = {1: "NWC", 2: "NHWC", 3: "NDHWC"}[rank - 2]
        return transpose(
            input,
            filters,
            output_shape,
            strides,
            padding=padding,
            data_format=data_format or default_format,
            dilations=dilations,
            name=scope,
        )
