"""Layers that take the largest or the average value of windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.layers import windows
from penstock.layers.core_layer import CoreLayer
from penstock.layers.input_spec import InputSpec
from penstock.ops.permuting import transpose
from penstock.ops.pooling import avg_pool, avg_pool3d, max_pool, max_pool3d
from penstock.ops.shaping import expand_dims, squeeze
from penstock.shapes import TensorShape


class Pooling(CoreLayer):
    """Pools windows of `pool_size`, `strides` apart; strides are the size where None.

    A subclass says over how many dimensions (`rank`) and with which function (`pool`).
    """

    rank: int
    pool: Callable[..., Any]

    def __init__(
        self,
        pool_size: Any,
        strides: Any,
        padding: str = "valid",
        data_format: str | None = "channels_last",
        name: Any = None,
        **kwargs: Any,
    ):
        super().__init__(name=name, **kwargs)
        strides = pool_size if strides is None else strides
        self.pool_size = windows.normalize_tuple(pool_size, self.rank, "pool_size")
        self.strides = windows.normalize_tuple(strides, self.rank, "strides")
        self.padding = windows.normalize_padding(padding)
        self.data_format = windows.normalize_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        shape = TensorShape(input_shape).as_list()
        space = windows.space_of(shape, self.data_format, self.rank)
        lengths = [
            windows.conv_output_length(length, size, self.padding, stride)
            for length, size, stride in zip(space, self.pool_size, self.strides, strict=True)
        ]
        channels = shape[windows.channel_axis(self.data_format)]
        return TensorShape(windows.with_space(shape, self.data_format, lengths, channels))

    def _pooled_images(self, images: Any, size: tuple[int, ...], strides: tuple[int, ...]) -> Any:
        first = (1, 1) if self.data_format == "channels_first" else (1,)
        last = () if self.data_format == "channels_first" else (1,)
        return type(self).pool(
            images,
            first + size + last,
            first + strides + last,
            padding=self.padding.upper(),
            data_format=windows.convert_data_format(self.data_format, 4),
        )


class Pooling1D(Pooling):
    """Pools sequences, as images that are one pixel wide."""

    rank = 1

    def call(self, inputs: Any) -> Any:
        axis = 3 if self.data_format == "channels_first" else 2
        images = expand_dims(inputs, axis)
        outputs = self._pooled_images(images, (*self.pool_size, 1), (*self.strides, 1))
        return squeeze(outputs, axis)


class Pooling2D(Pooling):
    """Pools images."""

    rank = 2

    def call(self, inputs: Any) -> Any:
        return self._pooled_images(inputs, self.pool_size, self.strides)


class Pooling3D(Pooling):
    """Pools volumes; channels come last while it does."""

    rank = 3

    def call(self, inputs: Any) -> Any:
        is_channels_first = self.data_format == "channels_first"
        if is_channels_first:
            inputs = transpose(inputs, (0, 2, 3, 4, 1))
        outputs = type(self).pool(
            inputs,
            (1, *self.pool_size, 1),
            (1, *self.strides, 1),
            padding=self.padding.upper(),
        )
        return transpose(outputs, (0, 4, 1, 2, 3)) if is_channels_first else outputs


class MaxPooling1D(Pooling1D):
    pool = staticmethod(max_pool)


class AveragePooling1D(Pooling1D):
    pool = staticmethod(avg_pool)


class MaxPooling2D(Pooling2D):
    pool = staticmethod(max_pool)


class AveragePooling2D(Pooling2D):
    pool = staticmethod(avg_pool)


class MaxPooling3D(Pooling3D):
    pool = staticmethod(max_pool3d)


class AveragePooling3D(Pooling3D):
    pool = staticmethod(avg_pool3d)
