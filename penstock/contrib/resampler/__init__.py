"""`tf.contrib.resampler`: images sampled at given points."""

from penstock.ops.resampler import resampler

__all__ = ["resampler"]
