"""Kernels of arithmetic on sparse tensors: sums, products, extremes, softmax, reductions."""

import numpy as np
import torch

from penstock.kernels.registry import HOST, kernel
from penstock.kernels.sparse_rows import (
    Groups,
    brackets,
    check_bounds,
    check_parts,
    invalid,
    merge,
    on_arrays,
    or_zero,
    row_numbers,
)
from penstock.kernels.unsigned import WIDE_UNSIGNED, through_numpy

# Two sparse tensors ---------------------------------------------------------------------------


@kernel("SparseAdd", devices=HOST)
def _(node):
    @on_arrays
    def run(a_indices, a_values, a_shape, b_indices, b_values, b_shape, thresh):
        check_parts(a_indices, a_values, a_shape)
        check_parts(b_indices, b_values, b_shape)
        _check_same_shape(a_shape, b_shape)
        if thresh.ndim:
            raise invalid(
                f"The magnitude threshold must be a scalar: got shape {brackets(thresh.shape)}"
            )
        from_a, from_b = merge(*row_numbers(a_indices, b_indices))
        total = or_zero(a_values, from_a) + or_zero(b_values, from_b)
        indices = _merged_rows(a_indices, b_indices, from_a, from_b)
        # What only one of the two has is no sum, however small it is.
        kept = (from_a < 0) | (from_b < 0) | (np.abs(total) >= thresh)
        return indices[kept], total[kept], a_shape

    return run


def _check_same_shape(a_shape, b_shape):
    if len(a_shape) != len(b_shape):
        raise invalid(
            "Operands do not have the same ranks; got shapes: "
            f"{brackets(a_shape)} and {brackets(b_shape)}"
        )
    for axis, (m, n) in enumerate(zip(a_shape, b_shape, strict=True)):
        if m != n:
            raise invalid(f"Operands' shapes do not match: got {m} and {n} for dimension {axis}")


def _merged_rows(a_indices, b_indices, from_a, from_b):
    both = np.concatenate([a_indices, b_indices])
    return both[np.where(from_a >= 0, from_a, from_b + len(a_indices))]


@kernel("SparseAddGrad", devices=HOST)
def _(node):
    @on_arrays
    def run(grad, a_indices, b_indices, sum_indices):
        for part, name in ((a_indices, "a"), (b_indices, "b"), (sum_indices, "sum")):
            if part.ndim != 2:
                raise invalid(
                    f"Input {name}_indices should be a matrix but received shape: "
                    f"{brackets(part.shape)}"
                )
        if grad.ndim != 1 or len(grad) != len(sum_indices):
            raise invalid(
                "# elements of backprop_val_grad and # rows of sum_indices should match (#nnz of "
                f"sum): got {brackets(grad.shape)} and {brackets(sum_indices.shape)}"
            )
        if not a_indices.shape[1] == b_indices.shape[1] == sum_indices.shape[1]:
            raise invalid("The densified operands should have the same ndims")
        a, b, total = row_numbers(a_indices, b_indices, sum_indices)
        return or_zero(grad, _places(a, total)), or_zero(grad, _places(b, total))

    return run


def _places(wanted, numbers):
    """Where each wanted number is among `numbers`, -1 where it is not."""
    if not len(numbers):
        return np.full(len(wanted), -1)
    order = np.argsort(numbers, kind="stable")
    found = order[np.minimum(np.searchsorted(numbers, wanted, sorter=order), len(order) - 1)]
    return np.where(numbers[found] == wanted, found, -1)


def _extreme(op_type, choose):
    """Registers the larger or smaller of two sparse tensors, an absent entry being zero."""

    @kernel(op_type, devices=HOST)
    def _(node):
        @on_arrays
        def run(a_indices, a_values, a_shape, b_indices, b_values, b_shape):
            check_parts(a_indices, a_values, a_shape)
            check_parts(b_indices, b_values, b_shape)
            _check_same_shape(a_shape, b_shape)
            from_a, from_b = merge(*row_numbers(a_indices, b_indices))
            values = choose(or_zero(a_values, from_a), or_zero(b_values, from_b))
            return _merged_rows(a_indices, b_indices, from_a, from_b), values

        return run


