"""Convolutions with a kernel of its own for each output position."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf
from penstock.keras.backend.config import image_data_format
from penstock.shapes import dimension_value

__all__ = ["local_conv", "local_conv1d", "local_conv2d"]


def local_conv(
    inputs: Any,
    kernel: Any,
    kernel_size: Any,
    strides: Any,
    output_shape: Any,
    data_format: str | None = None,
) -> Any:
    """A convolution without shared weights.

    Args:
      inputs: (batch, sizes…, channels), or with the channels first.
      kernel: (outputs, elements of a window, filters).
      kernel_size: sizes of the window.
      strides: steps between windows.
      output_shape: the sizes of the output.
      data_format: "channels_last" or "channels_first".
    """
    data_format = data_format or image_data_format()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format: {data_format}")
    is_first = data_format == "channels_first"
    sizes = inputs.shape.as_list()
    channels, space = (sizes[1], sizes[2:]) if is_first else (sizes[-1], sizes[1:-1])
    windows = _window_positions(space, kernel_size, strides, output_shape)
    count, elements, filters = kernel.shape.as_list()
    if is_first:
        seen = tf.gather(tf.reshape(inputs, [-1, channels, np.prod(space)]), windows, axis=2)
        seen = tf.transpose(seen, [2, 0, 1, 3])
    else:
        seen = tf.gather(tf.reshape(inputs, [-1, np.prod(space), channels]), windows, axis=1)
        seen = tf.transpose(seen, [1, 0, 2, 3])
    outputs = tf.matmul(tf.reshape(seen, [count, -1, elements]), kernel)
    if is_first:
        return tf.reshape(tf.transpose(outputs, [1, 2, 0]), [-1, filters, *output_shape])
    return tf.reshape(tf.transpose(outputs, [1, 0, 2]), [-1, *output_shape, filters])


def _window_positions(space: Any, kernel_size: Any, strides: Any, output_shape: Any) -> Any:
    """Numbers of the inputs in each window: one row per output."""
    numbers = np.arange(np.prod(space)).reshape(space)
    windows = np.lib.stride_tricks.sliding_window_view(numbers, tuple(kernel_size))
    steps = tuple(
        slice(None, count * step, step) for count, step in zip(output_shape, strides, strict=True)
    )
    return windows[steps].reshape(int(np.prod(output_shape)), -1)


def local_conv1d(
    inputs: Any, kernel: Any, kernel_size: Any, strides: Any, data_format: str | None = None
) -> Any:
    """`local_conv` of sequences."""
    return local_conv(
        inputs, kernel, kernel_size, strides, (dimension_value(kernel.shape[0]),), data_format
    )


def local_conv2d(
    inputs: Any,
    kernel: Any,
    kernel_size: Any,
    strides: Any,
    output_shape: Any,
    data_format: str | None = None,
) -> Any:
    """`local_conv` of images."""
    return local_conv(inputs, kernel, kernel_size, strides, output_shape, data_format)
