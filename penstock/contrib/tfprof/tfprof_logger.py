"""`tf.contrib.tfprof.tfprof_logger`: the old name of `tf.profiler.write_op_log`."""

from penstock.profiler.model_analyzer import write_op_log

__all__ = ["write_op_log"]
