"""`tf.contrib.compiler`: marks for a compiler. Plans are compiled without being asked to."""

from penstock.contrib.compiler import jit, xla

__all__ = ["jit", "xla"]
