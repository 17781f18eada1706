"""Tensors by blocks: pooled to one number for each, and expanded again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import penstock as tf
from penstock.contrib.model_pruning.masks import weight_mask_variable, weight_threshold_variable
from penstock.shapes import dimension_value

__all__ = [
    "determine_partitioned_axis",
    "expand_tensor",
    "factorized_pool",
    "kronecker_product",
    "partitioned_variable_assign",
    "variable_assign",
    "weight_mask_variable",
    "weight_threshold_variable",
]


def kronecker_product(mat1: tf.Tensor, mat2: tf.Tensor) -> tf.Tensor:
    """All products of elements of two matrices, as a matrix of blocks."""
    rows1, columns1 = mat1.get_shape().as_list()
    rows2, columns2 = mat2.get_shape().as_list()
    assert None not in (rows1, columns1, rows2, columns2)
    left = tf.reshape(mat1, [rows1, 1, columns1, 1])
    right = tf.reshape(mat2, [1, rows2, 1, columns2])
    return tf.reshape(left * right, [rows1 * rows2, columns1 * columns2])  # type: ignore[operator]


def expand_tensor(tensor: tf.Tensor, block_dims: Sequence[int]) -> tf.Tensor:
    """A matrix in which each element has become a block."""
    if tensor.get_shape().ndims != 2:
        raise ValueError("Input tensor must be rank 2")
    if len(block_dims) != 2:
        raise ValueError("block_dims must have 2 elements")
    rows, columns = (int(size) for size in block_dims)
    if rows > 1:
        tensor = tf.gather(tensor, np.repeat(np.arange(int(tensor.shape[0])), rows))
    if columns > 1:
        places = np.repeat(np.arange(int(tensor.shape[1])), columns)
        tensor = tf.gather(tensor, places, axis=1)
    return tensor


def factorized_pool(
    input_tensor: tf.Tensor,
    window_shape: Sequence[int],
    pooling_type: str,
    strides: Sequence[int],
    padding: str,
    name: str | None = None,
) -> tf.Tensor:
    """`tf.nn.pool` of a matrix, along columns, then along rows."""
    if input_tensor.get_shape().ndims != 2:
        raise ValueError("factorized_pool() accepts tensors of rank 2 only")
    height, width = input_tensor.get_shape().as_list()
    with tf.name_scope(name, "factorized_pool"):
        pooled = tf.reshape(input_tensor, [1, 1, height, width])
        pooled = tf.transpose(pooled, [0, 3, 2, 1])
        for size, stride in zip(window_shape, strides, strict=True):
            pooled = tf.nn.pool(
                pooled,
                window_shape=[1, size],
                pooling_type=pooling_type,
                strides=[1, stride],
                padding=padding,
            )
            pooled = tf.transpose(pooled, [0, 2, 1, 3])
        return tf.squeeze(tf.transpose(pooled, [0, 2, 1, 3]), axis=[0, 3], name="pooled_t")


def determine_partitioned_axis(partitioned_variable: Any) -> int:
    """The axis along which a variable is cut into parts."""
    whole = partitioned_variable.get_shape().as_list()
    axis = 0
    for part in partitioned_variable:
        smaller = np.less(part.get_shape().as_list(), whole)
        if np.count_nonzero(smaller) != 1:
            raise ValueError(
                f"Number of partitioned axes {np.count_nonzero(smaller)} not equal to 1"
            )
        axis = int(np.argmax(smaller))
    return axis


def variable_assign(var: Any, new_value: Any) -> Any:
    """Assigns to a variable, by a node that is called after it."""
    return tf.assign(var, new_value, name=f"{var.op.name}_assign")


def partitioned_variable_assign(partitioned_var: Any, new_value: Any) -> tf.Operation:
    """Assigns to all parts of a variable what they have of a value."""
    parts = list(partitioned_var)
    axis = 0 if len(parts) == 1 else determine_partitioned_axis(partitioned_var)
    sizes = [dimension_value(part.get_shape()[axis]) for part in parts]
    values = tf.split(new_value, tf.constant(sizes, tf.int32), axis=axis)
    assigned = [variable_assign(part, value) for part, value in zip(parts, values, strict=True)]
    return tf.group(*assigned, name=f"{partitioned_var.name}_group_assign")
