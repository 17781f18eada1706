"""Convolutions of any number of dimensions, and dilation by moving space into the batch.

A filter whose taps are r apart sees only every r-th row. `with_space_to_batch` puts rows of the
same phase beside each other, as images of their own, where a plain filter does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock import dtypes
from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops import window
from penstock.ops.blocks import (
    batch_to_space,
    batch_to_space_nd,
    required_space_to_batch_paddings,
    space_to_batch,
    space_to_batch_nd,
)
from penstock.ops.conv import Conv2D, Conv2DBackpropInput, Conv3D
from penstock.ops.convolution import conv2d_transpose, squeeze_batch_dims
from penstock.ops.joining import concat, stack
from penstock.ops.shape_checks import with_rank
from penstock.ops.shaping import expand_dims, renamed_argument, shape, squeeze

__all__ = [
    "atrous_conv2d",
    "atrous_conv2d_transpose",
    "convolution",
    "with_space_to_batch",
]

# op(input, num_spatial_dims, padding) -> result
Windowed = Callable[[Tensor, int, Any], Tensor]


def with_space_to_batch(
    input: Any,
    dilation_rate: Any,
    padding: str,
    op: Windowed,
    filter_shape: Any = None,
    spatial_dims: Sequence[int] | None = None,
    data_format: str | None = None,
) -> Tensor:
    """Applies `op` to `input` with its spatial dimensions subsampled by `dilation_rate`.

    Args:
      dilation_rate: One rate per spatial dimension; all ones call `op` on `input` itself.
      padding: "SAME" or "VALID".
      op: `op(input, num_spatial_dims, padding)`, called with padding "VALID".
      filter_shape: Its first entries are the spatial sizes of the window; needed for "SAME".
      spatial_dims: The positions of the spatial dimensions, ascending.
    """
    input = convert_to_tensor(input, name="input")
    rate = convert_to_tensor(dilation_rate, dtypes.int32, name="dilation_rate")
    if rate._rank() not in (1, None):
        raise ValueError(f"rate must be rank 1, got {dilation_rate}")
    count = with_rank(rate._shape, 1)[0]
    if count is None:
        raise ValueError("rate must have known shape")
    dims = _spatial_dims(spatial_dims, count, data_format)
    rank = input._rank()
    if rank is not None and rank <= dims[-1]:
        raise ValueError(f"input tensor must have rank {dims[-1] + 1} at least, got {rank}")
    known_rate = constant_value(rate)
    if known_rate is not None:
        if np.any(known_rate < 1):
            raise ValueError(f"dilation_rate must be positive, got {dilation_rate}")
        if np.all(known_rate == 1):
            return op(input, count, padding)
    base_paddings = _base_paddings(padding, filter_shape, count, rate, known_rate)
    return _subsampled(input, rate, known_rate, base_paddings, dims, op)


def _spatial_dims(given: Any, count: int, data_format: str | None) -> list[int]:
    if given is None:
        first = 2 if window.channel_axis(data_format) == 1 else 1
        return list(range(first, first + count))
    dims = sorted({int(axis) for axis in given})
    if dims != [int(axis) for axis in given] or (dims and dims[0] < 1):
        raise ValueError(  # the word is TensorFlow's
            "spatial_dims must be a montonically increasing sequence of positive integers, got "
            f"{given}"
        )
    return dims


def _base_paddings(
    padding: str, filter_shape: Any, count: int, rate: Tensor, known_rate: np.ndarray | None
) -> Any:
    """The padding that the dilated window itself needs."""
    if padding == "VALID":
        return np.zeros([count, 2], np.int32)
    if padding != "SAME":
        raise ValueError(f"Invalid padding method {padding!r}")
    if filter_shape is None:
        raise ValueError("filter_shape must be specified for SAME padding")
    filter_shape = convert_to_tensor(filter_shape, name="filter_shape")
    known_filter = constant_value(filter_shape)
    taps: Any = filter_shape if known_filter is None else known_filter
    extra = (taps[:count] - 1) * (rate if known_rate is None else known_rate)
    start = extra // 2
    end = extra - start
    return stack([[start[i], end[i]] for i in range(count)])


def _subsampled(
    input: Tensor,
    rate: Tensor,
    known_rate: np.ndarray | None,
    base_paddings: Any,
    dims: list[int],
    op: Windowed,
) -> Tensor:
    paddings, crops = required_space_to_batch_paddings(
        input_shape=_spatial_sizes(input, dims),
        base_paddings=base_paddings,
        block_shape=rate,
    )
    block = _for_all_dims(rate if known_rate is None else known_rate, 1, dims)
    paddings = _for_all_dims(paddings, [0, 0], dims)
    crops = _for_all_dims(crops, [0, 0], dims)
    phases = space_to_batch_nd(input=input, block_shape=block, paddings=paddings)
    result = op(phases, len(dims), "VALID")
    result = batch_to_space_nd(input=result, block_shape=block, crops=crops)
    return result


def _spatial_sizes(input: Tensor, dims: list[int]) -> Any:
    static = input._shape
    if static is not None:
        sizes = [static[axis] for axis in dims]
        if None not in sizes:
            return np.array(sizes, dtype=np.int32)
    dynamic = shape(input)
    return stack([dynamic[axis] for axis in dims])


def _for_all_dims(value: Any, blank: Any, dims: list[int]) -> Any:
    """A per-dimension value widened by `blank` to all dimensions from 1 to the last spatial one."""
    known = constant_value(value) if isinstance(value, Tensor) else value
    source: Any = value if known is None else known
    parts: list[Any] = []
    first = 0
    for i, axis in enumerate(dims):
        gap = axis - (dims[i - 1] + 1 if i else 1)
        if gap:
            parts.append(np.array([blank] * gap, dtype=np.int32))
        if i + 1 == len(dims) or dims[i + 1] != axis + 1:
            parts.append(source[first : i + 1])
            first = i + 1
    if known is not None:
        return np.concatenate([np.asarray(part) for part in parts]).astype(np.int32)
    return concat(parts, 0)


def convolution(
    input: Any,
    filter: Any,
    padding: Any,
    strides: Any = None,
    dilation_rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """Slides `filter` over one to three spatial dimensions.

    Args:
      input: [batch, spatial dimensions …, channels], or channels second for "NC…" formats.
      filter: [spatial sizes …, input channels, output channels].
      strides: One per spatial dimension; all ones if a dilation rate is above one.
      dilation_rate: How far apart the filter's taps are, one number per spatial dimension.
    """
    filter = renamed_argument("filters", filters, "filter", filter)
    rate = renamed_argument("dilations", dilations, "dilation_rate", dilation_rate)
    with name_scope(name, "convolution", [input, filter]) as scope:
        input = convert_to_tensor(input, name="input")
        filter = convert_to_tensor(filter, name="filter")
        return convolve_by_rate(input, filter, padding, strides, rate, data_format, scope)


def convolve_by_rate(
    input: Tensor,
    filter: Any,
    padding: Any,
    strides: Any,
    dilation_rate: Any,
    data_format: str | None,
    name: str,
) -> Tensor:
    """`convolution` whose `name` is that of the plain convolution inside, not of all its ops.

    `filter` may be a variable, which the plain convolution reads.
    """
    count = _spatial_count(input, filter)
    _check_format(data_format, count)
    channels = window.channel_axis(data_format)
    steps, rates = strides_and_rates(strides, dilation_rate, count)

    def convolve(images: Tensor, _: int, padding: Any) -> Tensor:
        with name_scope(name) as scope:
            return _convolve(images, filter, count, steps, padding, channels, scope)

    if np.all(rates == 1):
        return convolve(input, count, padding)
    return with_space_to_batch(
        input, rates, padding, convolve, filter.get_shape(), data_format=data_format
    )


_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def _check_format(data_format: str | None, count: int) -> None:
    last, first = _FORMATS[count]
    if data_format not in (None, last, first):
        raise ValueError(f'data_format must be "{last}" or "{first}". Have: {data_format}')


def _spatial_count(input: Tensor, filter: Any) -> int:
    rank = filter.get_shape().ndims
    rank = input._rank() if rank is None else rank
    if rank is None:
        raise ValueError("rank of input or filter must be known")
    count = rank - 2
    if count not in (1, 2, 3):
        raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {rank}.")
    return count


def strides_and_rates(strides: Any, rate: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Strides and dilation rates of `count` spatial dimensions; only one of them may exceed 1."""
    steps = _per_spatial(strides, count, "strides")
    rates = _per_spatial(rate, count, "dilation_rate")
    if np.any(steps > 1) and np.any(rates > 1):
        raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
    return steps, rates


