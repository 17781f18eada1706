"""`tf.layers.experimental`: layers that keep their variables as Keras layers do."""

from penstock.layers.base import keras_style_scope, set_keras_style

__all__ = ["keras_style_scope", "set_keras_style"]
