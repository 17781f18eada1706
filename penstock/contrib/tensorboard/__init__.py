"""`tf.contrib.tensorboard`: files for TensorBoard's plugins."""

from penstock.contrib import lazy_paths

__getattr__ = lazy_paths.resolver(__name__)
