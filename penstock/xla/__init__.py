"""`tf.xla`: marks for a compiler. Plans are compiled without being asked to."""

from penstock.xla import experimental

__all__ = ["experimental"]
