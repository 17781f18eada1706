"""Many images as one, to be looked at."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import penstock as tf

__all__ = ["image_grid", "image_reshaper"]

_MISFIT = "Image shape and number of channels incompatible with input tensor."


def image_grid(
    input_tensor: Any,
    grid_shape: Sequence[int],
    image_shape: Sequence[int] = (32, 32),
    num_channels: int = 3,
) -> Any:
    """A batch of images, flattened or not, as one image: a grid of them, row by row."""
    rows, columns = grid_shape
    height, width = image_shape
    sizes = [int(size) for size in input_tensor.shape]
    if rows * columns != sizes[0]:
        raise ValueError(f"Grid shape {grid_shape} incompatible with minibatch size {sizes[0]}.")
    expected = {2: [height * width * num_channels], 4: [height, width, num_channels]}
    if len(sizes) not in expected:
        raise ValueError("Unrecognized input tensor format.")
    if sizes[1:] != expected[len(sizes)]:
        raise ValueError(_MISFIT)
    tiles = tf.reshape(input_tensor, [rows, columns, height, width, num_channels])
    tiles = tf.transpose(tiles, [0, 2, 1, 3, 4])
    return tf.reshape(tiles, [1, rows * height, columns * width, num_channels])


def image_reshaper(images: Any, num_cols: int | None = None) -> Any:
    """Images of one size in rows of `num_cols`, or nearly in a square; black fills the last row."""
    if isinstance(images, tf.Tensor):
        images = tf.unstack(images)
    for image in images:
        image.shape.assert_has_rank(3)
        image.shape.assert_is_fully_defined()
        if image.shape.as_list()[-1] not in (1, 3):
            raise ValueError("image_reshaper only supports 1 or 3 channel images.")
    columns = num_cols or math.ceil(math.sqrt(len(images)))
    missing = -len(images) % columns
    tiles = [*images, *[tf.zeros_like(images[-1])] * missing]
    rows = [tf.concat(tiles[i : i + columns], 1) for i in range(0, len(tiles), columns)]
    return tf.expand_dims(tf.concat(rows, 0), 0)
