"""What `tensorflow.python.ops.random_grad` has besides gradients."""

from __future__ import annotations

from typing import Any

import penstock as tf


def add_leading_unit_dimensions(x: Any, num_dimensions: Any) -> tf.Tensor:
    """A tensor with dimensions of one element before its own."""
    ones = tf.ones([num_dimensions], dtype=tf.int32)
    return tf.reshape(x, tf.concat([ones, tf.shape(x)], axis=0))
