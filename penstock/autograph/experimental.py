"""`tf.autograph.experimental`: marks and options for the conversion of code."""

from penstock.autograph.calls import do_not_convert
from penstock.autograph.directives import set_loop_options
from penstock.autograph.options import Feature

__all__ = ["Feature", "do_not_convert", "set_loop_options"]
