"""Keras' settings: the default float type, the fuzz factor, where channels are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = [
    "backend",
    "cast_to_floatx",
    "epsilon",
    "floatx",
    "image_data_format",
    "image_dim_ordering",
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
]


@dataclass
class _Settings:
    floatx: str = "float32"
    epsilon: float = 1e-7
    image_data_format: str = "channels_last"


_settings = _Settings()


def backend() -> str:
    """The name of the backend, which Keras programs compare with "tensorflow"."""
    return "tensorflow"


def floatx() -> str:
    """The name of the default float type."""
    return _settings.floatx


def set_floatx(value: str) -> None:
    """Makes "float16", "float32" or "float64" the default float type."""
    if value not in ("float16", "float32", "float64"):
        raise ValueError(f"Unknown floatx type: {value}")
    _settings.floatx = value


def cast_to_floatx(x: Any) -> Any:
    """An array or tensor in the default float type."""
    import penstock as tf

    if isinstance(x, (tf.Tensor, tf.Variable, tf.SparseTensor)):
        return tf.cast(x, floatx())
    return np.asarray(x, dtype=floatx())


def epsilon() -> float:
    """The number that keeps divisions and logarithms away from zero."""
    return _settings.epsilon


def set_epsilon(value: float) -> None:
    """Sets the number that `epsilon` gives."""
    _settings.epsilon = value


def image_data_format() -> str:
    """ "channels_last" or "channels_first": the format of layers that aren't told one."""
    return _settings.image_data_format


def set_image_data_format(data_format: str) -> None:
    """Sets the format of layers that aren't told one."""
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError(f"Unknown data_format: {data_format}")
    _settings.image_data_format = data_format


def image_dim_ordering() -> str:
    """The data format in the words of Keras 1: "tf" or "th"."""
    return "th" if image_data_format() == "channels_first" else "tf"
