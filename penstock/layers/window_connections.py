"""Which inputs of a convolution its outputs see: for kernels that are not shared."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from penstock.layers.windows import conv_output_length

Sizes = tuple[int, ...]

_PADDINGS = ("same", "valid")


def conv_output_shape(
    input_shape: Sequence[int], kernel_shape: Sequence[int], strides: Sequence[int], padding: str
) -> Sizes:
    """The sizes of a convolution's output, without batch and channels."""
    sizes = zip(input_shape, kernel_shape, strides, strict=True)
    lengths = (size and conv_output_length(size, k, padding, s) for size, k, s in sizes)
    return tuple(length or 0 for length in lengths)


def conv_connected_inputs(
    input_shape: Sequence[int],
    kernel_shape: Sequence[int],
    output_position: Sequence[int],
    strides: Sequence[int],
    padding: str,
) -> list[range]:
    """The positions along each axis that an output's window covers, cut off at the borders."""
    ranges = []
    for size, kernel, position, stride in zip(
        input_shape, kernel_shape, output_position, strides, strict=True
    ):
        before = kernel // 2
        centre = position * stride + (before if padding == "valid" else 0)
        ranges.append(range(max(0, centre - before), min(size, centre - before + kernel)))
    return ranges


def _checked(
    input_shape: Sequence[int], kernel_shape: Sequence[int], strides: Sequence[int], padding: str
) -> None:
    if padding not in _PADDINGS:
        raise NotImplementedError(
            f"Padding type {padding} not supported. Only {set(_PADDINGS)} are implemented."
        )
    rank = len(input_shape)
    for name, sizes in (("kernel_shape", kernel_shape), ("strides", strides)):
        if len(sizes) != rank:
            raise ValueError(
                f"Number of input dimensions {rank} does not match {len(sizes)} of {name} {sizes}."
            )


def _connections(
    input_shape: Sequence[int], kernel_shape: Sequence[int], strides: Sequence[int], padding: str
) -> Iterator[tuple[Sizes, Sizes]]:
    """Pairs of an output's position and that of an input in its window."""
    outputs = conv_output_shape(input_shape, kernel_shape, strides, padding)
    for output in itertools.product(*map(range, outputs)):
        window = conv_connected_inputs(input_shape, kernel_shape, output, strides, padding)
        for position in itertools.product(*window):
            yield output, position


def conv_kernel_mask(
    input_shape: Sequence[int] | int,
    kernel_shape: Sequence[int] | int,
    strides: Sequence[int] | int,
    padding: str,
) -> npt.NDArray[np.bool_]:
    """True where an input (first axes) is in the window of an output (last axes)."""
    inputs = _sizes(input_shape, 1)
    kernel, steps = _sizes(kernel_shape, len(inputs)), _sizes(strides, len(inputs))
    _checked(inputs, kernel, steps, padding)
    mask = np.zeros((*inputs, *conv_output_shape(inputs, kernel, steps, padding)), np.bool_)
    for output, position in _connections(inputs, kernel, steps, padding):
        mask[position + output] = True
    return mask


def conv_kernel_idxs(
    input_shape: Sequence[int] | int,
    kernel_shape: Sequence[int] | int,
    strides: Sequence[int] | int,
    padding: str,
    filters_in: int,
    filters_out: int,
    data_format: str,
) -> Iterator[tuple[int, int]]:
    """The pairs of flat output and input numbers, channels included, that are connected."""
    inputs = _sizes(input_shape, 1)
    kernel, steps = _sizes(kernel_shape, len(inputs)), _sizes(strides, len(inputs))
    _checked(inputs, kernel, steps, padding)
    outputs = conv_output_shape(inputs, kernel, steps, padding)
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(
            f"Data format {data_format} not recognized.`data_format` must be "
            '"channels_first" or "channels_last".'
        )

    def number(position: Sizes, channel: int, sizes: Sizes, channels: int) -> int:
        if data_format == "channels_first":
            return int(np.ravel_multi_index((channel, *position), (channels, *sizes)))
        return int(np.ravel_multi_index((*position, channel), (*sizes, channels)))

    for output, position in _connections(inputs, kernel, steps, padding):
        for channel_in, channel_out in itertools.product(range(filters_in), range(filters_out)):
            yield (
                number(output, channel_out, outputs, filters_out),
                number(position, channel_in, inputs, filters_in),
            )


def _sizes(value: Sequence[int] | int, rank: int) -> Sizes:
    return (value,) * rank if isinstance(value, int) else tuple(value)


def convert_kernel(kernel: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """A convolution's kernel turned around in all spatial axes, as Theano wants it."""
    if not 3 <= kernel.ndim <= 5:
        raise ValueError("Invalid kernel shape:", kernel.shape)
    return np.copy(np.flip(kernel, axis=tuple(range(kernel.ndim - 2))))
