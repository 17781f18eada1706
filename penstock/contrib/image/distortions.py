"""Colours turned in YIQ space, and the connected parts of images."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.ops.image_distortions import AdjustHsvInYiq, ImageConnectedComponents


def adjust_hsv_in_yiq(
    image: Any,
    delta_hue: Any = 0,
    scale_saturation: Any = 1,
    scale_value: Any = 1,
    name: str | None = None,
) -> Any:
    """An RGB image with its hue turned by an angle, its saturation and value scaled.

    All three are done by one matrix product in YIQ space.
    """
    with tf.name_scope(name, "adjust_hsv_in_yiq", [image]):
        image = tf.convert_to_tensor(image, name="image")
        pixels = tf.image.convert_image_dtype(image, tf.float32)
        changed = AdjustHsvInYiq(pixels, delta_hue, scale_saturation, scale_value)
        return tf.image.convert_image_dtype(changed, image.dtype)


def random_hsv_in_yiq(
    image: Any,
    max_delta_hue: float = 0,
    lower_saturation: float = 1,
    upper_saturation: float = 1,
    lower_value: float = 1,
    upper_value: float = 1,
    seed: int | None = None,
) -> Any:
    """An RGB image with hue, saturation and value changed by random amounts."""
    if max_delta_hue < 0:
        raise ValueError("max_delta must be non-negative.")
    if lower_saturation < 0:
        raise ValueError("lower_saturation must be non-negative.")
    if lower_value < 0:
        raise ValueError("lower_value must be non-negative.")
    if lower_saturation > upper_saturation:
        raise ValueError("lower_saturation must be < upper_saturation.")
    if lower_value > upper_value:
        raise ValueError("lower_value must be < upper_value.")

    def between(low: float, high: float) -> Any:
        return low if low == high else tf.random_uniform([], low, high, seed=seed)

    hue = between(-max_delta_hue, max_delta_hue)
    saturation = between(lower_saturation, upper_saturation)
    return adjust_hsv_in_yiq(image, hue, saturation, between(lower_value, upper_value))


def connected_components(images: Any) -> Any:
    """For each pixel the number of its part; parts are neighbouring pixels of one value.

    Parts are counted from 1, over all images, in the order of their first pixels. Pixels that are
    zero (False, empty) are in none, which is 0.

    Args:
      images: [height, width] or [batch, height, width].
    """
    with tf.name_scope("connected_components"):
        given = tf.convert_to_tensor(images, name="images")
        rank = len(given.get_shape())
        if rank not in (2, 3):
            raise TypeError(
                f"images should have rank 2 (HW) or 3 (NHW). Static shape is {given.get_shape()}"
            )
        batch = given[None, :, :] if rank == 2 else given
        first_places = tf.reshape(ImageConnectedComponents(batch), [-1])
        own_places = tf.range(1, tf.size(first_places, out_type=tf.int64) + 1)
        numbers = tf.cumsum(tf.cast(tf.equal(first_places, own_places), tf.int32))
        with_none = tf.concat([[0], numbers], axis=0)
        parts = tf.reshape(tf.gather(with_none, first_places), tf.shape(batch))
        parts.set_shape(batch.get_shape())
        return parts[0, :, :] if rank == 2 else parts
