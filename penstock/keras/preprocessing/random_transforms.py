"""Random changes of one image, drawn from NumPy's global generator as the program seeds it."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.keras.preprocessing.image_transforms import (
    apply_affine_transform,
    apply_brightness_shift,
    apply_channel_shift,
)

__all__ = [
    "random_brightness",
    "random_channel_shift",
    "random_rotation",
    "random_shear",
    "random_shift",
    "random_zoom",
]


def _uniform(low: float, high: float) -> float:
    return float(np.random.uniform(low, high))  # noqa: NPY002 the program seeds it


def _options(channels: int, fill_mode: str, cval: float, order: int) -> dict[str, Any]:
    """What all of them hand on.

    Not the axes of rows and columns: Keras takes an image's centre from its first two axes.
    """
    return {"channel_axis": channels, "fill_mode": fill_mode, "cval": cval, "order": order}


def random_rotation(
    x: Any,
    rg: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> Any:
    """Turns an image by up to `rg` degrees."""
    theta = _uniform(-rg, rg)
    options = _options(channel_axis, fill_mode, cval, interpolation_order)
    return apply_affine_transform(x, theta=theta, **options)


def random_shift(
    x: Any,
    wrg: float,
    hrg: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> Any:
    """Moves an image by up to parts `wrg` of its width and `hrg` of its height."""
    tx = _uniform(-hrg, hrg) * x.shape[row_axis]
    ty = _uniform(-wrg, wrg) * x.shape[col_axis]
    options = _options(channel_axis, fill_mode, cval, interpolation_order)
    return apply_affine_transform(x, tx=tx, ty=ty, **options)


def random_shear(
    x: Any,
    intensity: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> Any:
    """Shears an image by up to `intensity` degrees."""
    shear = _uniform(-intensity, intensity)
    options = _options(channel_axis, fill_mode, cval, interpolation_order)
    return apply_affine_transform(x, shear=shear, **options)


def random_zoom(
    x: Any,
    zoom_range: Any,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> Any:
    """Scales rows and columns by factors between the two of `zoom_range`."""
    if len(zoom_range) != 2:
        raise ValueError(
            f"`zoom_range` should be a tuple or list of two floats. Received: {zoom_range}"
        )
    zx, zy = 1.0, 1.0
    if zoom_range[0] != 1 or zoom_range[1] != 1:
        zx, zy = np.random.uniform(zoom_range[0], zoom_range[1], 2)  # noqa: NPY002 as above
    options = _options(channel_axis, fill_mode, cval, interpolation_order)
    return apply_affine_transform(x, zx=zx, zy=zy, **options)


def random_channel_shift(x: Any, intensity_range: float, channel_axis: int = 0) -> Any:
    """Adds up to `intensity_range` to all channels, within the image's own range."""
    intensity = _uniform(-intensity_range, intensity_range)
    return apply_channel_shift(x, intensity, channel_axis=channel_axis)


def random_brightness(x: Any, brightness_range: Any) -> Any:
    """Multiplies the brightness by a factor between the two of `brightness_range`."""
    if len(brightness_range) != 2:
        raise ValueError(
            f"`brightness_range should be tuple or list of two floats. Received: {brightness_range}"
        )
    return apply_brightness_shift(x, _uniform(brightness_range[0], brightness_range[1]))
