"""Random changes of the inputs while training."""

from __future__ import annotations

import math
from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.engine.layer import Layer

__all__ = ["AlphaDropout", "GaussianDropout", "GaussianNoise"]

# The value to which SELU units saturate.
_SATURATED = -1.6732632423543772848170429916717 * 1.0507009873554804934193349852946


class _Noise(Layer):
    def __init__(self, **kwargs: Any):
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


class GaussianNoise(_Noise):
    """Adds normally distributed numbers, while training."""

    _CONFIG = ("stddev",)

    def __init__(self, stddev: float, **kwargs: Any):
        super().__init__(**kwargs)
        self.stddev = stddev

    def call(self, inputs: Any, training: Any = None) -> Any:
        def noised() -> Any:
            return inputs + K.random_normal(
                shape=tf.shape(inputs), mean=0.0, stddev=self.stddev, dtype=inputs.dtype
            )

        return K.in_train_phase(noised, inputs, training=training)


class GaussianDropout(_Noise):
    """Multiplies with normally distributed numbers of mean 1, while training."""

    _CONFIG = ("rate",)

    def __init__(self, rate: float, **kwargs: Any):
        super().__init__(**kwargs)
        self.rate = rate

    def call(self, inputs: Any, training: Any = None) -> Any:
        if not 0 < self.rate < 1:
            return inputs

        def noised() -> Any:
            stddev = math.sqrt(self.rate / (1.0 - self.rate))
            return inputs * K.random_normal(
                shape=tf.shape(inputs), mean=1.0, stddev=stddev, dtype=inputs.dtype
            )

        return K.in_train_phase(noised, inputs, training=training)


class AlphaDropout(_Noise):
    """Dropout that keeps mean and variance of SELU units, while training."""

    _CONFIG = ("rate",)

    def __init__(
        self, rate: float, noise_shape: Any = None, seed: int | None = None, **kwargs: Any
    ):
        super().__init__(**kwargs)
        self.rate = rate
        self.noise_shape = noise_shape
        self.seed = seed

    def call(self, inputs: Any, training: Any = None) -> Any:
        if not 0.0 < self.rate < 1.0:
            return inputs

        def dropped() -> Any:
            shape = self.noise_shape or tf.shape(inputs)
            drawn = K.random_uniform(shape, seed=self.seed, dtype=inputs.dtype)
            kept = tf.cast(tf.greater_equal(drawn, self.rate), inputs.dtype)
            scale = ((1 - self.rate) * (1 + self.rate * _SATURATED**2)) ** -0.5
            offset = -scale * _SATURATED * self.rate
            return scale * (inputs * kept + _SATURATED * (1 - kept)) + offset

        return K.in_train_phase(dropped, inputs, training=training)