_extreme("SparseSparseMaximum", np.maximum)
_extreme("SparseSparseMinimum", np.minimum)


# A sparse and a dense tensor ------------------------------------------------------------------


@kernel("SparseTensorDenseAdd", fresh=True)
def _(node):
    def run(indices, values, shape, dense):
        if indices.dim() != 2:
            raise invalid(
                f"Input a_indices should be a matrix but received shape: {brackets(indices.shape)}"
            )
        if values.dim() != 1 or shape.dim() != 1:
            raise invalid(
                "Inputs a_values and a_shape should be vectors but received shapes: "
                f"{brackets(values.shape)} and {brackets(shape.shape)}"
            )
        if len(values) != len(indices):
            raise invalid(
                f"Dimensions {len(values)} and {len(indices)} are not compatible: values and "
                "indices of a sparse tensor"
            )
        sizes = shape.tolist()
        if len(sizes) != dense.dim():
            raise invalid(
                f"Two operands have different ranks; received: {len(sizes)} and {dense.dim()}"
            )
        for axis, (ours, theirs) in enumerate(zip(sizes, dense.shape, strict=True)):
            if ours != theirs:
                raise invalid(
                    f"Dimension {axis} does not equal (no broadcasting is supported): sparse side "
                    f"{ours} vs dense side {theirs}"
                )
        _check_device_bounds(indices, sizes)
        return add(dense, indices, values)

    def plain(dense, indices, values):
        result = dense.clone()
        if not dense.dim():
            return result.add_(values.sum())
        return result.index_put_(tuple(indices.long().unbind(1)), values, accumulate=True)

    @through_numpy
    def unsigned(dense, indices, values):
        result = dense.copy()
        np.add.at(result, tuple(indices.T), values)
        return result

    add = unsigned if node.attrs["T"] in WIDE_UNSIGNED else plain
    return run


def _check_device_bounds(indices, sizes):
    limits = torch.as_tensor(sizes, dtype=indices.dtype, device=indices.device)
    outside = (indices < 0) | (indices >= limits)
    if bool(outside.any()):
        row, axis = outside.nonzero()[0].tolist()
        raise invalid(
            f"Sparse tensor has an invalid index on dimension {axis}: indices({row},{axis}) = "
            f"{int(indices[row, axis])}, dense tensor shape: {brackets(sizes)}"
        )


def _by_element(op_type, compute, in_numpy):
    """Registers an operation of each entry with the dense element that broadcasts to its place."""

    @kernel(op_type, fresh=True)
    def _(node):
        combine = through_numpy(in_numpy) if node.attrs["T"] in WIDE_UNSIGNED else compute

        def run(indices, values, shape, dense):
            for part, name, rank in ((indices, "indices", 2), (values, "values", 1)):
                if part.dim() != rank:
                    wanted = "matrix" if rank == 2 else "vector"
                    raise invalid(
                        f"Input sp_{name} should be a {wanted} but received shape: "
                        f"{brackets(part.shape)}"
                    )
            if shape.dim() != 1:
                raise invalid(
                    f"Input sp_shape should be a vector but received shape: {brackets(shape.shape)}"
                )
            if len(values) != len(indices):
                raise invalid(
                    "The first dimension of values and indices should match. "
                    f"({len(values)} vs. {len(indices)})"
                )
            sizes = shape.tolist()
            if len(sizes) != indices.shape[1]:
                raise invalid(
                    f"Shape and indices should have the same rank: {len(sizes)} vs. "
                    f"{indices.shape[1]}"
                )
            if not _broadcasts(dense.shape, sizes):
                raise invalid(
                    "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible "
                    f"shapes: {brackets(sizes)} vs. {brackets(dense.shape)}"
                )
            _check_device_bounds(indices, sizes)
            spread = dense.expand(sizes)
            return combine(values, spread[tuple(indices.unbind(1))] if sizes else spread)

        return run


