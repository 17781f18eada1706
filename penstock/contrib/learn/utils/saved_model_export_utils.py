"""`tf.contrib.learn.utils.saved_model_export_utils`."""

from penstock.contrib.learn.export_strategy import make_export_strategy

__all__ = ["make_export_strategy"]
