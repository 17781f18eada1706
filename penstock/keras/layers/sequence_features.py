"""`tf.keras.experimental.SequenceFeatures`."""

from penstock.feature_column import feature_layers
from penstock.keras.engine.layer import Layer

__all__ = ["SequenceFeatures"]


class SequenceFeatures(feature_layers.SequenceFeatures, Layer):
    """A layer that makes one tensor of sequences, and their lengths, for use in models."""