def _broadcasts(dense, sizes):
    if len(dense) > len(sizes):
        return False
    pairs = zip(reversed(dense), reversed(sizes), strict=False)
    return all(given in (1, wanted) for given, wanted in pairs)


def _quotient(x, y):
    if x.is_floating_point() or x.is_complex():
        return x / y
    if bool((y == 0).any()):
        raise invalid("SparseDenseCwiseDiv cannot divide by zero: integer division by zero")
    return torch.div(x, y, rounding_mode="trunc")


_by_element("SparseDenseCwiseMul", torch.mul, np.multiply)
_by_element("SparseDenseCwiseDiv", _quotient, np.floor_divide)
_by_element("SparseDenseCwiseAdd", torch.add, np.add)


# One sparse tensor ----------------------------------------------------------------------------


@kernel("SparseSoftmax", devices=HOST, fresh=True)
def _(node):
    @on_arrays
    def run(indices, values, shape):
        check_parts(indices, values, shape)
        if len(shape) < 2:
            raise invalid(f"Input should have rank >= 2, but received shape: {brackets(shape)}")
        _check_inside(indices, shape)
        groups = Groups(indices[:, :-1])
        largest = groups.reduce(np.maximum, values)
        powers = np.exp(values - largest[groups.number])
        return powers / groups.reduce(np.add, powers)[groups.number]

    return run


def _check_inside(indices, shape):
    check_bounds(
        indices,
        shape,
        lambda i, row: (
            f"indices[{i}] = {brackets(row)} is out of bounds: need 0 <= index < {brackets(shape)}"
        ),
    )


def _reduction(op_type, ufunc):
    """Registers a reduction with a dense result and the one with a sparse result."""

    @kernel(op_type, devices=HOST, fresh=True)
    def _(node):
        keep_dims = node.attrs["keep_dims"]

        @on_arrays
        def run(indices, values, shape, axes):
            groups, kept, sizes = _grouped(indices, values, shape, axes, keep_dims)
            result = np.zeros(sizes, values.dtype)
            reduced = groups.reduce(ufunc, values)
            if not len(kept):
                result[...] = reduced.sum(dtype=values.dtype) if len(reduced) else 0
            else:
                _check_inside(groups.rows, shape[kept])
                bare = result.reshape([shape[axis] for axis in kept])
                bare[tuple(groups.rows.T)] = reduced
            return result

        return run

    @kernel(f"{op_type}Sparse", devices=HOST, fresh=True)
    def _(node):
        keep_dims = node.attrs["keep_dims"]

        @on_arrays
        def run(indices, values, shape, axes):
            groups, kept, sizes = _grouped(indices, values, shape, axes, keep_dims)
            rows = np.zeros((len(groups.starts), len(sizes)), np.int64)
            rows[:, kept if keep_dims else slice(None)] = groups.rows
            return rows, groups.reduce(ufunc, values), np.array(sizes, np.int64)

        return run


def _grouped(indices, values, shape, axes, keep_dims):
    """The entries that are combined with each other, the axes that are kept, and the result's
    sizes.
    """
    check_parts(indices, values, shape, "Expected Input")
    rank = len(shape)
    reduced = set()
    for axis in axes.reshape(-1).tolist():
        if not -rank <= axis < rank:
            raise invalid(f"Invalid reduction dimension {axis}, for input with {rank} dimensions.")
        reduced.add(axis % rank)
    kept = np.array([axis for axis in range(rank) if axis not in reduced], np.int64)
    if keep_dims:
        sizes = [1 if axis in reduced else int(size) for axis, size in enumerate(shape)]
    else:
        sizes = shape[kept].tolist()
    return Groups(indices[:, kept]), kept, sizes


_reduction("SparseReduceSum", np.add)
_reduction("SparseReduceMax", np.maximum)
