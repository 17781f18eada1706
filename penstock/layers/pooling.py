"""`tf.layers.max_pooling2d` and its kin."""

from __future__ import annotations

from typing import Any

from penstock.layers.base import Layer
from penstock.layers.kinds import pooling

__all__ = [
    "AveragePooling1D",
    "AveragePooling2D",
    "AveragePooling3D",
    "MaxPooling1D",
    "MaxPooling2D",
    "MaxPooling3D",
    "average_pooling1d",
    "average_pooling2d",
    "average_pooling3d",
    "max_pooling1d",
    "max_pooling2d",
    "max_pooling3d",
]


class AveragePooling1D(pooling.AveragePooling1D, Layer):
    """The average value of each window of sequences."""


def average_pooling1d(
    inputs: Any,
    pool_size: Any,
    strides: Any,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: Any = None,
) -> Any:
    """The average value of each window of sequences."""
    return AveragePooling1D(pool_size, strides, padding, data_format, name).apply(inputs)


class MaxPooling1D(pooling.MaxPooling1D, Layer):
    """The largest value of each window of sequences."""


def max_pooling1d(
    inputs: Any,
    pool_size: Any,
    strides: Any,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: Any = None,
) -> Any:
    """The largest value of each window of sequences."""
    return MaxPooling1D(pool_size, strides, padding, data_format, name).apply(inputs)


class AveragePooling2D(pooling.AveragePooling2D, Layer):
    """The average value of each window of images."""


def average_pooling2d(
    inputs: Any,
    pool_size: Any,
    strides: Any,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: Any = None,
) -> Any:
    """The average value of each window of images."""
    return AveragePooling2D(pool_size, strides, padding, data_format, name).apply(inputs)


class MaxPooling2D(pooling.MaxPooling2D, Layer):
    """The largest value of each window of images."""


def max_pooling2d(
    inputs: Any,
    pool_size: Any,
    strides: Any,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: Any = None,
) -> Any:
    """The largest value of each window of images."""
    return MaxPooling2D(pool_size, strides, padding, data_format, name).apply(inputs)


class AveragePooling3D(pooling.AveragePooling3D, Layer):
    """The average value of each window of volumes."""


def average_pooling3d(
    inputs: Any,
    pool_size: Any,
    strides: Any,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: Any = None,
) -> Any:
    """The average value of each window of volumes."""
    return AveragePooling3D(pool_size, strides, padding, data_format, name).apply(inputs)


class MaxPooling3D(pooling.MaxPooling3D, Layer):
    """The largest value of each window of volumes."""


def max_pooling3d(
    inputs: Any,
    pool_size: Any,
    strides: Any,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: Any = None,
) -> Any:
    """The largest value of each window of volumes."""
    return MaxPooling3D(pool_size, strides, padding, data_format, name).apply(inputs)


AvgPool2D = AveragePooling2D
MaxPool2D = MaxPooling2D
max_pool2d = max_pooling2d
avg_pool2d = average_pooling2d
