"""Changes of single images: turns, shifts, shears, zooms, colours."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.keras.preprocessing.image_files import array_to_img, img_to_array

__all__ = ["apply_affine_transform", "apply_brightness_shift", "apply_channel_shift"]


def apply_affine_transform(
    x: Any,
    theta: float = 0,
    tx: float = 0,
    ty: float = 0,
    shear: float = 0,
    zx: float = 1,
    zy: float = 1,
    row_axis: int = 0,
    col_axis: int = 1,
    channel_axis: int = 2,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    order: int = 1,
) -> Any:
    """An image turned, shifted, sheared and zoomed about its centre.

    Args:
      theta: angle in degrees.
      tx: shift along the rows' axis, in pixels.
      fill_mode: what lies outside: "constant", "nearest", "reflect" or "wrap".
      order: 0 takes the nearest pixel, 1 interpolates between four.
    """
    if order not in (0, 1):
        raise ValueError(f"order must be 0 (the nearest pixel) or 1 (bilinear), got {order}")
    if (theta, tx, ty, shear, zx, zy) == (0, 0, 0, 0, 1, 1):
        return x
    angle, slant = np.deg2rad(theta), np.deg2rad(shear)
    turn = np.array(
        [[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]]
    )
    shift = np.array([[1, 0, tx], [0, 1, ty], [0, 0, 1]])
    lean = np.array([[1, -np.sin(slant), 0], [0, np.cos(slant), 0], [0, 0, 1]])
    zoom = np.diag([zx, zy, 1.0])
    # Keras puts the centre half a pixel behind the middle, not before it.
    centre = np.array(
        [[1, 0, x.shape[row_axis] / 2 + 0.5], [0, 1, x.shape[col_axis] / 2 + 0.5], [0, 0, 1]]
    )
    matrix = centre @ turn @ shift @ lean @ zoom @ np.linalg.inv(centre)
    image = np.moveaxis(x, channel_axis, 0)
    rows, cols = image.shape[1:]
    grid = np.stack(
        [*np.meshgrid(np.arange(rows), np.arange(cols), indexing="ij"), np.ones((rows, cols))]
    )
    source = np.tensordot(matrix[:2], grid, axes=1)
    changed = np.stack([_sampled(channel, source, fill_mode, cval, order) for channel in image])
    return np.moveaxis(changed, 0, channel_axis).astype(x.dtype)


def _sampled(channel: Any, source: Any, fill_mode: str, cval: float, order: int) -> Any:
    """The values of a channel at fractional positions."""
    sizes = channel.shape
    found = [_inside(source[axis], sizes[axis], fill_mode) for axis in (0, 1)]
    if order == 0:
        found = [np.floor(axis + 0.5) for axis in found]
    low = [np.floor(axis).astype(int) for axis in found]
    part = [found[axis] - low[axis] for axis in (0, 1)]
    total = np.zeros(source.shape[1:])
    for row in (0, 1):
        for col in (0, 1):
            weight = (part[0] if row else 1 - part[0]) * (part[1] if col else 1 - part[1])
            total += (
                weight
                * channel[_mirrored(low[0] + row, sizes[0]), _mirrored(low[1] + col, sizes[1])]
            )
    if fill_mode != "constant":
        return total
    is_inside = np.ones(source.shape[1:], dtype=bool)
    for axis in (0, 1):
        is_inside &= (source[axis] >= 0) & (source[axis] <= sizes[axis] - 1)
    return np.where(is_inside, total, cval)


def _mirrored(index: Any, size: int) -> Any:
    """Neighbours beyond an edge are those on this side of the edge's pixel."""
    if size == 1:
        return np.zeros_like(index)
    index = np.abs(index) % (2 * size - 2)
    return np.where(index < size, index, 2 * size - 2 - index)


def _inside(position: Any, size: int, fill_mode: str) -> Any:
    """Positions outside of an image, put where their values are taken from."""
    if fill_mode == "wrap":
        # The last pixel is the first one of the next turn, as in SciPy.
        is_outside = (position < 0) | (position > size - 1)
        return np.where(is_outside, position % max(size - 1, 1), position)
    if fill_mode == "reflect":
        turned = position % (2 * size)
        turned = np.where(turned < size, turned, 2 * size - 1 - turned)
        is_outside = (position < 0) | (position > size - 1)
        return np.where(is_outside, turned, position)
    return np.clip(position, 0, size - 1)


def apply_channel_shift(x: Any, intensity: float, channel_axis: int = 0) -> Any:
    """An image whose values are shifted, within their range."""
    return np.clip(x + intensity, np.min(x), np.max(x))


def apply_brightness_shift(x: Any, brightness: float) -> Any:
    """An image, spread over 0 … 255, whose brightness is multiplied as Pillow does it."""
    from PIL import ImageEnhance

    return img_to_array(ImageEnhance.Brightness(array_to_img(x)).enhance(brightness))
