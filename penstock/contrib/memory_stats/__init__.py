"""`tf.contrib.memory_stats`: how much memory of a GPU is in use."""

from penstock.ops.memory_stats import BytesInUse, BytesLimit, MaxBytesInUse

__all__ = ["BytesInUse", "BytesLimit", "MaxBytesInUse"]
