"""Changes of single images: turns, shifts, shears, zooms, colours."""

from __future__ import annotations

from typing import Any

import numpy as np

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
    rows, cols = x.shape[row_axis], x.shape[col_axis]
    centre = np.array([[1, 0, rows / 2 - 0.5], [0, 1, cols / 2 - 0.5], [0, 0, 1]])
    matrix = centre @ turn @ shift @ lean @ zoom @ np.linalg.inv(centre)
    grid = np.stack(
        [*np.meshgrid(np.arange(rows), np.arange(cols), indexing="ij"), np.ones((rows, cols))]
    )
    source = np.tensordot(matrix[:2], grid, axes=1)
    if order == 0:
        source = np.floor(source + 0.5)
    image = np.moveaxis(x, channel_axis, 0)
    changed = np.stack([_sampled(channel, source, fill_mode, cval) for channel in image])
    return np.moveaxis(changed, 0, channel_axis).astype(x.dtype)


def _sampled(channel: Any, source: Any, fill_mode: str, cval: float) -> Any:
    """The values of a channel at fractional positions."""
    low = np.floor(source).astype(int)
    part = source - low
    total = np.zeros(source.shape[1:])
    for row in (0, 1):
        for col in (0, 1):
            weight = (part[0] if row else 1 - part[0]) * (part[1] if col else 1 - part[1])
            total += weight * _pixels(channel, low[0] + row, low[1] + col, fill_mode, cval)
    return total


def _pixels(channel: Any, rows: Any, cols: Any, fill_mode: str, cval: float) -> Any:
    height, width = channel.shape
    found = channel[_inside(rows, height, fill_mode), _inside(cols, width, fill_mode)]
    if fill_mode != "constant":
        return found
    is_inside = (rows >= 0) & (rows < height) & (cols >= 0) & (cols < width)
    return np.where(is_inside, found, cval)


def _inside(index: Any, size: int, fill_mode: str) -> Any:
    if fill_mode == "wrap":
        return index % size
    if fill_mode == "reflect":
        index = index % (2 * size)
        return np.where(index < size, index, 2 * size - 1 - index)
    return np.clip(index, 0, size - 1)


def apply_channel_shift(x: Any, intensity: float, channel_axis: int = 0) -> Any:
    """An image whose values are shifted, within their range."""
    return np.clip(x + intensity, np.min(x), np.max(x))


def apply_brightness_shift(x: Any, brightness: float) -> Any:
    """An image whose values are multiplied with a brightness, up to 255."""
    return np.clip(x * brightness, 0, 255).astype(x.dtype)
