"""`tf.keras.preprocessing.image`: images as arrays, and random changes of them."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from penstock.keras import backend as K
from penstock.keras.preprocessing.image_batches import (
    DirectoryIterator,
    Iterator,
    NumpyArrayIterator,
)
from penstock.keras.preprocessing.image_transforms import (
    apply_affine_transform,
    apply_brightness_shift,
    apply_channel_shift,
)
from penstock.keras.preprocessing.random_transforms import (
    random_brightness,
    random_channel_shift,
    random_rotation,
    random_shear,
    random_shift,
    random_zoom,
)

__all__ = [
    "DirectoryIterator",
    "ImageDataGenerator",
    "Iterator",
    "NumpyArrayIterator",
    "apply_affine_transform",
    "apply_brightness_shift",
    "apply_channel_shift",
    "array_to_img",
    "img_to_array",
    "load_img",
    "random_brightness",
    "random_channel_shift",
    "random_rotation",
    "random_shear",
    "random_shift",
    "random_zoom",
    "save_img",
]

_RESAMPLING = {"nearest": 0, "bilinear": 2, "bicubic": 3, "lanczos": 1, "box": 4, "hamming": 5}


def img_to_array(img: Any, data_format: str | None = None, dtype: Any = None) -> Any:
    """A Pillow image as an array of three axes."""
    data_format = data_format or K.image_data_format()
    if data_format not in ("channels_first", "channels_last"):
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
    if (data_format or K.image_data_format()) == "channels_first":
        array = array.transpose(1, 2, 0)
    if scale:
        array = array - np.min(array)
        largest = np.max(array)
        if largest != 0:
            array = array / largest
        array = array * 255
    modes = {4: "RGBA", 3: "RGB", 1: "L"}
    if array.shape[2] not in modes:
        raise ValueError(f"Unsupported channel number: {array.shape[2]}")
    pixels = array.astype("uint8")
    return Image.fromarray(pixels[:, :, 0] if array.shape[2] == 1 else pixels)


def save_img(
    path: Any,
    x: Any,
    data_format: str | None = None,
    file_format: str | None = None,
    scale: bool = True,
    **kwargs: Any,
) -> None:
    """Writes an array as an image file."""
    array_to_img(x, data_format=data_format, scale=scale).save(path, format=file_format, **kwargs)


def load_img(
    path: Any,
    grayscale: bool = False,
    color_mode: str = "rgb",
    target_size: Any = None,
    interpolation: str = "nearest",
) -> Any:
    """A file as a Pillow image.

    Args:
      color_mode: "rgb", "rgba" or "grayscale".
      target_size: (height, width) to resize it to.
    """
    from PIL import Image

    modes = {"rgb": "RGB", "rgba": "RGBA", "grayscale": "L"}
    mode = "grayscale" if grayscale else color_mode
    if mode not in modes:
        raise ValueError('color_mode must be "grayscale", "rgb", or "rgba"')
    if interpolation not in _RESAMPLING:
        raise ValueError(
            f"Invalid interpolation method {interpolation} specified. Supported methods are "
            f"{', '.join(_RESAMPLING)}"
        )
    with Image.open(os.fspath(path)) as opened:
        image = opened.convert(modes[mode])
    if target_size is not None and image.size != (target_size[1], target_size[0]):
        image = image.resize(
            (target_size[1], target_size[0]), Image.Resampling(_RESAMPLING[interpolation])
        )
    return image


class ImageDataGenerator:
    """Batches of images with random changes.

    Args:
      featurewise_center: subtracts the mean over the data of `fit`.
      samplewise_center: subtracts each image's mean.
      rotation_range: largest angle of a turn, in degrees.
      width_shift_range: largest shift, as a part of the width.
      zoom_range: a number z for zooms from 1 - z to 1 + z, or (lower, upper).
      fill_mode: what lies outside of an image: "constant", "nearest", "reflect" or "wrap".
      rescale: what values are multiplied with.
      preprocessing_function: of an image, after the changes.
      validation_split: part of the images that `subset="validation"` gives.
    """

    def __init__(
        self,
        featurewise_center: bool = False,
        samplewise_center: bool = False,
        featurewise_std_normalization: bool = False,
        samplewise_std_normalization: bool = False,
        zca_whitening: bool = False,
        zca_epsilon: float = 1e-6,
        rotation_range: float = 0,
        width_shift_range: float = 0.0,
        height_shift_range: float = 0.0,
        brightness_range: Any = None,
        shear_range: float = 0.0,
        zoom_range: Any = 0.0,
        channel_shift_range: float = 0.0,
        fill_mode: str = "nearest",
        cval: float = 0.0,
        horizontal_flip: bool = False,
        vertical_flip: bool = False,
        rescale: float | None = None,
        preprocessing_function: Any = None,
        data_format: str | None = None,
        validation_split: float = 0.0,
        dtype: Any = None,
    ):
        if zca_whitening:
            raise NotImplementedError("ImageDataGenerator has no ZCA whitening in Penstock")
        self.featurewise_center = featurewise_center or featurewise_std_normalization
        self.samplewise_center = samplewise_center or samplewise_std_normalization
        self.featurewise_std_normalization = featurewise_std_normalization
        self.samplewise_std_normalization = samplewise_std_normalization
        self.rotation_range = rotation_range
        self.width_shift_range = width_shift_range
        self.height_shift_range = height_shift_range
        self.brightness_range = brightness_range
        self.shear_range = shear_range
        is_number = np.isscalar(zoom_range)
        self.zoom_range = [1 - zoom_range, 1 + zoom_range] if is_number else list(zoom_range)
        self.channel_shift_range = channel_shift_range
        self.fill_mode = fill_mode
        self.cval = cval
        self.horizontal_flip = horizontal_flip
        self.vertical_flip = vertical_flip
        self.rescale = rescale
        self.preprocessing_function = preprocessing_function
        self.data_format = data_format or K.image_data_format()
        self.dtype = dtype or K.floatx()
        if not 0 <= validation_split < 1:
            raise ValueError(
                f"`validation_split` must be strictly between 0 and 1.  Received: "
                f"{validation_split}"
            )
        self.validation_split = validation_split
        is_first = self.data_format == "channels_first"
        self.channel_axis, self.row_axis, self.col_axis = (1, 2, 3) if is_first else (3, 1, 2)
        self.mean: Any = None
        self.std: Any = None

    def flow(
        self,
        x: Any,
        y: Any = None,
        batch_size: int = 32,
        shuffle: bool = True,
        sample_weight: Any = None,
        seed: int | None = None,
        save_to_dir: Any = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
    ) -> Any:
        """Batches of changed images of an array, with their labels, without end."""
        return NumpyArrayIterator(x, y, self, batch_size, shuffle, sample_weight, seed, subset)

    def flow_from_directory(
        self,
        directory: str,
        target_size: Any = (256, 256),
        color_mode: str = "rgb",
        classes: Any = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        save_to_dir: Any = None,
        save_prefix: str = "",
        save_format: str = "png",
        follow_links: bool = False,
        subset: str | None = None,
        interpolation: str = "nearest",
    ) -> Any:
        """Batches of changed images of a directory that has one folder per class."""
        return DirectoryIterator(
            directory,
            self,
            target_size,
            color_mode,
            classes,
            class_mode,
            batch_size,
            shuffle,
            seed,
            subset,
            interpolation,
        )

    def fit(self, x: Any, augment: bool = False, rounds: int = 1, seed: int | None = None) -> None:
        """Computes the mean and deviation that featurewise settings use."""
        images = np.asarray(x, dtype=self.dtype)
        if images.ndim != 4:
            raise ValueError(f"Input to `.fit()` should have rank 4. Got shape: {images.shape}")
        if seed is not None:
            np.random.seed(seed)  # noqa: NPY002 the program seeds it
        if augment:
            images = np.concatenate(
                [np.stack([self.random_transform(each) for each in images]) for _ in range(rounds)]
            )
        axes = (0, self.row_axis, self.col_axis)
        shape = [1, 1, 1]
        shape[self.channel_axis - 1] = images.shape[self.channel_axis]
        if self.featurewise_center:
            self.mean = np.mean(images, axis=axes).reshape(shape)
            images = images - self.mean
        if self.featurewise_std_normalization:
            self.std = np.std(images, axis=axes).reshape(shape)

    def standardize(self, x: Any) -> Any:
        """An image after rescaling and normalization."""
        if self.preprocessing_function:
            x = self.preprocessing_function(x)
        if self.rescale:
            x = x * self.rescale
        if self.samplewise_center:
            x = x - np.mean(x, keepdims=True)
        if self.samplewise_std_normalization:
            x = x / (np.std(x, keepdims=True) + 1e-6)
        if self.featurewise_center and self.mean is not None:
            x = x - self.mean
        if self.featurewise_std_normalization and self.std is not None:
            x = x / (self.std + 1e-6)
        return x

    def get_random_transform(self, img_shape: Any, seed: int | None = None) -> dict[str, Any]:
        """The parameters of a random change."""
        if seed is not None:
            np.random.seed(seed)  # noqa: NPY002 the program seeds it
        uniform = np.random.uniform
        rows, cols = img_shape[self.row_axis - 1], img_shape[self.col_axis - 1]

        def within(limit: float) -> float:
            return float(uniform(-limit, limit)) if limit else 0.0

        theta = within(self.rotation_range)
        tx = within(self.height_shift_range)
        ty = within(self.width_shift_range)
        shear = within(self.shear_range)
        low, high = self.zoom_range
        zx, zy = (1.0, 1.0) if low == high == 1 else uniform(low, high, 2)
        return {
            "theta": theta,
            "tx": tx * rows if abs(self.height_shift_range) < 1 else tx,
            "ty": ty * cols if abs(self.width_shift_range) < 1 else ty,
            "shear": shear,
            "zx": float(zx),
            "zy": float(zy),
            "flip_horizontal": bool(uniform() < 0.5) and self.horizontal_flip,
            "flip_vertical": bool(uniform() < 0.5) and self.vertical_flip,
            "channel_shift_intensity": within(self.channel_shift_range) or None,
            "brightness": None
            if self.brightness_range is None
            else float(uniform(*self.brightness_range)),
        }

    def apply_transform(self, x: Any, transform_parameters: dict[str, Any]) -> Any:
        """An image after a change with given parameters."""
        row, col, channel = self.row_axis - 1, self.col_axis - 1, self.channel_axis - 1
        get: Any = transform_parameters.get
        x = apply_affine_transform(
            x,
            get("theta", 0),
            get("tx", 0),
            get("ty", 0),
            get("shear", 0),
            get("zx", 1),
            get("zy", 1),
            row_axis=row,
            col_axis=col,
            channel_axis=channel,
            fill_mode=self.fill_mode,
            cval=self.cval,
        )
        if get("channel_shift_intensity") is not None:
            x = apply_channel_shift(x, get("channel_shift_intensity"), channel)
        if get("flip_horizontal", False):
            x = np.flip(x, col)
        if get("flip_vertical", False):
            x = np.flip(x, row)
        if get("brightness") is not None:
            x = apply_brightness_shift(x, get("brightness"))
        return x

    def random_transform(self, x: Any, seed: int | None = None) -> Any:
        """An image after a random change."""
        return self.apply_transform(x, self.get_random_transform(x.shape, seed))
