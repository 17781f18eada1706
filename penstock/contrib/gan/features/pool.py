"""A pool of earlier values, for a discriminator not to forget what generators were like."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock import nest

__all__ = ["tensor_pool"]


def tensor_pool(
    input_values: Any,
    pool_size: int = 50,
    pooling_probability: Any = 0.5,
    name: str = "tensor_pool",
) -> Any:
    """Either the values given, or some that were given in an earlier step.

    Args:
      input_values: a tensor, or tensors in lists and tuples: they stay together.
      pool_size: how many are kept; until then values pass through. 0 keeps none.
      pooling_probability: how often earlier values are given, once the pool is full.
      name: a prefix of the nodes' scope.
    """
    pool_size = int(pool_size)
    if pool_size < 0:
        raise ValueError("`pool_size` is negative.")
    if pool_size == 0:
        return input_values
    values = tuple(nest.flatten(input_values))
    with tf.name_scope(f"{name}_pool_queue", values=(*values, pooling_probability)):
        pool = tf.RandomShuffleQueue(
            capacity=pool_size,
            min_after_dequeue=0,
            dtypes=[value.dtype for value in values],
            shapes=None,
        )

        def kept_and_passed() -> tuple[Any, ...]:
            with tf.control_dependencies([pool.enqueue(values)]):
                return tuple(tf.identity(value) for value in values)

        def exchanged() -> Any:
            earlier = tuple(nest.flatten(pool.dequeue()))
            with (
                tf.control_dependencies(earlier),
                tf.control_dependencies([pool.enqueue(values)]),
            ):
                pooled = tf.random_uniform((), dtype=tf.float32) < pooling_probability
                return tf.cond(pooled, lambda: earlier, lambda: values)

        outputs = nest.flatten(tf.cond(pool.size() < pool_size, kept_and_passed, exchanged))
        for value, output in zip(values, outputs, strict=True):
            output.set_shape(value.shape)
    return nest.pack_sequence_as(input_values, outputs)
