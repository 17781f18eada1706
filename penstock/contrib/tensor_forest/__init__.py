"""`tf.contrib.tensor_forest`: random forests that grow from streams of examples."""

from penstock.contrib import lazy_paths

__getattr__ = lazy_paths.resolver(__name__)
