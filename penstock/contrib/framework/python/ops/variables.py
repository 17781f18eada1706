"""The variables of `tf.contrib.framework`."""

from penstock.contrib.framework.variables import *
