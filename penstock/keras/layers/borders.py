"""Layers that pad, crop or enlarge sequences, images and volumes."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.engine.layer import Layer
from penstock.layers import windows
from penstock.layers.input_spec import InputSpec

__all__ = [
    "Cropping1D",
    "Cropping2D",
    "Cropping3D",
    "UpSampling1D",
    "UpSampling2D",
    "UpSampling3D",
    "ZeroPadding1D",
    "ZeroPadding2D",
    "ZeroPadding3D",
]


def _amounts(given: Any, rank: int, name: str) -> tuple[tuple[int, int], ...]:
    """(before, after) per dimension: from one number, one per dimension, or pairs."""
    if isinstance(given, int):
        return ((given, given),) * rank
    if rank == 1:
        return (windows.normalize_tuple(given, 2, name),)  # type: ignore[return-value]
    if not hasattr(given, "__len__") or len(given) != rank:
        count = "two" if rank == 2 else rank
        raise ValueError(f"`{name}` should have {count} elements. Found: {given}")
    return tuple(windows.normalize_tuple(each, 2, name) for each in given)  # type: ignore[misc]


class _Spatial(Layer):
    """Layers over `rank` dimensions."""

    rank: int

    def __init__(self, data_format: str | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.data_format = windows.normalize_data_format(data_format or K.image_data_format())
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _first_axis(self) -> int:
        return 2 if self.data_format == "channels_first" else 1

    def _with_lengths(self, input_shape: Any, lengths: list[Any]) -> Any:
        sizes = tf.TensorShape(input_shape).as_list()
        first = self._first_axis()
        return tf.TensorShape([*sizes[:first], *lengths, *sizes[first + self.rank :]])

    def _space(self, input_shape: Any) -> list[Any]:
        sizes = tf.TensorShape(input_shape).as_list()
        return sizes[self._first_axis() : self._first_axis() + self.rank]


class _ZeroPadding(_Spatial):
    """Zeros around the inputs."""

    def _set(self, padding: Any) -> None:
        self._pairs = _amounts(padding, self.rank, "padding")
        self.padding: Any = self._pairs[0] if self.rank == 1 else self._pairs

    def compute_output_shape(self, input_shape: Any) -> Any:
        space = self._space(input_shape)
        lengths = [
            None if size is None else size + before + after
            for size, (before, after) in zip(space, self._pairs, strict=True)
        ]
        return self._with_lengths(input_shape, lengths)

    def call(self, inputs: Any) -> Any:
        nothing = [[0, 0]]
        around = nothing * self._first_axis() + [list(pair) for pair in self._pairs]
        return tf.pad(inputs, around + nothing * (self.rank + 2 - len(around)))


class ZeroPadding1D(_ZeroPadding):
    """Zeros before and after sequences."""

    rank = 1
    _CONFIG = ("padding",)

    def __init__(self, padding: Any = 1, **kwargs: Any):
        super().__init__(data_format="channels_last", **kwargs)
        self._set(padding)


class ZeroPadding2D(_ZeroPadding):
    """Zeros around images."""

    rank = 2
    _CONFIG = ("padding", "data_format")

    def __init__(self, padding: Any = (1, 1), data_format: str | None = None, **kwargs: Any):
        super().__init__(data_format=data_format, **kwargs)
        self._set(_pairs_of_numbers(padding))


class ZeroPadding3D(_ZeroPadding):
    """Zeros around volumes."""

    rank = 3
    _CONFIG = ("padding", "data_format")

    def __init__(self, padding: Any = (1, 1, 1), data_format: str | None = None, **kwargs: Any):
        super().__init__(data_format=data_format, **kwargs)
        self._set(_pairs_of_numbers(padding))


def _pairs_of_numbers(given: Any) -> Any:
    """One number per dimension as (number, number)."""
    if isinstance(given, int) or not hasattr(given, "__len__"):
        return given
    return tuple((each, each) if isinstance(each, int) else each for each in given)


class _Cropping(_Spatial):
    """Cuts off borders."""

    def _set(self, cropping: Any) -> None:
        self._pairs = _amounts(cropping, self.rank, "cropping")
        self.cropping: Any = self._pairs[0] if self.rank == 1 else self._pairs

    def compute_output_shape(self, input_shape: Any) -> Any:
        space = self._space(input_shape)
        lengths = [
            None if size is None else size - before - after
            for size, (before, after) in zip(space, self._pairs, strict=True)
        ]
        return self._with_lengths(input_shape, lengths)

    def call(self, inputs: Any) -> Any:
        kept = [slice(None)] * self._first_axis()
        kept += [slice(before, -after or None) for before, after in self._pairs]
        return inputs[tuple(kept)]


class Cropping1D(_Cropping):
    """Cuts off steps at the start and end of sequences."""

    rank = 1
    _CONFIG = ("cropping",)

    def __init__(self, cropping: Any = (1, 1), **kwargs: Any):
        super().__init__(data_format="channels_last", **kwargs)
        self._set(cropping)


class Cropping2D(_Cropping):
    """Cuts off the borders of images."""

    rank = 2
    _CONFIG = ("cropping", "data_format")

    def __init__(
        self, cropping: Any = ((0, 0), (0, 0)), data_format: str | None = None, **kwargs: Any
    ):
        super().__init__(data_format=data_format, **kwargs)
        self._set(_pairs_of_numbers(cropping))


class Cropping3D(_Cropping):
    """Cuts off the borders of volumes."""

    rank = 3
    _CONFIG = ("cropping", "data_format")

    def __init__(
        self,
        cropping: Any = ((1, 1), (1, 1), (1, 1)),
        data_format: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(data_format=data_format, **kwargs)
        self._set(_pairs_of_numbers(cropping))


class _UpSampling(_Spatial):
    """Repeats values."""

    def _set(self, size: Any) -> None:
        self._factors = windows.normalize_tuple(size, self.rank, "size")
        self.size: Any = int(size) if self.rank == 1 else self._factors

    def compute_output_shape(self, input_shape: Any) -> Any:
        space = self._space(input_shape)
        lengths = [
            None if size is None else size * factor
            for size, factor in zip(space, self._factors, strict=True)
        ]
        return self._with_lengths(input_shape, lengths)


class UpSampling1D(_UpSampling):
    """Each step of sequences `size` times."""

    rank = 1
    _CONFIG = ("size",)

    def __init__(self, size: int = 2, **kwargs: Any):
        super().__init__(data_format="channels_last", **kwargs)
        self._set(size)

    def call(self, inputs: Any) -> Any:
        return K.repeat_elements(inputs, self.size, axis=1)


class UpSampling2D(_UpSampling):
    """Images made larger by whole factors, with "nearest" or "bilinear" interpolation."""

    rank = 2
    _CONFIG = ("size", "data_format", "interpolation")

    def __init__(
        self,
        size: Any = (2, 2),
        data_format: str | None = None,
        interpolation: str = "nearest",
        **kwargs: Any,
    ):
        super().__init__(data_format=data_format, **kwargs)
        self._set(size)
        if interpolation not in ("nearest", "bilinear"):
            raise ValueError(
                '`interpolation` argument should be one of `"nearest"` or `"bilinear"`.'
            )
        self.interpolation = interpolation

    def call(self, inputs: Any) -> Any:
        height, width = self._factors
        return K.resize_images(
            inputs, height, width, self.data_format, interpolation=self.interpolation
        )


class UpSampling3D(_UpSampling):
    """Volumes made larger by whole factors."""

    rank = 3
    _CONFIG = ("size", "data_format")

    def __init__(self, size: Any = (2, 2, 2), data_format: str | None = None, **kwargs: Any):
        super().__init__(data_format=data_format, **kwargs)
        self._set(size)

    def call(self, inputs: Any) -> Any:
        depth, height, width = self._factors
        return K.resize_volumes(inputs, depth, height, width, self.data_format)
