"""What `tensorflow.python.ops.random_ops` and `random_grad` have besides public functions."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.ir.name_scope import name_scope
from penstock.ops.random import ParameterizedTruncatedNormal, shape_tensor
from penstock.ops.seeds import get_seed


def parameterized_truncated_normal(
    shape: Any,
    means: Any = 0.0,
    stddevs: Any = 1.0,
    minvals: Any = -2.0,
    maxvals: Any = 2.0,
    dtype: Any = tf.float32,
    seed: Any = None,
    name: str | None = None,
) -> tf.Tensor:
    """Normally distributed numbers between bounds, with parameters for each row of the result."""
    parameters = {"means": means, "stddevs": stddevs, "minvals": minvals, "maxvals": maxvals}
    with name_scope(name, "parameterized_truncated_normal", [shape, *parameters.values()]):
        sizes = shape_tensor(shape)
        entries = [
            tf.convert_to_tensor(value, dtype, name=key) for key, value in parameters.items()
        ]
        seed1, seed2 = get_seed(seed)
        return ParameterizedTruncatedNormal(sizes, *entries, seed=seed1, seed2=seed2)


def add_leading_unit_dimensions(x: Any, num_dimensions: Any) -> tf.Tensor:
    """A tensor with dimensions of one element before its own."""
    ones = tf.ones([num_dimensions], dtype=tf.int32)
    return tf.reshape(x, tf.concat([ones, tf.shape(x)], axis=0))
