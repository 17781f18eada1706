"""Sparse tensors rearranged: ordered, joined, split, reshaped, sliced, filled."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from penstock import dtypes
from penstock.ir.composite import SparseTensor
from penstock.ir.constants import constant_shape, constant_value, static_shape, static_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.registry import attr, not_differentiable, op
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import NUMERIC
from penstock.ops.binary import add, maximum
from penstock.ops.casts import cast
from penstock.ops.constants import constant
from penstock.ops.control import with_dependencies
from penstock.ops.filling import ones_like, zeros
from penstock.ops.filling import range as count
from penstock.ops.gather import gather
from penstock.ops.identity import identity
from penstock.ops.joining import concat
from penstock.ops.masking import where
from penstock.ops.permuting import invert_permutation, transpose
from penstock.ops.reductions import reduce_max
from penstock.ops.select import where_v2
from penstock.ops.shape_checks import merge_sizes, with_rank
from penstock.ops.shaping import rank as rank_of
from penstock.ops.shaping import renamed_argument, reshape
from penstock.ops.shaping import shape as shape_of
from penstock.ops.slicing import slice as slice_of
from penstock.ops.sparse_tensors import as_sparse
from penstock.shapes import Shape, dimension_at_index

__all__ = [
    "sparse_concat",
    "sparse_fill_empty_rows",
    "sparse_reorder",
    "sparse_reset_shape",
    "sparse_reshape",
    "sparse_retain",
    "sparse_slice",
    "sparse_split",
    "sparse_transpose",
]

SparseReorder = op(
    "SparseReorder(input_indices: int64, input_values: T, input_shape: int64) "
    "-> output_indices: int64, output_values: T",
)
SparseConcat = op(
    "SparseConcat(indices: N*int64, values: N*T, shapes: N*int64) -> output_indices: int64, "
    "output_values: T, output_shape: int64",
    concat_dim=attr("int"),
    N=attr("int", minimum=2),
)
SparseSplit = op(
    "SparseSplit(split_dim: int64, indices: int64, values: T, shape: int64) "
    "-> output_indices: num_split*int64, output_values: num_split*T, output_shape: num_split*int64",
)
SparseReshape = op(
    "SparseReshape(input_indices: int64, input_shape: int64, new_shape: int64) "
    "-> output_indices: int64, output_shape: int64",
)
SparseSlice = op(
    "SparseSlice(indices: int64, values: T, shape: int64, start: int64, size: int64) "
    "-> output_indices: int64, output_values: T, output_shape: int64",
)
SparseSliceGrad = op(
    "SparseSliceGrad(backprop_val_grad: T, input_indices: int64, input_start: int64, "
    "output_indices: int64) -> val_grad: T",
    T=NUMERIC,
)
SparseFillEmptyRows = op(
    "SparseFillEmptyRows(indices: int64, values: T, dense_shape: int64, default_value: T) "
    "-> output_indices: int64, output_values: T, empty_row_indicator: bool, "
    "reverse_index_map: int64",
)
SparseFillEmptyRowsGrad = op(
    "SparseFillEmptyRowsGrad(reverse_index_map: int64, grad_values: T) -> d_values: T, "
    "d_default_value: T",
)
not_differentiable(SparseConcat)


def sparse_parts(indices: Shape, values: Shape, shape: Shape) -> tuple[int | None, int | None]:
    """The number of entries and the rank that the parts of a sparse tensor agree on."""
    rows, columns = with_rank(indices, 2)
    (entries,), (rank,) = with_rank(values, 1), with_rank(shape, 1)
    return merge_sizes(rows, entries), merge_sizes(columns, rank)


@SparseReorder.shape
def _(op: Any, indices: Shape, values: Shape, shape: Shape) -> list[Shape]:
    with_rank(shape, 1)
    return [with_rank(indices, 2), with_rank(values, 1)]


@SparseConcat.shape
def _(op: Any, *parts: Shape) -> list[Shape]:
    number = op.attrs["N"]
    entries: int | None = 0
    rank: int | None = None
    for i in range(number):
        rows, columns = with_rank(parts[i], 2)
        (values,) = with_rank(parts[number + i], 1)
        (sizes,) = with_rank(parts[2 * number + i], 1)
        rows = merge_sizes(rows, values)
        entries = None if entries is None or rows is None else entries + rows
        rank = merge_sizes(rank, merge_sizes(columns, sizes))
    return [(entries, rank), (entries,), (rank,)]


@SparseSplit.shape
def _(op: Any, split_dim: Shape, indices: Shape, values: Shape, shape: Shape) -> list[Shape]:
    number = op.attrs["num_split"]
    (rank,) = with_rank(shape, 1)
    rows: list[Shape] = [(None, rank)] * number
    entries: list[Shape] = [(None,)] * number
    sizes: list[Shape] = [(rank,)] * number
    return [*rows, *entries, *sizes]


@SparseReshape.shape
def _(op: Any, indices: Shape, shape: Shape, new_shape: Shape) -> list[Shape]:
    entries, columns = with_rank(indices, 2)
    (old_rank,), (new_rank,) = with_rank(shape, 1), with_rank(new_shape, 1)
    merge_sizes(columns, old_rank)
    return [(entries, new_rank), (new_rank,)]


@SparseSlice.shape
def _(op: Any, indices: Shape, values: Shape, shape: Shape, start: Shape, size: Shape) -> Any:
    (rank,) = with_rank(shape, 1)
    return [(None, rank), (None,), (rank,)]


@SparseSliceGrad.shape
def _(op: Any, grad: Shape, indices: Shape, start: Shape, out_indices: Shape) -> Shape:
    with_rank(grad, 1)
    return (with_rank(indices, 2)[0],)


@SparseFillEmptyRows.shape
def _(op: Any, indices: Shape, values: Shape, shape: Shape, default: Shape) -> list[Shape]:
    entries, rank = sparse_parts(indices, values, shape)
    with_rank(default, 0)
    sizes = constant_shape(op.inputs[2])
    return [(None, rank), (None,), (sizes[0] if sizes else None,), (entries,)]


@SparseFillEmptyRowsGrad.shape
def _(op: Any, reverse_index_map: Shape, grad: Shape) -> list[Shape]:
    with_rank(grad, 1)
    return [with_rank(reverse_index_map, 1), ()]


# Gradients ------------------------------------------------------------------------------------


@SparseReorder.gradient
def _(op: Any, _: Any, grad: Any) -> Any:
    indices, _, dense_shape = op.inputs
    rows: Any = shape_of(indices)
    places = count(rows[0])
    ordered = sparse_reorder(SparseTensor(indices, places, dense_shape))
    return None, gather(grad, invert_permutation(ordered.values)), None


@SparseSlice.gradient
def _(op: Any, *grads: Any) -> Any:
    indices, values, _, start, _ = op.inputs
    by_values = SparseSliceGrad(grads[1], indices, start, op.outputs[0])
    by_values.set_shape(values.get_shape())
    return None, by_values, None, None, None


@SparseFillEmptyRows.gradient
def _(op: Any, _: Any, grad: Any, *others: Any) -> Any:
    by_values, by_default = SparseFillEmptyRowsGrad(op.outputs[3], grad)
    return None, by_values, None, by_default


# Public functions -----------------------------------------------------------------------------


def sparse_reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The same sparse tensor with its entries in the order of their indices."""
    sp_input = as_sparse(sp_input)
    indices, values = SparseReorder(
        sp_input.indices, sp_input.values, sp_input.dense_shape, name=name
    )
    known = sp_input.get_shape()
    dense_shape = known.as_list() if known.is_fully_defined() else identity(sp_input.dense_shape)
    return SparseTensor(indices, values, dense_shape)


