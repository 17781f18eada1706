"""Ragged tensors stretched to a common shape."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.ir.constants import constant_value
from penstock.ragged.arrays import tile
from penstock.ragged.conversion import convert_to_tensor_or_ragged_tensor, is_ragged
from penstock.ragged.dynamic_shape import RaggedTensorDynamicShape
from penstock.ragged.partition_checks import row_count
from penstock.ragged.row_ranges import repeat_ranges
from penstock.ragged.tensor import RaggedTensor


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> RaggedTensorDynamicShape:
    """The shape that two (ragged) shapes are stretched to."""
    for name, shape in (("shape_x", shape_x), ("shape_y", shape_y)):
        if not isinstance(shape, RaggedTensorDynamicShape):
            raise TypeError(f"{name} must be a RaggedTensorDynamicShape")
    if shape_x.rank is None or shape_y.rank is None:
        raise ValueError("Unable to broadcast: unknown rank")
    rank = max(shape_x.rank, shape_y.rank)
    shape_x, shape_y = shape_x.broadcast_to_rank(rank), shape_y.broadcast_to_rank(rank)
    for axis in range(rank):
        shape_x = shape_x.broadcast_dimension(axis, shape_y.dimension_size(axis))
        shape_y = shape_y.broadcast_dimension(axis, shape_x.dimension_size(axis))
    result: RaggedTensorDynamicShape = shape_x
    return result


def broadcast_to(rt_input: Any, shape: Any, broadcast_inner_dimensions: bool = True) -> Any:
    """The tensor stretched to a shape; its inner uniform dimensions only if that is asked for."""
    if not isinstance(shape, RaggedTensorDynamicShape):
        raise TypeError("shape must be a RaggedTensorDynamicShape")
    value = convert_to_tensor_or_ragged_tensor(rt_input)
    if shape.num_partitioned_dimensions > 0:
        return _to_ragged_shape(value, shape, broadcast_inner_dimensions)
    if is_ragged(value):
        raise ValueError("Incompatible with shape: ragged rank mismatch")
    return tf.broadcast_to(value, shape.inner_dim_sizes) if broadcast_inner_dimensions else value


def _to_ragged_shape(value: Any, shape: RaggedTensorDynamicShape, inner: bool) -> Any:
    if is_ragged(value) and value.row_splits.dtype != shape.dim_size_dtype:
        raise ValueError(
            "rt_input and dst_shape have different row_split dtypes; use "
            "RaggedTensor.with_row_splits_dtype() or "
            "RaggedTensorDynamicShape.with_dim_size_dtype() to convert to a compatible dtype."
        )
    if value.shape.ndims is None or shape.rank is None:
        raise ValueError("Unable to broadcast: unknown rank")
    if value.shape.ndims > shape.rank:
        raise ValueError("Incompatible with shape: rank mismatch")
    if is_ragged(value) and value.ragged_rank >= shape.num_partitioned_dimensions:
        raise ValueError("Incompatible with shape: ragged rank mismatch")
    own = RaggedTensorDynamicShape.from_tensor(value).broadcast_to_rank(shape.rank)
    value = _with_partitions(_with_rank(value, shape), shape)
    value = _repeat_uniform(value, own, shape)
    if inner:
        sizes = tf.concat([[-1], shape.inner_dim_sizes], axis=0)
        value = value.with_flat_values(tf.reshape(value.flat_values, sizes))
    for axis in range(shape.num_partitioned_dimensions):
        if not own.is_ragged(axis) and shape.is_ragged(axis):
            value = _repeat_to_lengths(value, axis, shape.dimension_size(axis))
    return value


def _with_rank(value: Any, shape: RaggedTensorDynamicShape) -> Any:
    """The value with dimensions of size 1 in front, up to the rank of the shape."""
    assert shape.rank is not None and shape.num_inner_dimensions is not None
    if value.shape.ndims == shape.rank:
        return value
    if value.shape.ndims < shape.num_inner_dimensions + 1:
        value = tf.reshape(value, tf.concat([[-1], shape.inner_dim_sizes], axis=0))
    for _ in range(shape.rank - value.shape.ndims):
        rows = row_count(value, shape.dim_size_dtype)
        value = RaggedTensor.from_row_lengths(value, [rows], validate=False)
    return value


def _with_partitions(value: Any, shape: RaggedTensorDynamicShape) -> Any:
    """The value with as many ragged dimensions as the shape has partitioned ones."""
    if not is_ragged(value):
        return RaggedTensor.from_tensor(
            value,
            ragged_rank=shape.num_partitioned_dimensions - 1,
            row_splits_dtype=shape.dim_size_dtype,
        )
    assert shape.num_inner_dimensions is not None
    missing = value.flat_values.shape.ndims - 1 - shape.num_inner_dimensions
    if missing <= 0:
        return value
    inner = RaggedTensor.from_tensor(
        value.flat_values, ragged_rank=missing, row_splits_dtype=shape.dim_size_dtype
    )
    return value.with_flat_values(inner)


def _repeat_uniform(
    value: Any, own: RaggedTensorDynamicShape, shape: RaggedTensorDynamicShape
) -> Any:
    """Repeats the dimensions that are uniform in both shapes, and of size 1 in the value."""
    assert shape.rank is not None
    multiples: list[Any] = [1] * shape.rank
    for axis in range(shape.num_partitioned_dimensions):
        if own.is_ragged(axis) or shape.is_ragged(axis):
            continue
        size, wanted = own.dimension_size(axis), shape.dimension_size(axis)
        if constant_value(size) in (1, None) and constant_value(wanted) != 1:
            one = tf.constant(1, wanted.dtype)
            multiples[axis] = tf.where(tf.equal(tf.cast(size, wanted.dtype), 1), wanted, one)
    if all(isinstance(each, int) for each in multiples):
        return value
    return tile(value, tf.stack(multiples, axis=0))


def _repeat_to_lengths(value: Any, axis: int, repeats: Any) -> Any:
    """Row i of a dimension of size 1 repeated `repeats[i]` times."""
    assert axis > 0
    if not is_ragged(value):
        value = RaggedTensor.from_tensor(value, row_splits_dtype=repeats.dtype)
    if axis > 1:
        return value.with_values(_repeat_to_lengths(value.values, axis - 1, repeats))
    splits = value.row_splits
    lengths = [repeats]
    below = list(zip(value.nested_row_splits, value.nested_row_lengths(), strict=True))[1:]
    for inner_splits, inner_lengths in below:
        lengths.append(repeat_ranges(inner_lengths, splits, repeats))
        splits = tf.gather(inner_splits, splits)
    values = repeat_ranges(value.flat_values, splits, repeats)
    return RaggedTensor.from_nested_row_lengths(values, lengths, validate=False)
