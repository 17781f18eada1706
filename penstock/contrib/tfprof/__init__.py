"""`tf.contrib.tfprof`: the old name of `tf.profiler`."""

from penstock.contrib.lazy_paths import resolver
from penstock.contrib.tfprof import model_analyzer, tfprof_logger
from penstock.profiler.profile_context import ProfileContext

__all__ = ["ProfileContext", "model_analyzer", "tfprof_logger"]

__getattr__ = resolver(__name__)