def _per_spatial(value: Any, count: int, name: str) -> np.ndarray:
    entries = np.ones(count, np.int32) if value is None else np.asarray(value, np.int32)
    if entries.size == 1:
        entries = np.full(count, entries, np.int32)
    if entries.shape != (count,):
        lengths = f"1, {count} or {count + 2}"
        raise ValueError(f"{name} should be of length {lengths} but was {entries.size}")
    if np.any(entries < 1):
        raise ValueError(f"all values of {name} must be positive")
    return entries


def _convolve(
    images: Tensor,
    filter: Any,
    count: int,
    steps: np.ndarray,
    padding: Any,
    channels: int,
    name: str,
) -> Tensor:
    """A plain convolution over `count` spatial dimensions."""
    strides = list(window.assemble(1, steps.tolist(), 1, channels))
    if count == 3:
        data_format = "NCDHW" if channels == 1 else "NDHWC"
        return Conv3D(
            images, filter, strides=strides, padding=padding, data_format=data_format, name=name
        )
    axis = -2 if channels == 1 else -3
    if count == 1:
        strides.insert(len(strides) + 1 + axis, 1)
        axis += 4 if images.get_shape().ndims == 3 else 0  # as TensorFlow writes it
        images, filter = expand_dims(images, axis), expand_dims(filter, 0)
    padding, explicit = window.padding_attrs(padding)

    def convolve(batch: Tensor, name: str | None = None) -> Tensor:
        return Conv2D(
            batch,
            filter,
            strides=strides,
            padding=padding,
            explicit_paddings=explicit,
            data_format="NCHW" if channels == 1 else "NHWC",
            name=name,
        )

    rank = images.get_shape().ndims
    if rank is not None and rank > 4:
        result = squeeze_batch_dims(images, convolve, 3, name)
    else:
        result = convolve(images, name)
    return squeeze(result, [axis]) if count == 1 else result


