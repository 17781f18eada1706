"""What `tensorflow.python.ops.stateless_random_ops` calls the functions of `tf.random`."""

from penstock.ops.stateless_random import stateless_normal as stateless_random_normal
from penstock.ops.stateless_random import stateless_uniform as stateless_random_uniform

__all__ = ["stateless_random_normal", "stateless_random_uniform"]
