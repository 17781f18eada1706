"""`tf.keras.preprocessing`."""

from penstock.keras.preprocessing import image, sequence, text

__all__ = ["image", "sequence", "text"]
