"""Batch normalization as TensorFlow 2 has it: `tf.compat.v2.keras.layers.BatchNormalization`."""

from __future__ import annotations

from typing import Any

from penstock.keras import backend as K
from penstock.keras.layers import normalization

__all__ = ["BatchNormalization"]


class BatchNormalization(normalization.BatchNormalization):
    """Normalizes each feature by its mean and variance, then scales and shifts it.

    Unlike the one of TensorFlow 1, `fused` is settled when the layer is built (and refused where
    the fused op cannot be used), and a layer that isn't trainable uses its moving averages.
    """

    _USE_V2_BEHAVIOR = True

    def call(self, inputs: Any, training: Any = None) -> Any:
        if not self.trainable:
            return super().call(inputs, False)
        return super().call(inputs, K.learning_phase() if training is None else training)
