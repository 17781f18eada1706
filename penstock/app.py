"""`tf.app`: a program's entry point and its command-line flags."""

from penstock.platform import flags
from penstock.platform.app import run

__all__ = ["flags", "run"]