def sparse_concat(
    axis: Any,
    sp_inputs: Any,
    name: str | None = None,
    expand_nonconcat_dim: bool = False,
    concat_dim: Any = None,
    expand_nonconcat_dims: bool | None = None,
) -> SparseTensor:
    """Sparse tensors joined along `axis`.

    With `expand_nonconcat_dims` the other dimensions may differ: they become as large as the
    largest.
    """
    axis = renamed_argument("axis", axis, "concat_dim", concat_dim)
    if expand_nonconcat_dims is not None:
        if expand_nonconcat_dim:
            raise ValueError(
                "Cannot specify both 'expand_nonconcat_dim' and 'expand_nonconcat_dims'."
            )
        expand_nonconcat_dim = expand_nonconcat_dims
    if not isinstance(sp_inputs, (list, tuple)):
        raise TypeError("Inputs must be a list or tuple.")
    parts = [as_sparse(part) for part in sp_inputs]
    if len(parts) == 1:
        return parts[0]
    sizes: list[Any] = [part.dense_shape for part in parts]
    if expand_nonconcat_dim:
        sizes = _expanded(sizes, axis)
    indices, values, dense_shape = SparseConcat(
        [part.indices for part in parts],
        [part.values for part in parts],
        sizes,
        concat_dim=axis,
        name=name,
    )
    known = [static_value(size) for size in sizes]
    if all(value is not None for value in known):
        total: Any = known[0].copy()  # type: ignore[union-attr]
        total[axis] = sum(value[axis] for value in known)  # type: ignore[index]
        return SparseTensor(indices, values, convert_to_tensor(total))
    return SparseTensor(indices, values, dense_shape)


