"""Rows of ragged tensors by their indices."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.ops.gather import batch_gather as dense_batch_gather
from penstock.ops.gather import gather as dense_gather
from penstock.ops.gather import gather_nd as dense_gather_nd
from penstock.ops.ragged import RaggedGather
from penstock.ragged.conversion import (
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
    match_row_splits_dtypes,
)
from penstock.ragged.row_ranges import repeat
from penstock.ragged.tensor import RaggedTensor


def _converted(params: Any, indices: Any) -> tuple[Any, Any]:
    params = convert_to_tensor_or_ragged_tensor(params, name="params")
    indices = convert_to_tensor_or_ragged_tensor(indices, name="indices")
    matched: tuple[Any, Any] = match_row_splits_dtypes(params, indices)
    return matched


def gather(
    params: Any,
    indices: Any,
    validate_indices: bool | None = None,
    axis: int = 0,
    batch_dims: int = 0,
    name: str | None = None,
) -> Any:
    """`tf.gather` for ragged params or indices: rows along the first axis."""
    axis = 0 if axis is None else axis
    if not isinstance(axis, int) or axis != 0:
        raise ValueError("axis != 0 is not supported for ragged gather yet.")
    if not isinstance(batch_dims, int) or batch_dims != 0:
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    with tf.name_scope(name, "RaggedGather", [params, indices]):
        params, indices = _converted(params, indices)
        if is_ragged(indices):
            return indices.with_values(gather(params, indices.values))
        if not is_ragged(params):
            return dense_gather(params, indices)
        if indices.shape.ndims is None:
            raise ValueError("indices.shape.ndims must be known statically")
        rank = indices.shape.ndims + params.ragged_rank - 1
        nested_splits, values = RaggedGather(
            params.nested_row_splits, params.flat_values, indices, OUTPUT_RAGGED_RANK=rank
        )
        return RaggedTensor.from_nested_row_splits(values, nested_splits, validate=False)


def gather_nd(params: Any, indices: Any, batch_dims: int = 0, name: str | None = None) -> Any:
    """`tf.gather_nd` for ragged params or indices."""
    if not isinstance(batch_dims, int) or batch_dims != 0:
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    if not (is_ragged(params) or is_ragged(indices)):
        return dense_gather_nd(params, indices, name)
    with tf.name_scope(name, "RaggedGatherNd", [params, indices]):
        params, indices = _converted(params, indices)
        size = _index_size(indices)
        if indices.shape.ndims > 2:
            return _gather_nd_nested(params, indices)
        if size == 0:
            return _copies(params, indices)
        if size == 1:
            return gather(params, tf.reshape(indices, [-1]))
        return _gather_tuples(params, indices, size)


def _index_size(indices: Any) -> int:
    """How many dimensions the indices select from."""
    rank = indices.shape.ndims
    if rank is None:
        raise ValueError("indices.rank be statically known.")
    if rank == 0:
        raise ValueError("indices.rank must be at least 1.")
    if is_ragged(indices) and rank == indices.ragged_rank + 1:
        raise ValueError("The innermost dimension of indices may not be ragged")
    size: int | None = indices.shape.as_list()[-1]
    if size is None:
        raise ValueError("indices.shape[-1] must be statically known.")
    return size


def _gather_nd_nested(params: Any, indices: Any) -> Any:
    """Indices of rank above 2: the innermost ones are a matrix."""
    rank = indices.shape.ndims
    is_dense = not is_ragged(indices)
    if is_dense:
        splits_type = params.row_splits.dtype
        indices = RaggedTensor.from_tensor(
            indices, ragged_rank=rank - 2, row_splits_dtype=splits_type
        )
    result = indices.with_flat_values(gather_nd(params, indices.flat_values))
    if is_dense and is_ragged(result) and result.ragged_rank == rank - 2:
        return result.to_tensor()
    return result


def _copies(params: Any, indices: Any) -> Any:
    """Indices of no dimension select all of params, once for each."""
    from penstock.ragged.arrays import expand_dims, tile

    rank = params.ragged_rank + tf.rank(params.flat_values)
    for _ in range(indices.shape.ndims - 1):
        params = expand_dims(params, axis=0)
    ones = tf.ones([rank], tf.int32)
    return tile(params, tf.concat([tf.shape(indices)[:-1], ones], axis=0))


def _gather_tuples(params: Any, indices: Any, size: int) -> Any:
    """Indices of two dimensions or more: each ragged one is a place in the values below."""
    indices = tf.cast(indices, params.row_splits.dtype)
    places = tf.gather(params.row_splits, indices[..., 0]) + indices[..., 1]
    values = params.values
    for dim in range(2, size):
        if not is_ragged(values):
            rest = tf.concat([tf.expand_dims(places, axis=1), indices[..., dim:]], axis=1)
            return tf.gather_nd(values, rest)
        places = tf.gather(values.row_starts(), places) + indices[..., dim]
        values = values.values
    return gather(values, places)


def batch_gather(params: Any, indices: Any, name: str | None = None) -> Any:
    """`tf.batch_gather` for ragged params or indices."""
    if not (is_ragged(params) or is_ragged(indices)):
        return dense_batch_gather(params, indices, name)
    with tf.name_scope(name, "RaggedBatchGather", [params, indices]):
        params, indices = _converted(params, indices)
        rank = indices.shape.ndims
        if rank is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        if rank == 0:
            raise ValueError("indices.rank must be at least 1.")
        if is_ragged(indices):
            return _batch_gather_ragged(params, indices)
        if rank == 1:
            return gather(params, indices)
        if rank == 2:
            starts = tf.expand_dims(params.row_starts(), 1)
            return gather(params.values, tf.cast(indices, starts.dtype) + starts)
        raise ValueError("batch shape from indices does not match params shape")


def _batch_gather_ragged(params: Any, indices: Any) -> Any:
    mismatch = "batch shape from indices does not match params shape"
    if indices.shape.ndims > 2:
        if not is_ragged(params):
            raise ValueError(mismatch)
        with tf.control_dependencies([tf.assert_equal(params.row_splits, indices.row_splits)]):
            values = batch_gather(params.values, indices.values)
            return RaggedTensor.from_row_splits(values, indices.row_splits, validate=False)
    if not is_ragged(params):
        if params.shape.ndims is not None and params.shape.ndims < 2:
            raise ValueError(mismatch)
        params = RaggedTensor.from_tensor(params, row_splits_dtype=indices.row_splits.dtype)
    starts = repeat(params.row_starts(), indices.row_lengths(), axis=0)
    places = tf.cast(indices.values, starts.dtype) + starts
    values = gather(params.values, places)
    return RaggedTensor.from_row_splits(values, indices.row_splits, validate=False)


def batch_gather_with_default(
    params: Any, indices: Any, default_value: Any = "", name: str | None = None
) -> Any:
    """`batch_gather` with a default for indices that are out of bounds."""
    with tf.name_scope(name, "RaggedBatchGatherWithDefault"):
        params = convert_to_tensor_or_ragged_tensor(params, name="params")
        indices = convert_to_tensor_or_ragged_tensor(indices, name="indices")
        default = convert_to_tensor_or_ragged_tensor(default_value, name="default_value")
        splits_type, (params, indices, default) = match_row_splits_dtypes(
            params, indices, default, return_dtype=True
        )
        if default.shape.ndims not in (0, 1):
            raise ValueError('"default_value" must be a scalar or vector')
        if indices.shape.ndims is None:
            raise ValueError("Indices must have a known rank.")
        if params.shape.ndims is None:
            raise ValueError("Params must have a known rank.")
        batch_rank = indices.shape.ndims - 1
        check = tf.assert_greater_equal(tf.rank(params), tf.rank(indices))
        with tf.control_dependencies([check]):
            bounds, pad = _bounds_and_pad(params, indices, default, batch_rank, splits_type)
            padded = tf.concat([tf.cast(pad, params.dtype), params], axis=batch_rank)
            return _gather_padded(padded, indices, bounds, name)


def _gather_padded(padded: Any, indices: Any, bounds: Any, name: str | None) -> Any:
    """Rows of params with the default in front of them, which bad indices select."""
    from penstock.ragged.selection import where

    outside = tf.logical_or(indices < 0, indices > bounds)
    places = where(outside, x=tf.zeros_like(indices), y=indices + 1)
    return tf.batch_gather(padded, places, name=name)


def _bounds_and_pad(
    params: Any, indices: Any, default: Any, batch_rank: int, splits_type: Any
) -> tuple[Any, Any]:
    """How many rows there are to choose from, and one row of the default to put before them."""
    from penstock.ragged.arrays import expand_dims
    from penstock.ragged.broadcasts import broadcast_to

    if is_ragged(params):
        lengths = expand_dims(params.row_lengths(axis=batch_rank), axis=-1)
        pad = broadcast_to(default, _pad_shape(params, indices, splits_type))
        return tf.cast(lengths, indices.dtype), pad
    sizes = tf.shape(params)
    shape = tf.concat([sizes[:batch_rank], [1], sizes[batch_rank + 1 : params.shape.ndims]], 0)
    return sizes[batch_rank], tf.broadcast_to(default, shape)


def _pad_shape(params: Any, indices: Any, splits_type: Any) -> Any:
    from penstock.ragged.dynamic_shape import RaggedTensorDynamicShape

    batch_rank = indices.shape.ndims - 1
    shape = RaggedTensorDynamicShape.from_tensor(params, dim_size_dtype=splits_type)
    sizes, inner = shape.partitioned_dim_sizes, shape.inner_dim_sizes
    if params.shape.ndims == indices.shape.ndims:
        if shape.num_inner_dimensions == 0:
            return RaggedTensorDynamicShape((*sizes[:-1], tf.ones_like(sizes[-1])), [])
        inner = tf.concat([inner[:-1], [1]], axis=0)
        return RaggedTensorDynamicShape(sizes, inner)
    if batch_rank == 0:
        one = tf.constant(1, dtype=splits_type)
        ones = [tf.constant([1], dtype=splits_type)] * (len(sizes) - 1)
        return RaggedTensorDynamicShape((one, *ones), inner)
    ones = [tf.ones_like(sizes[batch_rank])] * (len(sizes) - batch_rank)
    return RaggedTensorDynamicShape((*sizes[:batch_rank], *ones), inner)
