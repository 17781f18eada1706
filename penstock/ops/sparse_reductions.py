"""Sums and maxima of sparse tensors along axes, with a dense or a sparse result."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes
from penstock.ir.composite import SparseTensor
from penstock.ir.constants import constant_shape, constant_value
from penstock.ir.registry import op
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import NUMERIC, REAL
from penstock.ops.casts import cast
from penstock.ops.constants import constant
from penstock.ops.filling import range as count
from penstock.ops.gather import gather_nd
from penstock.ops.reductions import chosen_axis, keeps, shape_with_ones
from penstock.ops.shaping import rank, reshape
from penstock.shapes import Shape

__all__ = [
    "sparse_reduce_max",
    "sparse_reduce_max_sparse",
    "sparse_reduce_sum",
    "sparse_reduce_sum_sparse",
]

SparseReduceSum = op(
    "SparseReduceSum(input_indices: int64, input_values: T, input_shape: int64, "
    "reduction_axes: int32) -> output: T",
    keep_dims=False,
    T=NUMERIC,
)
SparseReduceSumSparse = op(
    "SparseReduceSumSparse(input_indices: int64, input_values: T, input_shape: int64, "
    "reduction_axes: int32) -> output_indices: int64, output_values: T, output_shape: int64",
    keep_dims=False,
    T=NUMERIC,
)
SparseReduceMax = op(
    "SparseReduceMax(input_indices: int64, input_values: T, input_shape: int64, "
    "reduction_axes: int32) -> output: T",
    keep_dims=False,
    T=REAL,
)
SparseReduceMaxSparse = op(
    "SparseReduceMaxSparse(input_indices: int64, input_values: T, input_shape: int64, "
    "reduction_axes: int32) -> output_indices: int64, output_values: T, output_shape: int64",
    keep_dims=False,
    T=REAL,
)


@SparseReduceSum.shape
@SparseReduceMax.shape
def _(op: Any, indices: Shape, values: Shape, shape: Shape, axes: Shape) -> Shape:
    sizes, known = constant_shape(op.inputs[2]), constant_value(op.inputs[3])
    if sizes is None or known is None:
        return None
    if any(not -len(sizes) <= axis < len(sizes) for axis in known.reshape(-1)):
        return None  # the kernel says which
    reduced = {int(axis) % len(sizes) for axis in known.reshape(-1)}
    if op.attrs["keep_dims"]:
        return tuple(1 if axis in reduced else size for axis, size in enumerate(sizes))
    return tuple(size for axis, size in enumerate(sizes) if axis not in reduced)


@SparseReduceSumSparse.shape
@SparseReduceMaxSparse.shape
def _(op: Any, indices: Shape, values: Shape, shape: Shape, axes: Shape) -> list[Shape]:
    return [None, None, None]


@SparseReduceSum.gradient
def _(op: Any, grad: Any) -> Any:
    indices, _, sizes, axes = op.inputs
    kept = shape_with_ones(sizes, axes)
    spread = reshape(grad, kept)
    scale = sizes // cast(kept, dtypes.int64)
    return None, gather_nd(spread, indices // scale), None, None


def _axes(sp_input: Any, axis: Any, reduction_axes: Any) -> Any:
    """The axes to reduce: all of them where none are given."""
    axis = chosen_axis(axis, reduction_axes)
    if axis is not None:
        return axis
    if isinstance(sp_input, SparseTensor):
        known = sp_input.dense_shape._shape
        if known and known[0] is not None:
            return constant(np.arange(known[0]), dtypes.int32)
    return count(0, rank(sp_input))


def _parts(sp_input: Any) -> tuple[Any, Any, Any]:
    return sp_input.indices, sp_input.values, sp_input.dense_shape


def sparse_reduce_sum(
    sp_input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    reduction_axes: Any = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The sum of a sparse tensor along `axis` (all), as a dense tensor."""
    kept, over = keeps(keepdims, keep_dims), _axes(sp_input, axis, reduction_axes)
    return SparseReduceSum(*_parts(sp_input), over, keep_dims=kept)


def sparse_reduce_max(
    sp_input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    reduction_axes: Any = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The largest entries of a sparse tensor along `axis` (all), as a dense tensor.

    Absent entries don't count; where there are none at all the result is 0.
    """
    kept, over = keeps(keepdims, keep_dims), _axes(sp_input, axis, reduction_axes)
    return SparseReduceMax(*_parts(sp_input), over, keep_dims=kept)


def sparse_reduce_sum_sparse(
    sp_input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    reduction_axes: Any = None,
    keep_dims: bool | None = None,
) -> SparseTensor:
    """The sum of a sparse tensor along `axis` (all), as a sparse tensor."""
    kept, over = keeps(keepdims, keep_dims), _axes(sp_input, axis, reduction_axes)
    return SparseTensor(*SparseReduceSumSparse(*_parts(sp_input), over, keep_dims=kept))


def sparse_reduce_max_sparse(
    sp_input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    reduction_axes: Any = None,
    keep_dims: bool | None = None,
) -> SparseTensor:
    """The largest entries of a sparse tensor along `axis` (all), as a sparse tensor."""
    kept, over = keeps(keepdims, keep_dims), _axes(sp_input, axis, reduction_axes)
    return SparseTensor(*SparseReduceMaxSparse(*_parts(sp_input), over, keep_dims=kept))
