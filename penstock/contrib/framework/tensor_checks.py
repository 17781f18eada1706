"""Checks of shapes and types that give back the tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import penstock as tf
from penstock.ir.composite import SparseTensor

__all__ = [
    "assert_scalar_int",
    "reduce_sum_n",
    "remove_squeezable_dimensions",
    "with_same_shape",
    "with_shape",
]


def reduce_sum_n(tensors: Sequence[Any], name: str | None = None) -> Any:
    """The sum of all elements of all tensors."""
    if not tensors:
        raise ValueError("No tensors provided.")
    with tf.name_scope(name, "reduce_sum_n", tensors) as scope:
        sums = [tf.reduce_sum(each, name=f"{each.op.name}/sum") for each in tensors]
        return sums[0] if len(sums) == 1 else tf.add_n(sums, name=scope)


def remove_squeezable_dimensions(
    predictions: Any, labels: Any, name: str | None = None
) -> tuple[Any, Any]:
    """Drops the last dimension of size 1 of the one that has a rank more than the other."""
    with tf.name_scope(name, "remove_squeezable_dimensions", [predictions, labels]):
        predictions = tf.convert_to_tensor(predictions)
        labels = tf.convert_to_tensor(labels)
        ranks = predictions.get_shape().ndims, labels.get_shape().ndims
        if ranks[0] is not None and ranks[1] is not None:
            surplus = ranks[0] - ranks[1]
            if surplus == -1:
                labels = tf.squeeze(labels, [-1])
            elif surplus == 1:
                predictions = tf.squeeze(predictions, [-1])
            return predictions, labels
        difference = tf.rank(predictions) - tf.rank(labels)
        return (
            _squeezed_if(1, difference, predictions),
            _squeezed_if(-1, difference, labels),
        )


def _squeezed_if(surplus: int, difference: Any, tensor: Any) -> Any:
    shape = tensor.get_shape()
    if shape.ndims is not None and not shape[-1:].is_compatible_with([1]):
        return tensor
    return tf.cond(tf.equal(surplus, difference), lambda: tf.squeeze(tensor, [-1]), lambda: tensor)


def _matches(expected_shape: Any, tensor: Any, actual: Any) -> Any:
    """Whether a tensor has a shape in which -1 stands for any size."""
    with tf.name_scope("is_shape", values=[tensor]) as scope:
        with tf.name_scope("is_rank", values=[tensor]) as rank_scope:
            expected_rank = tf.convert_to_tensor(tf.size(expected_shape), name="expected")
            same_rank = tf.equal(expected_rank, tf.rank(tensor, name="actual"), name=rank_scope)
        with tf.name_scope("shape_tensor_equal", values=[expected_shape, actual]) as equal_scope:
            same_or_open = tf.logical_or(
                tf.equal(expected_shape, -1),
                tf.equal(expected_shape, actual, "equal"),
                name="exclude_partial_shape",
            )
            same_sizes = tf.reduce_all(same_or_open, name=equal_scope)
        return tf.logical_and(same_rank, same_sizes, name=scope)


def _assert_shape(expected_shape: Any, tensor: Any) -> Any:
    with tf.name_scope("assert_shape", values=[tensor]) as scope:
        actual = tf.shape(tensor, name="actual")
        if isinstance(expected_shape, tf.TensorShape) and not expected_shape.is_fully_defined():
            expected_shape = [size or -1 for size in expected_shape.as_list()]
        return tf.Assert(
            _matches(expected_shape, tensor, actual),
            [f"Wrong shape for {tensor.name} [expected] [actual].", expected_shape, actual],
            name=scope,
        )


def with_same_shape(expected_tensor: Any, tensor: Any) -> Any:
    """The tensor, with a check that it has the shape of another."""
    with tf.name_scope(f"{tensor.op.name}/", values=[expected_tensor, tensor]):
        shape = expected_tensor.get_shape()
        if shape.is_fully_defined():
            return with_shape(shape.as_list(), tensor)
        return with_shape(tf.shape(expected_tensor, name="expected_shape"), tensor)


def _checked_shape(expected: Any, tensor: Any) -> Any:
    if isinstance(expected, (list, tuple)):
        array = np.asarray(expected, dtype=None if expected else np.int32)
        expected = array.astype(np.int32) if array.dtype == np.int64 else array
    if isinstance(expected, np.ndarray) and expected.ndim > 1:
        raise ValueError(
            f"Invalid rank {expected.ndim} for shape {expected} expected of tensor {tensor.name}."
        )
    if not isinstance(expected, tf.TensorShape) and tf.as_dtype(expected.dtype) != tf.int32:
        raise ValueError(
            f"Invalid dtype {expected.dtype} for shape {expected} expected of tensor {tensor.name}."
        )
    return expected


def with_shape(expected_shape: Any, tensor: Any) -> Any:
    """The tensor, with a check of its shape: now if it is known, else when the graph runs.

    Args:
      expected_shape: a list, tuple, array or `TensorShape`, or a tensor of type int32.
    """
    if isinstance(tensor, SparseTensor):
        raise ValueError("SparseTensor not supported.")
    expected = _checked_shape(expected_shape, tensor)
    actual = tensor.get_shape()
    is_tensor = isinstance(expected, (tf.Tensor, tf.Variable))
    is_scalar = not is_tensor and len(expected) < 1
    if is_tensor or not actual.is_fully_defined():
        with tf.name_scope(f"{tensor.op.name}/", values=[tensor]):
            if is_scalar:
                return tf.reshape(tensor, [])
            with tf.control_dependencies([_assert_shape(expected, tensor)]):
                result = tf.identity(tensor)
            if not is_tensor:
                result.set_shape(expected)
            return result
    if actual.is_compatible_with(expected):
        return tensor
    if is_scalar and actual.is_compatible_with([1]):
        with tf.name_scope(f"{tensor.op.name}/", values=[tensor]):
            return tf.reshape(tensor, [])
    raise ValueError(f"Invalid shape for tensor {tensor.name}, expected {expected}, got {actual}.")


def assert_scalar_int(tensor: Any, name: str | None = None) -> Any:
    """The tensor, if it is a scalar of integers."""
    with tf.name_scope(name, "assert_scalar_int", [tensor]) as scope:
        tensor = tf.convert_to_tensor(tensor)
        if not tensor.dtype.base_dtype.is_integer:
            raise ValueError(
                f"Expected integer type for {tensor.name}, received type: {tensor.dtype}."
            )
        return tf.assert_scalar(tensor, name=scope)
