"""`tf.contrib.saved_model`: what a SavedModel holds."""

from penstock.contrib import lazy_paths
from penstock.contrib.saved_model.reader import get_saved_model_tag_sets

__all__ = [
    "get_saved_model_tag_sets",
]

__getattr__ = lazy_paths.resolver(__name__)
