"""Pooling of windows, and of whole sequences, images and volumes."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.engine.layer import Layer
from penstock.layers import windows
from penstock.layers.core_layer import CoreLayer
from penstock.layers.input_spec import InputSpec
from penstock.layers.kinds import pooling

__all__ = [
    "AveragePooling1D",
    "AveragePooling2D",
    "AveragePooling3D",
    "AvgPool1D",
    "AvgPool2D",
    "AvgPool3D",
    "GlobalAveragePooling1D",
    "GlobalAveragePooling2D",
    "GlobalAveragePooling3D",
    "GlobalAvgPool1D",
    "GlobalAvgPool2D",
    "GlobalAvgPool3D",
    "GlobalMaxPool1D",
    "GlobalMaxPool2D",
    "GlobalMaxPool3D",
    "GlobalMaxPooling1D",
    "GlobalMaxPooling2D",
    "GlobalMaxPooling3D",
    "MaxPool1D",
    "MaxPool2D",
    "MaxPool3D",
    "MaxPooling1D",
    "MaxPooling2D",
    "MaxPooling3D",
]


class _Pooling(CoreLayer):
    """Windows of size 2 by default, next to each other."""

    _CONFIG: tuple[str, ...] = ("pool_size", "strides", "padding", "data_format")

    def __init__(
        self,
        pool_size: Any = 2,
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(
            pool_size,
            strides,
            padding=padding,
            data_format=data_format or K.image_data_format(),
            **kwargs,
        )


class MaxPooling1D(_Pooling, pooling.MaxPooling1D, Layer):
    """The largest value of each window of sequences."""


class AveragePooling1D(_Pooling, pooling.AveragePooling1D, Layer):
    """The average value of each window of sequences."""


class MaxPooling2D(_Pooling, pooling.MaxPooling2D, Layer):
    """The largest value of each window of images."""


class AveragePooling2D(_Pooling, pooling.AveragePooling2D, Layer):
    """The average value of each window of images."""


class MaxPooling3D(_Pooling, pooling.MaxPooling3D, Layer):
    """The largest value of each window of volumes."""


class AveragePooling3D(_Pooling, pooling.AveragePooling3D, Layer):
    """The average value of each window of volumes."""


class _GlobalPooling(Layer):
    """One value per channel; a subclass says over how many dimensions (`rank`)."""

    rank: int
    _CONFIG = ("data_format",)

    def __init__(self, data_format: str | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.data_format = windows.normalize_data_format(data_format or K.image_data_format())
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _axes(self) -> list[int]:
        first = 2 if self.data_format == "channels_first" else 1
        return list(range(first, first + self.rank))

    def compute_output_shape(self, input_shape: Any) -> Any:
        sizes = tf.TensorShape(input_shape).as_list()
        return tf.TensorShape([sizes[0], sizes[windows.channel_axis(self.data_format)]])


class _GlobalMax(_GlobalPooling):
    def call(self, inputs: Any) -> Any:
        return tf.reduce_max(inputs, axis=self._axes())


class _GlobalAverage(_GlobalPooling):
    def call(self, inputs: Any) -> Any:
        return tf.reduce_mean(inputs, axis=self._axes())


class GlobalAveragePooling1D(_GlobalPooling):
    """The average over the steps of sequences; masked steps don't count."""

    rank = 1

    def __init__(self, data_format: str | None = "channels_last", **kwargs: Any):
        super().__init__(data_format=data_format, **kwargs)
        self.supports_masking = True

    def call(self, inputs: Any, mask: Any = None) -> Any:
        (axis,) = self._axes()
        if mask is None:
            return tf.reduce_mean(inputs, axis=axis)
        weights = tf.cast(mask, inputs.dtype)
        weights = tf.expand_dims(weights, 2 if self.data_format == "channels_last" else 1)
        return tf.reduce_sum(inputs * weights, axis=axis) / tf.reduce_sum(weights, axis=axis)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return None


class GlobalMaxPooling1D(_GlobalMax):
    """The largest values over the steps of sequences."""

    rank = 1

    def __init__(self, data_format: str | None = "channels_last", **kwargs: Any):
        super().__init__(data_format=data_format, **kwargs)


class GlobalAveragePooling2D(_GlobalAverage):
    """The average over images."""

    rank = 2


class GlobalMaxPooling2D(_GlobalMax):
    """The largest values of images."""

    rank = 2


class GlobalAveragePooling3D(_GlobalAverage):
    """The average over volumes."""

    rank = 3


class GlobalMaxPooling3D(_GlobalMax):
    """The largest values of volumes."""

    rank = 3


MaxPool1D = MaxPooling1D
MaxPool2D = MaxPooling2D
MaxPool3D = MaxPooling3D
AvgPool1D = AveragePooling1D
AvgPool2D = AveragePooling2D
AvgPool3D = AveragePooling3D
GlobalMaxPool1D = GlobalMaxPooling1D
GlobalMaxPool2D = GlobalMaxPooling2D
GlobalMaxPool3D = GlobalMaxPooling3D
GlobalAvgPool1D = GlobalAveragePooling1D
GlobalAvgPool2D = GlobalAveragePooling2D
GlobalAvgPool3D = GlobalAveragePooling3D
