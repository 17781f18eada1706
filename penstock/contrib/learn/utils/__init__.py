"""`tf.contrib.learn.utils`: exports of models."""

from penstock.contrib.lazy_paths import resolver
from penstock.contrib.learn.utils import export, input_fn_utils, saved_model_export_utils

__all__ = ["export", "input_fn_utils", "saved_model_export_utils"]

__getattr__ = resolver(__name__)