def _expanded(sizes: list[Any], axis: int) -> list[Tensor]:
    """The shapes with every size but the one at `axis` raised to the largest of all."""
    rows = concat([reshape(size, [1, -1]) for size in sizes], 0)
    largest: Any = reduce_max(rows, 0)
    return [
        concat(
            [
                largest[:axis],
                size[-1:] if axis == -1 else size[axis : axis + 1],
                [] if axis == -1 else largest[axis + 1 :],
            ],
            0,
        )
        for size in sizes
    ]


class KeywordRequired:
    """Stands for an argument that must not be given: all others go by their names."""

    def __repr__(self) -> str:
        return "KeywordRequired()"


def sparse_split(
    keyword_required: Any = KeywordRequired(),  # noqa: B008
    sp_input: Any = None,
    num_split: int | None = None,
    axis: Any = None,
    name: str | None = None,
    split_dim: Any = None,
) -> list[SparseTensor]:
    """Splits a sparse tensor into `num_split` parts along `axis`; the first are larger if any."""
    if not isinstance(keyword_required, KeywordRequired):
        raise ValueError("Keyword arguments are required for this function.")
    if sp_input is None:
        raise ValueError("sp_input is required")
    if num_split is None:
        raise ValueError("num_split is required")
    axis = renamed_argument("axis", axis, "split_dim", split_dim)
    if axis is None:
        raise ValueError("axis is required")
    sp_input = as_sparse(sp_input)
    outputs = SparseSplit(
        axis,
        sp_input.indices,
        sp_input.values,
        sp_input.dense_shape,
        num_split=num_split,
        name=name,
    )
    return [SparseTensor(*parts) for parts in zip(*outputs, strict=True)]


def sparse_reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """The entries at the places that they have in a tensor of another shape; one size may be -1."""
    sp_input = as_sparse(sp_input)
    shape = cast(shape, dtypes.int64)
    with name_scope(name, "SparseReshape", [sp_input]) as scope:
        indices, dense_shape = SparseReshape(
            sp_input.indices, sp_input.dense_shape, shape, name=scope
        )
        sizes = _reshaped_sizes(sp_input, shape)
        if sizes is not None:
            dense_shape = constant(sizes, dtypes.int64)
        return SparseTensor(indices, identity(sp_input.values), dense_shape)


def _reshaped_sizes(sp_input: SparseTensor, shape: Tensor) -> list[int] | None:
    """The new sizes where the graph determines them; ValueError where they don't fit."""
    wanted, given = static_shape(shape), sp_input.get_shape()
    if wanted is None or not given.is_fully_defined():
        return None
    by_user = static_value(shape)
    if by_user is not None and (by_user == -1).sum() > 1:
        raise ValueError(f"At most one dimension can be inferred (-1). Found: {by_user}")
    total = math.prod(given.as_list())
    missing = [axis for axis, size in enumerate(wanted) if size is None]
    if len(missing) > 1:
        return None
    sizes: list[Any] = list(wanted)
    if missing:
        known = math.prod(size for size in sizes if size is not None)
        sizes[missing[0]] = total // known if known else 0
    if math.prod(sizes) != total:
        raise ValueError(
            f"Cannot reshape a tensor with {total} elements to shape {list(wanted)} "
            f"({math.prod(sizes)} elements)."
        )
    return sizes


def sparse_slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """The part of a sparse tensor of `size` that begins at `start`."""
    sp_input = as_sparse(sp_input)
    start = convert_to_tensor(start, dtypes.int64)
    size = convert_to_tensor(size, dtypes.int64)
    with name_scope(name, "SparseSlice", [sp_input]) as scope:
        parts = SparseSlice(
            sp_input.indices, sp_input.values, sp_input.dense_shape, start, size, name=scope
        )
        return SparseTensor(*parts)


