"""Slices taken from a tensor by their indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes
from penstock.ir.composite import IndexedSlices
from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.dispatch import dispatched
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.registry import op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import INDEX
from penstock.ops.filling import range as range_
from penstock.ops.joining import concat
from penstock.ops.permuting import transpose
from penstock.ops.shape_checks import with_rank, with_rank_at_least
from penstock.ops.shaping import expand_dims, reshape, shape, size, squeeze
from penstock.shapes import Shape, text

__all__ = ["batch_gather", "gather", "gather_nd"]

Gather = op(
    "Gather(params: Tparams, indices: Tindices) -> output: Tparams",
    validate_indices=True,
    Tindices=INDEX,
)
GatherV2 = op(
    "GatherV2(params: Tparams, indices: Tindices, axis: Taxis) -> output: Tparams",
    batch_dims=0,
    Tindices=types(dtypes.int16, dtypes.int32, dtypes.int64),
    Taxis=INDEX,
)
GatherNd = op(
    "GatherNd(params: Tparams, indices: Tindices) -> output: Tparams",
    Tindices=types(dtypes.int16, dtypes.int32, dtypes.int64),
    bad_indices_policy="",
)


# Along one dimension --------------------------------------------------------------------------


@Gather.shape
def _(op: Operation, params: Shape, indices: Shape) -> Shape:
    with_rank_at_least(params, 1)
    return None if params is None or indices is None else indices + params[1:]


@GatherV2.shape
def _(op: Operation, params: Shape, indices: Shape, axis: Shape) -> Shape:
    with_rank(axis, 0)
    with_rank_at_least(params, 1)
    value = constant_value(op.inputs[2])
    batch = op.attrs["batch_dims"]
    if value is not None:
        with_rank_at_least(params, int(value) + 1 if value >= 0 else -int(value))
    if batch > 0:
        with_rank_at_least(params, batch + 1)
    if params is None or indices is None:
        return None
    if not -len(indices) <= batch <= len(indices):
        raise ValueError(f"Shape must be at least rank {abs(batch)} but is rank {len(indices)}")
    batch += len(indices) if batch < 0 else 0
    if value is None:
        return (None,) * (len(params) + len(indices) - batch - 1)
    at = int(value) % len(params)
    return params[:at] + indices[batch:] + params[at + 1 :]


@GatherV2.fold
def _(op: Operation, params: Any, indices: Any, axis: Any) -> Any:
    if op.attrs["batch_dims"] or (indices < 0).any() or (indices >= params.shape[axis]).any():
        return None
    return np.take(params, indices, axis=int(axis))


@Gather.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return [_rows_gradient(op, grad), None]


@GatherV2.gradient
def _(op: Operation, grad: Tensor) -> Any:
    axis = constant_value(op.inputs[2])
    if axis is not None and axis == 0 and op.attrs["batch_dims"] == 0:
        return [_rows_gradient(op, grad), None, None]
    return [_dense_gradient(op, grad), None, None]


def _params_shape(op: Operation) -> Tensor:
    from penstock.ops.casts import cast

    params = op.inputs[0]
    with get_default_graph().colocate_with(params):
        return cast(shape(params, out_type=dtypes.int64), dtypes.int32)


def _rows_gradient(op: Operation, grad: Tensor) -> IndexedSlices:
    """Only the rows that were gathered have a gradient."""
    sizes = _params_shape(op)
    indices = op.inputs[1]
    count = expand_dims(size(indices), 0)
    values = reshape(grad, concat([count, sizes[1:]], 0))
    return IndexedSlices(values, reshape(indices, count), sizes)


def _dense_gradient(op: Operation, grad: Tensor) -> Tensor:
    """Sums into zeros along the gathered dimension, which is moved behind the batch for it."""
    from penstock.ops.segments import unsorted_segment_sum

    params, indices, axis = op.inputs
    batch = op.attrs["batch_dims"]
    if batch < 0:
        batch += len(with_rank_at_least(indices._shape, -batch) or ())
    sizes: Any = _params_shape(op)
    outer, inner = sizes[:axis], sizes[axis:][1:]
    values_shape = concat([outer, [-1], inner], 0)
    ndims, outer_dims = size(values_shape), size(outer)
    batch_axes = range_(0, batch)
    outer_axes: Any = range_(batch, outer_dims)
    inner_axes = range_(outer_dims + 1, ndims)
    forth = concat([batch_axes, [outer_dims], outer_axes, inner_axes], 0)
    values = transpose(reshape(grad, values_shape), forth)
    count = sizes[axis]
    if batch:
        summed = _batched_segment_sum(values, indices, batch, count)
    else:
        flat = reshape(indices, expand_dims(size(indices), 0))
        summed = unsorted_segment_sum(values, flat, count)
    back = concat([batch_axes, outer_axes + 1, [batch], inner_axes], 0)
    return reshape(transpose(summed, back), shape(params))


def _batched_segment_sum(values: Any, indices: Any, batch: int, count: Any) -> Tensor:
    """`unsorted_segment_sum` for each batch entry: the segments of all of them in a row."""
    from penstock.ops.casts import cast
    from penstock.ops.reductions import reduce_prod
    from penstock.ops.segments import unsorted_segment_sum

    indices_shape: Any = shape(indices)
    batch_shape = indices_shape[:batch]
    entries: Any = reduce_prod(batch_shape)
    first = cast(range_(entries) * count, indices.dtype)
    flat = reshape(indices, [entries, -1]) + expand_dims(first, 1)
    rest: Any = shape(values)[batch + 1 :]
    rows = reshape(values, concat([[entries * reduce_prod(indices_shape[batch:])], rest], 0))
    summed = unsorted_segment_sum(rows, reshape(flat, [-1]), entries * count)
    return reshape(summed, concat([batch_shape, [count], rest], 0))


@dispatched
def gather(
    params: Any,
    indices: Any,
    validate_indices: bool | None = None,
    name: str | None = None,
    axis: Any = None,
    batch_dims: int = 0,
) -> Tensor:
    """The slices of `params` along `axis` (0) at the positions `indices`.

    The first `batch_dims` dimensions of both are walked through together. `validate_indices` means
    nothing: indices are always checked.
    """
    del validate_indices
    if axis is None:
        axis = batch_dims
    sparse_read = getattr(params, "sparse_read", None)
    if sparse_read is not None and isinstance(axis, int) and axis == 0 and batch_dims == 0:
        return sparse_read(indices, name=name)
    return GatherV2(params, indices, axis, batch_dims=batch_dims, name=name)


@dispatched
def batch_gather(params: Any, indices: Any, name: str | None = None) -> Tensor:
    """`gather` along the last dimension of `indices`, for each entry of the ones before."""
    with name_scope(name, "BatchGather", [params, indices]) as scope:
        indices = convert_to_tensor(indices, name="indices")
        params = convert_to_tensor(params, name="params")
        ndims = indices._rank()
        if ndims is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        if ndims == 0:
            raise ValueError("batch_dims = -1 must be less than rank(indices) = 0")
        return gather(params, indices, name=scope, axis=ndims - 1, batch_dims=ndims - 1)


# Along several dimensions ---------------------------------------------------------------------


@GatherNd.shape
def _(op: Operation, params: Shape, indices: Shape) -> Shape:
    with_rank_at_least(indices, 1)
    if params is None or indices is None or indices[-1] is None:
        return None
    if indices[-1] > len(params):
        raise ValueError(
            f"indices.shape[-1] must be <= params.rank, but saw indices shape: {text(indices)} and "
            f"params shape: {text(params)}"
        )
    return indices[:-1] + params[indices[-1] :]


@GatherNd.gradient
def _(op: Operation, grad: Tensor) -> Any:
    from penstock.ops.scatter import scatter_nd

    params, indices = op.inputs
    sizes = shape(params, out_type=indices.dtype)
    if indices._shape is not None and len(indices._shape) == 2 and indices._shape[-1] == 1:
        return [IndexedSlices(grad, squeeze(indices, axis=-1), sizes), None]
    return [scatter_nd(indices, grad, sizes), None]


@dispatched
def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: int = 0) -> Tensor:
    """The elements or slices of `params` at positions that the last dimension of `indices` holds.

    >>> tf.gather_nd(x, [[0, 1], [2, 3]])  # [x[0, 1], x[2, 3]]
    """
    if batch_dims != 0:
        return _batch_gather_nd(params, indices, batch_dims, name)
    method = getattr(params, "gather_nd", None)
    if method is not None:
        return method(indices, name=name)
    return GatherNd(params, indices, name=name)


def _check_batch_dims(params: Tensor, indices: Tensor, batch_dims: int) -> int:
    """The rank of indices; an error where either has fewer dimensions than the batch needs."""
    if not isinstance(batch_dims, int):
        raise TypeError(f"batch_dims must be an int; got {batch_dims!r}")
    if batch_dims < 0:
        raise ValueError("tf.gather_nd does not allow negative batch_dims.")
    ranks = {"indices": indices._rank(), "params": params._rank()}
    for name, ndims in ranks.items():
        if ndims is None:
            raise ValueError("gather_nd with batch_dims needs inputs of known rank.")
        if batch_dims >= ndims:
            raise ValueError(f"batch_dims = {batch_dims} must be less than rank({name}) = {ndims}")
    return ranks["indices"] or 0


def _batch_gather_nd(params: Any, indices: Any, batch_dims: int, name: str | None) -> Tensor:
    """Puts the batch entry's own position in front of each index."""
    from penstock.ops.broadcasting import broadcast_to
    from penstock.ops.casts import cast

    with name_scope(name, "BatchGatherND", [params, indices]):
        params = convert_to_tensor(params, name="params")
        indices = convert_to_tensor(indices, name="indices")
        ndims = _check_batch_dims(params, indices, batch_dims)
        sizes: Any = shape(indices)
        positions = []
        for axis in range(batch_dims):
            spread = [-1 if place == axis else 1 for place in range(ndims)]
            steps = reshape(range_(sizes[axis]), spread)
            positions.append(broadcast_to(steps, concat([sizes[:-1], [1]], 0)))
        batch_indices = concat(positions, -1)
        return GatherNd(params, concat([cast(batch_indices, indices.dtype), indices], -1))