def atrous_conv2d(
    value: Any, filters: Any, rate: int, padding: str, name: str | None = None
) -> Tensor:
    """A convolution whose filter taps are `rate` pixels apart."""
    return convolution(
        value, filters, padding, dilation_rate=np.broadcast_to(rate, (2,)), name=name
    )


def atrous_conv2d_transpose(
    value: Any, filters: Any, output_shape: Any, rate: int, padding: str, name: str | None = None
) -> Tensor:
    """The transpose of `atrous_conv2d`.

    Args:
      filters: [height, width, output channels, input channels].
      output_shape: The shape of the result.
    """
    with name_scope(name, "atrous_conv2d_transpose", [value, filters, output_shape]):
        value = convert_to_tensor(value, name="value")
        filters = convert_to_tensor(filters, name="filters")
        _check_channels(value, filters)
        if rate < 1:
            raise ValueError(f"rate {rate} cannot be less than one")
        if rate == 1:
            return conv2d_transpose(value, filters, output_shape, [1, 1, 1, 1], padding)
        as_tensor = convert_to_tensor(output_shape, name="output_shape")
        if not as_tensor.get_shape().is_compatible_with([4]):
            raise ValueError(f"output_shape must have shape (4,), got {as_tensor.get_shape()}")
        if not isinstance(output_shape, (list, tuple, np.ndarray)):
            output_shape = as_tensor
        elif len(output_shape) == 4 and _differ(output_shape[3], filters.shape.as_list()[2]):
            raise ValueError(
                "output_shape does not match filter's output channels, "
                f"{output_shape[3]} != {filters.shape.as_list()[2]}"
            )
        top, bottom, left, right = _atrous_pads(filters, rate, padding, shape)
        height = output_shape[1] + top + bottom
        width = output_shape[2] + left + right
        more_below = (rate - height % rate) % rate
        more_right = (rate - width % rate) % rate
        value = space_to_batch(
            input=value, paddings=[[0, more_below], [0, more_right]], block_size=rate
        )
        sizes = [
            rate * rate * output_shape[0],
            (height + more_below) // rate,
            (width + more_right) // rate,
            output_shape[3],
        ]
        value = Conv2DBackpropInput(
            sizes, filters, value, strides=[1, 1, 1, 1], padding="VALID", data_format="NHWC"
        )
        crops = [[top, bottom + more_below], [left, right + more_right]]
        return batch_to_space(input=value, crops=crops, block_size=rate)


def _check_channels(value: Tensor, filters: Tensor) -> None:
    if value._rank() != 4 or filters._rank() != 4:
        return
    given, wanted = value.shape.as_list()[3], filters.shape.as_list()[3]
    if _differ(given, wanted):
        raise ValueError(
            f"value's input channels does not match filters' input channels, {given} != {wanted}"
        )


def _differ(given: Any, wanted: Any) -> bool:
    return isinstance(given, int) and isinstance(wanted, int) and given != wanted


def _atrous_pads(filters: Tensor, rate: int, padding: str, shape: Any) -> tuple[Any, ...]:
    """Top, bottom, left and right padding of a dilated filter."""
    if padding == "VALID":
        return 0, 0, 0, 0
    if padding != "SAME":
        raise ValueError(f"padding must be either VALID or SAME: {padding}")
    static = filters.get_shape()
    taps: Any = static[:2].as_list() if static[:2].is_fully_defined() else shape(filters)
    pads: list[Any] = []
    for axis in range(2):
        total = (taps[axis] - 1) * rate
        pads += [total // 2, total - total // 2]
    return tuple(pads)
