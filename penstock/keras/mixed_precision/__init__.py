"""`tf.keras.mixed_precision`."""

from penstock.keras.mixed_precision import experimental

__all__ = ["experimental"]
