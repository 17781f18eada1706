"""`tf.contrib.saved_model`: Keras models as SavedModels, and what a SavedModel holds."""

from penstock.contrib import lazy_paths
from penstock.contrib.saved_model.reader import get_saved_model_tag_sets
from penstock.keras.experimental import export_saved_model as save_keras_model
from penstock.keras.experimental import load_from_saved_model as load_keras_model

__all__ = [
    "get_saved_model_tag_sets",
    "load_keras_model",
    "save_keras_model",
]

__getattr__ = lazy_paths.resolver(__name__)
