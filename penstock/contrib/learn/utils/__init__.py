"""`tf.contrib.learn.utils`: exports of models."""

from penstock.contrib.learn.export_strategy import make_export_strategy
from penstock.contrib.learn.utils import input_fn_utils, saved_model_export_utils

__all__ = ["input_fn_utils", "make_export_strategy", "saved_model_export_utils"]
