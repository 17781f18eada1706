"""`tf.contrib.framework.arg_scope` and what belongs to it."""

from penstock.contrib.framework.arg_scope import *
