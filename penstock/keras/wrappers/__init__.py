"""`tf.keras.wrappers`."""

from penstock.keras.wrappers import scikit_learn

__all__ = ["scikit_learn"]