def sparse_retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """The entries for which the vector `to_retain` holds true."""
    sp_input = as_sparse(sp_input)
    to_retain = convert_to_tensor(to_retain)
    to_retain.get_shape().assert_has_rank(1)
    if sp_input.values.get_shape().dims is not None:
        entries = dimension_at_index(sp_input.values.get_shape(), 0)
        entries.merge_with(dimension_at_index(to_retain.get_shape(), 0))
    kept = reshape(where(to_retain), [-1])
    return SparseTensor(
        gather(sp_input.indices, kept),
        gather(sp_input.values, kept),
        identity(sp_input.dense_shape),
    )


def sparse_reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The same entries in a tensor of another shape: the tightest, or a larger `new_shape`."""
    from penstock.ops.value_assertions import assert_equal, assert_less_equal

    sp_input = as_sparse(sp_input)
    indices, values = identity(sp_input.indices), identity(sp_input.values)
    sizes = identity(sp_input.dense_shape)
    if new_shape is None:
        last = reduce_max(indices, axis=0)
        tight = maximum(constant(0, dtypes.int64), add(last, ones_like(sizes)))
        return SparseTensor(indices, values, tight)
    wanted: Any = convert_to_tensor(new_shape)
    wanted.get_shape().assert_has_rank(1)
    wanted = cast(wanted, dtypes.int64)
    if wanted.get_shape().ndims is not None:
        rank = dimension_at_index(wanted.get_shape(), 0)
        rank.merge_with(dimension_at_index(sizes.get_shape(), 0))
    known, given = constant_value(wanted), sp_input.get_shape()
    if known is not None and given.is_fully_defined():
        if not np.all(np.array(given.as_list()) <= known):
            raise ValueError(
                "Requested new_shape should have dimension sizes >= sp_input.shape.  Found "
                f"new_shape ({known}), sp_input.shape ({given.as_list()})."
            )
        return SparseTensor(indices, values, known)
    wanted = with_dependencies([assert_equal(shape_of(sizes), shape_of(wanted))], wanted)
    wanted = with_dependencies([assert_less_equal(sizes, wanted)], wanted)
    return SparseTensor(indices, values, wanted)


def sparse_fill_empty_rows(
    sp_input: Any, default_value: Any, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """Gives each row without an entry one of `default_value` at column 0.

    Returns the filled tensor and a vector that tells which rows were empty.
    """
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseFillEmptyRows", [sp_input]):
        default_value = convert_to_tensor(default_value, sp_input.values.dtype)
        indices, values, was_empty, _ = SparseFillEmptyRows(
            sp_input.indices, sp_input.values, sp_input.dense_shape, default_value
        )
        return SparseTensor(indices, values, sp_input.dense_shape), was_empty


def sparse_transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """A sparse tensor with its dimensions in another order, reversed where `perm` is None."""
    with name_scope(name, "SparseTranspose", [sp_input]):
        if perm is None:
            dimensions: Any = rank_of(sp_input)
            perm = (dimensions - 1) - count(0, dimensions, 1)
        moved = transpose(gather(transpose(sp_input.indices), perm))
        known, given = static_value(convert_to_tensor(perm)), sp_input.get_shape()
        sizes: Any
        if known is not None and given.is_fully_defined():
            sizes = [given.as_list()[axis] for axis in known]
        else:
            sizes = gather(sp_input.dense_shape, perm)
        return sparse_reorder(SparseTensor(moved, sp_input.values, sizes))


def sparse_expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> SparseTensor:
    """A sparse tensor with a dimension of size 1 more, at `axis` (the end)."""
    rank = sp_input.dense_shape.get_shape()[0]
    axis = -1 if axis is None else axis
    with name_scope(name, "expand_dims", [sp_input]):
        if isinstance(axis, (int, np.integer)):
            axis = convert_to_tensor(int(axis), dtypes.int32, "axis")
        elif not isinstance(axis, Tensor):
            raise TypeError(
                "axis must be an integer value in range [-rank(sp_input) - 1, rank(sp_input)]"
            )
        axis = where_v2(axis >= 0, axis, axis + rank + 1)
        rows: Any = shape_of(sp_input.indices)
        column = zeros([rows[0], 1], dtype=dtypes.int64)
        before = slice_of(sp_input.indices, [0, 0], [-1, axis])
        after = slice_of(sp_input.indices, [0, axis], [-1, -1])
        indices = concat([before, column, after], axis=1)
        sizes_before = slice_of(sp_input.dense_shape, [0], [axis])
        sizes_after = slice_of(sp_input.dense_shape, [axis], [-1])
        one = convert_to_tensor([1], dtypes.int64, "new_shape")
        sizes = concat([sizes_before, one, sizes_after], axis=0)
        return SparseTensor(indices, sp_input.values, sizes)
