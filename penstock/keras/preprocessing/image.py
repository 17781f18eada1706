"""`tf.keras.preprocessing.image`: images as arrays, and random changes of them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from penstock.keras import backend as K
from penstock.keras.preprocessing.dataframe_batches import DataFrameIterator
from penstock.keras.preprocessing.image_batches import (
    DirectoryIterator,
    Iterator,
    NumpyArrayIterator,
)
from penstock.keras.preprocessing.image_files import (
    array_to_img,
    img_to_array,
    load_img,
    save_img,
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


class ImageDataGenerator:
    """Batches of images with random changes.

    Args:
      featurewise_center: subtracts the mean over the data of `fit`.
      samplewise_center: subtracts each image's mean.
      rotation_range: largest angle of a turn, in degrees.
      width_shift_range: largest shift, as a part of the width, or in pixels (1.0 and more, lists).
      zca_whitening: makes the pixels of the data of `fit` uncorrelated.
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
        self.featurewise_center = featurewise_center
        self.samplewise_center = samplewise_center
        self.featurewise_std_normalization = featurewise_std_normalization
        self.samplewise_std_normalization = samplewise_std_normalization
        self.zca_whitening = zca_whitening
        self.zca_epsilon = zca_epsilon
        self.rotation_range = rotation_range
        self.width_shift_range = width_shift_range
        self.height_shift_range = height_shift_range
        self.brightness_range = brightness_range
        self.shear_range = shear_range
        self.zoom_range = _zoom_limits(zoom_range)
        self.channel_shift_range = channel_shift_range
        self.fill_mode = fill_mode
        self.cval = cval
        self.horizontal_flip = horizontal_flip
        self.vertical_flip = vertical_flip
        self.rescale = rescale
        self.preprocessing_function = preprocessing_function
        self.data_format = data_format or K.image_data_format()
        self.dtype = dtype or K.floatx()
        self.interpolation_order = 1
        self._validation_split = validation_split
        self._check()
        is_first = self.data_format == "channels_first"
        self.channel_axis, self.row_axis, self.col_axis = (1, 2, 3) if is_first else (3, 1, 2)
        self.mean: Any = None
        self.std: Any = None
        self.principal_components: Any = None
        self._settle_normalization()

    def _check(self) -> None:
        if self.data_format not in ("channels_first", "channels_last"):
            raise ValueError(
                '`data_format` should be `"channels_last"` (channel after row and column) or '
                '`"channels_first"` (channel before row and column). Received: '
                f"{self.data_format}"
            )
        split = self._validation_split
        if split and not 0 < split < 1:
            raise ValueError(
                f"`validation_split` must be strictly between 0 and 1.  Received: {split}"
            )
        limits = self.brightness_range
        if limits is not None and not (isinstance(limits, (tuple, list)) and len(limits) == 2):
            raise ValueError(
                f"`brightness_range should be tuple or list of two floats. Received: {limits}"
            )

    def _settle_normalization(self) -> None:
        """Divisions need centred values, and whitening makes them needless."""
        said = "This ImageDataGenerator specifies"
        overrides = "which overrides setting of"
        if self.zca_whitening and not self.featurewise_center:
            self.featurewise_center = True
            warnings.warn(
                f"{said} `zca_whitening`, {overrides} `featurewise_center`.", stacklevel=3
            )
        if self.zca_whitening and self.featurewise_std_normalization:
            self.featurewise_std_normalization = False
            warnings.warn(
                f"{said} `zca_whitening` {overrides}`featurewise_std_normalization`.", stacklevel=3
            )
        for kind in ("featurewise", "samplewise"):
            if getattr(self, f"{kind}_std_normalization") and not getattr(self, f"{kind}_center"):
                setattr(self, f"{kind}_center", True)
                warnings.warn(
                    f"{said} `{kind}_std_normalization`, {overrides} `{kind}_center`.",
                    stacklevel=3,
                )

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
        return NumpyArrayIterator(
            x,
            y,
            self,
            batch_size=batch_size,
            shuffle=shuffle,
            sample_weight=sample_weight,
            seed=seed,
            data_format=self.data_format,
            save_to_dir=save_to_dir,
            save_prefix=save_prefix,
            save_format=save_format,
            subset=subset,
            dtype=self.dtype,
        )

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
            target_size=target_size,
            color_mode=color_mode,
            classes=classes,
            class_mode=class_mode,
            data_format=self.data_format,
            batch_size=batch_size,
            shuffle=shuffle,
            seed=seed,
            save_to_dir=save_to_dir,
            save_prefix=save_prefix,
            save_format=save_format,
            follow_links=follow_links,
            subset=subset,
            interpolation=interpolation,
            dtype=self.dtype,
        )

    def flow_from_dataframe(
        self,
        dataframe: Any,
        directory: str | None = None,
        x_col: str = "filename",
        y_col: Any = "class",
        weight_col: str | None = None,
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
        subset: str | None = None,
        interpolation: str = "nearest",
        validate_filenames: bool = True,
        **kwargs: Any,
    ) -> Any:
        """Batches of changed images of the files that a table of pandas lists.

        Args:
          kwargs: `has_ext`, `sort` and `drop_duplicates` of old programs, which say nothing.
        """
        for name in ("has_ext", "sort", "drop_duplicates"):
            if name in kwargs:
                warnings.warn(f"{name} is deprecated.", DeprecationWarning, stacklevel=2)
        if class_mode == "other":
            warnings.warn(
                '`class_mode` "other" is deprecated, please use `class_mode` "raw".',
                DeprecationWarning,
                stacklevel=2,
            )
            class_mode = "raw"
        return DataFrameIterator(
            dataframe,
            directory,
            self,
            x_col=x_col,
            y_col=y_col,
            weight_col=weight_col,
            target_size=target_size,
            color_mode=color_mode,
            classes=classes,
            class_mode=class_mode,
            data_format=self.data_format,
            batch_size=batch_size,
            shuffle=shuffle,
            seed=seed,
            save_to_dir=save_to_dir,
            save_prefix=save_prefix,
            save_format=save_format,
            subset=subset,
            interpolation=interpolation,
            dtype=self.dtype,
            validate_filenames=validate_filenames,
        )

    def fit(self, x: Any, augment: bool = False, rounds: int = 1, seed: int | None = None) -> None:
        """Computes what featurewise settings and whitening use, of rescaled images."""
        images = np.array(x, dtype=self.dtype)
        if images.ndim != 4:
            raise ValueError(
                f"Input to `.fit()` should have rank 4. Got array with shape: {images.shape}"
            )
        channels = images.shape[self.channel_axis]
        if channels not in (1, 3, 4):
            axis = self.channel_axis
            warnings.warn(
                "Expected input to be images (as Numpy array) following the data format convention "
                f'"{self.data_format}" (channels on axis {axis}), i.e. expected either 1, 3 or 4 '
                f"channels on axis {axis}. However, it was passed an array with shape "
                f"{images.shape} ({channels} channels).",
                stacklevel=2,
            )
        if seed is not None:
            np.random.seed(seed)  # noqa: NPY002 the program seeds it
        if self.rescale:
            images *= self.rescale
        if augment:
            images = np.concatenate(
                [np.stack([self.random_transform(each) for each in images]) for _ in range(rounds)]
            ).astype(self.dtype)
        axes = (0, self.row_axis, self.col_axis)
        shape = [1, 1, 1]
        shape[self.channel_axis - 1] = channels
        if self.featurewise_center:
            self.mean = np.mean(images, axis=axes).reshape(shape)
            images -= self.mean
        if self.featurewise_std_normalization:
            self.std = np.std(images, axis=axes).reshape(shape)
            images /= self.std + 1e-6
        if self.zca_whitening:
            flat = images.reshape(len(images), -1)
            directions, variances, _ = np.linalg.svd(flat.T @ flat / len(flat))
            scale = 1.0 / np.sqrt(variances + self.zca_epsilon)
            self.principal_components = (directions * scale) @ directions.T

    def standardize(self, x: Any) -> Any:
        """An image, or a batch, after rescaling and normalization; arrays are changed in place."""
        if self.preprocessing_function:
            x = self.preprocessing_function(x)
        if self.rescale:
            x *= self.rescale
        if self.samplewise_center:
            x -= np.mean(x, keepdims=True)
        if self.samplewise_std_normalization:
            x /= np.std(x, keepdims=True) + 1e-6
        if self.featurewise_center and self._is_fit("featurewise_center", self.mean):
            x -= self.mean
        if self.featurewise_std_normalization and self._is_fit(
            "featurewise_std_normalization", self.std
        ):
            x /= self.std + 1e-6
        if self.zca_whitening and self._is_fit("zca_whitening", self.principal_components):
            flat = np.reshape(x, (-1, np.prod(x.shape[-3:])))
            x = np.reshape(flat @ self.principal_components, x.shape)
        return x

    def _is_fit(self, setting: str, computed: Any) -> bool:
        if computed is None:
            warnings.warn(
                f"This ImageDataGenerator specifies `{setting}`, but it hasn't been fit on any "
                "training data. Fit it first by calling `.fit(numpy_data)`.",
                stacklevel=3,
            )
        return computed is not None

    def get_random_transform(self, img_shape: Any, seed: int | None = None) -> dict[str, Any]:
        """The parameters of a random change."""
        if seed is not None:
            np.random.seed(seed)  # noqa: NPY002 the program seeds it
        uniform, random = np.random.uniform, np.random.random
        rows, cols = img_shape[self.row_axis - 1], img_shape[self.col_axis - 1]

        # In this order: what a seed gives is a fact that programs rely on.
        changes: dict[str, Any] = {
            "theta": uniform(-self.rotation_range, self.rotation_range)
            if self.rotation_range
            else 0,
            "tx": _random_shift(self.height_shift_range, rows),
            "ty": _random_shift(self.width_shift_range, cols),
            "shear": uniform(-self.shear_range, self.shear_range) if self.shear_range else 0,
        }
        low, high = self.zoom_range
        changes["zx"], changes["zy"] = (1, 1) if low == high == 1 else uniform(low, high, 2)
        changes["flip_horizontal"] = (random() < 0.5) * self.horizontal_flip
        changes["flip_vertical"] = (random() < 0.5) * self.vertical_flip
        shift = self.channel_shift_range
        changes["channel_shift_intensity"] = uniform(-shift, shift) if shift != 0 else None
        limits = self.brightness_range
        changes["brightness"] = None if limits is None else uniform(limits[0], limits[1])
        return changes

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
            order=self.interpolation_order,
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


def _zoom_limits(zoom_range: Any) -> list[float]:
    if isinstance(zoom_range, (float, int)):
        return [1 - zoom_range, 1 + zoom_range]
    if len(zoom_range) == 2 and all(isinstance(each, (float, int)) for each in zoom_range):
        return [zoom_range[0], zoom_range[1]]
    raise ValueError(
        f"`zoom_range` should be a float or a tuple or list of two floats. Received: {zoom_range}"
    )


def _random_shift(shift_range: Any, size: int) -> Any:
    """Pixels of a shift: one of a list, fewer than an int, or up to a float in both directions."""
    if not shift_range:
        return 0
    if isinstance(shift_range, float):
        shift = np.random.uniform(-shift_range, shift_range)  # noqa: NPY002 the program seeds it
    else:
        shift = np.random.choice(shift_range)  # noqa: NPY002 as above
        shift = shift * np.random.choice([-1, 1])  # noqa: NPY002 as above
    return shift * size if np.max(shift_range) < 1 else shift
