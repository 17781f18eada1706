"""`tf.user_ops`: what came with TensorFlow as an example of a user's own op."""

from penstock.ops.fact import my_fact

__all__ = ["my_fact"]
