"""Feature columns as a layer of a Keras model."""

from __future__ import annotations

from penstock.feature_column import feature_layers
from penstock.keras.engine.layer import Layer

__all__ = ["DenseFeatures"]


class DenseFeatures(feature_layers.DenseFeatures, Layer):
    """One dense tensor of a dictionary of features.

    Args:
      feature_columns: dense columns of `tf.feature_column`.
    """
