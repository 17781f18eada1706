"""`tf.contrib.periodic_resample`: elements of one axis dealt out to others."""

from penstock.ops.periodic_resampling import periodic_resample

__all__ = ["periodic_resample"]
