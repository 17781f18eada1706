"""`DenseFeatures` of TensorFlow 2 as a layer of models."""

from penstock.feature_column import scoped_features
from penstock.keras.engine.layer import Layer

__all__ = ["DenseFeatures"]


class DenseFeatures(scoped_features.DenseFeatures, Layer):
    """A layer that makes one dense tensor of features, for use in models."""
