"""Images as arrays, as Pillow's images and as files."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np

from penstock.keras import backend as K

__all__ = ["array_to_img", "img_to_array", "load_img", "save_img"]

_RESAMPLING = {"nearest": 0, "bilinear": 2, "bicubic": 3, "hamming": 5, "box": 4, "lanczos": 1}
_MODES = {"rgb": ("RGB",), "rgba": ("RGBA",), "grayscale": ("L", "I;16", "I")}
_ORDERS = ("channels_first", "channels_last")


def img_to_array(img: Any, data_format: str | None = None, dtype: Any = None) -> Any:
    """A Pillow image as an array of three axes."""
    data_format = data_format or K.image_data_format()
    if data_format not in _ORDERS:
        raise ValueError(f"Unknown data_format: {data_format}")
    array = np.asarray(img, dtype=dtype or K.floatx())
    if array.ndim == 2:
        array = array[..., np.newaxis]
    if array.ndim != 3:
        raise ValueError(f"Unsupported image shape: {array.shape}")
    return array.transpose(2, 0, 1) if data_format == "channels_first" else array


def array_to_img(
    x: Any, data_format: str | None = None, scale: bool = True, dtype: Any = None
) -> Any:
    """An array of three axes as a Pillow image.

    Args:
      scale: whether to spread the values over 0 … 255.
    """
    from PIL import Image

    array = np.asarray(x, dtype=dtype or K.floatx())
    if array.ndim != 3:
        raise ValueError(
            "Expected image array to have rank 3 (single image). Got array with shape: "
            f"{array.shape}"
        )
    data_format = data_format or K.image_data_format()
    if data_format not in _ORDERS:
        raise ValueError(f"Invalid data_format: {data_format}")
    if data_format == "channels_first":
        array = array.transpose(1, 2, 0)
    if scale:
        array = array - np.min(array)
        largest = np.max(array)
        if largest != 0:
            array = array / largest
        array = array * 255
    if array.shape[2] not in (1, 3, 4):
        raise ValueError(f"Unsupported channel number: {array.shape[2]}")
    if array.shape[2] > 1:
        return Image.fromarray(array.astype("uint8"))
    # Values that a byte can't hold make a picture of 32 bits.
    kind = "int32" if np.max(array) > 255 else "uint8"
    return Image.fromarray(array[:, :, 0].astype(kind))


def save_img(
    path: Any,
    x: Any,
    data_format: str | None = None,
    file_format: str | None = None,
    scale: bool = True,
    **kwargs: Any,
) -> None:
    """Writes an array as an image file."""
    image = array_to_img(x, data_format=data_format, scale=scale)
    if image.mode == "RGBA" and file_format in ("jpg", "jpeg"):
        warnings.warn(
            "The JPG format does not support RGBA images, converting to RGB.", stacklevel=2
        )
        image = image.convert("RGB")
    image.save(path, format=file_format, **kwargs)


def load_img(
    path: Any,
    grayscale: bool = False,
    color_mode: str = "rgb",
    target_size: Any = None,
    interpolation: str = "nearest",
) -> Any:
    """A file as a Pillow image.

    Args:
      color_mode: "rgb", "rgba" or "grayscale"; gray pictures of 16 and 32 bits stay what they are.
      target_size: (height, width) to resize it to.
    """
    from PIL import Image

    if grayscale:
        warnings.warn('grayscale is deprecated. Please use color_mode = "grayscale"', stacklevel=2)
        color_mode = "grayscale"
    with Image.open(os.fspath(path)) as opened:
        if color_mode not in _MODES:
            raise ValueError('color_mode must be "grayscale", "rgb", or "rgba"')
        fitting = _MODES[color_mode]
        image = opened.copy() if opened.mode in fitting else opened.convert(fitting[0])
    if target_size is None or image.size == (target_size[1], target_size[0]):
        return image
    if interpolation not in _RESAMPLING:
        raise ValueError(
            f"Invalid interpolation method {interpolation} specified. Supported methods are "
            f"{', '.join(_RESAMPLING)}"
        )
    size = (target_size[1], target_size[0])
    return image.resize(size, Image.Resampling(_RESAMPLING[interpolation]))
