"""Kernels that move entries of sparse tensors: ordering, joining, splitting, reshaping …"""

import math

import numpy as np

from penstock import errors
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.sparse_rows import (
    brackets,
    check_bounds,
    check_parts,
    in_order,
    invalid,
    is_increasing,
    on_arrays,
    row_numbers,
)


@kernel("SparseReorder", devices=HOST)
def _(node):
    @on_arrays
    def run(indices, values, shape):
        check_parts(indices, values, shape)
        return in_order(indices, values)

    return run


# Joining and splitting ------------------------------------------------------------------------


@kernel("SparseConcat", devices=HOST)
def _(node):
    count, axis = node.attrs["N"], node.attrs["concat_dim"]

    @on_arrays
    def run(*parts):
        indices, values, shapes = (parts[i * count : (i + 1) * count] for i in range(3))
        for part in zip(indices, values, shapes, strict=True):
            check_parts(*part)
        along = _concat_axis(shapes, axis)
        _check_joinable(shapes, along)
        joined, offset = [], 0
        for rows, sizes in zip(indices, shapes, strict=True):
            moved = rows.copy()
            moved[:, along] += offset
            offset += sizes[along]
            joined.append(moved)
        total = shapes[0].copy()
        total[along] = offset
        return (*in_order(np.concatenate(joined), np.concatenate(values)), total)

    return run


def _concat_axis(shapes, axis):
    rank = len(shapes[0])
    along = axis + rank if axis < 0 else axis
    if not 0 <= along < rank:
        raise invalid(f"Concat dimension must be in range [{-rank}, {rank}), got {axis}")
    return along


def _check_joinable(shapes, along):
    for position, sizes in enumerate(shapes):
        if len(sizes) != len(shapes[0]):
            raise invalid(
                f"Ranks of all input tensors must match: expected {len(shapes[0])} but got "
                f"{len(sizes)} at position {position}"
            )
        for axis, (given, wanted) in enumerate(zip(sizes, shapes[0], strict=True)):
            if axis != along and given != wanted:
                raise invalid(
                    f"Input shapes must match: expected {wanted} for dimension {axis} but got "
                    f"{given} at position {position}"
                )


@kernel("SparseSplit", devices=HOST)
def _(node):
    parts = node.attrs["num_split"]

    @on_arrays
    def run(split_dim, indices, values, shape):
        check_parts(indices, values, shape)
        axis = _split_axis(split_dim, shape, parts)
        size, larger = divmod(int(shape[axis]), parts)
        lengths = np.full(parts, size)
        lengths[:larger] += 1
        starts = np.concatenate([[0], np.cumsum(lengths)])
        part_of = np.searchsorted(starts, indices[:, axis], side="right") - 1
        pieces = [np.flatnonzero(part_of == part) for part in range(parts)]
        out_indices, out_shapes = [], []
        for part, rows in enumerate(pieces):
            moved = indices[rows]
            moved[:, axis] -= starts[part]
            out_indices.append(moved)
            sizes = shape.copy()
            sizes[axis] = lengths[part]
            out_shapes.append(sizes)
        return (*out_indices, *[values[rows] for rows in pieces], *out_shapes)

    return run


def _split_axis(split_dim, shape, parts):
    if split_dim.size != 1:
        raise invalid(
            f"split_dim should be a scalar but received shape {brackets(split_dim.shape)}"
        )
    given = int(split_dim.reshape(()))
    axis = given + len(shape) if given < 0 else given
    if not 0 <= axis < len(shape):
        raise invalid(
            f"Input axis should be in range [{-len(shape)}, {len(shape)}), got {given}: split_dim "
            f"should be between 0 and rank ({len(shape)})"
        )
    if not 1 <= parts <= shape[axis]:
        raise invalid(
            "Input num_split should be between 1 and the splitting dimension size "
            f"({shape[axis]}), got {parts}"
        )
    return axis


# Reshaping ------------------------------------------------------------------------------------


@kernel("SparseReshape", devices=HOST)
def _(node):
    @on_arrays
    def run(indices, shape, new_shape):
        for part, name, rank in ((indices, "indices", 2), (shape, "shape", 1)):
            if part.ndim != rank:
                wanted = "matrix" if rank == 2 else "vector"
                raise invalid(
                    f"Input {name} should be a {wanted} but received shape {brackets(part.shape)}"
                )
        if new_shape.ndim != 1:
            raise invalid(
                f"Target shape should be a vector but received shape {brackets(new_shape.shape)}"
            )
        if indices.shape[1] != len(shape):
            raise invalid(
                f"Input tensor rank must match input shape length. Got {indices.shape[1]} and "
                f"{len(shape)}"
            )
        sizes = _target_sizes(shape.tolist(), new_shape.tolist())
        target = np.array(sizes, np.int64)
        if np.array_equal(shape, target):
            return indices, target
        if not len(indices):
            return np.zeros((0, len(sizes)), np.int64), target
        flat = np.ravel_multi_index(indices.T, shape.tolist()) if len(shape) else indices[:, 0]
        return np.stack(np.unravel_index(flat, sizes), axis=1), target

    return run


def _target_sizes(shape, wanted):
    """The new sizes with the one that is -1 worked out."""
    total = math.prod(shape)
    unknown = None
    for axis, size in enumerate(wanted):
        if size == -1:
            if unknown is not None:
                raise invalid(f"only one output dimension may be -1, not both {unknown} and {axis}")
            unknown = axis
        elif size < 0:
            raise invalid(f"size {axis} must be non-negative, not {size}")
    known = math.prod(size for size in wanted if size != -1)
    if unknown is not None:
        if known == 0:
            raise invalid(
                "reshape cannot infer the missing input size for an empty tensor unless all "
                "specified input sizes are non-zero"
            )
        if total % known:
            raise invalid(
                f"Input to reshape is a SparseTensor with {total} dense values, but the requested "
                f"shape requires a multiple of {known}. input_shape={brackets(shape)} "
                f"output_shape={brackets(wanted)}"
            )
        return [total // known if size == -1 else size for size in wanted]
    if known != total:
        raise invalid(
            f"Input to reshape is a tensor with {total} dense values, but the requested shape has "
            f"{known}. input_shape={brackets(shape)} output_shape={brackets(wanted)}"
        )
    return wanted


# Slicing --------------------------------------------------------------------------------------


@kernel("SparseSlice", devices=HOST)
def _(node):
    @on_arrays
    def run(indices, values, shape, start, size):
        check_parts(indices, values, shape)
        for part, name in ((start, "start"), (size, "size")):
            if part.ndim != 1:
                raise invalid(
                    f"Input {name} should be a vector but received shape {brackets(part.shape)}"
                )
            if len(part) != len(shape):
                raise invalid(
                    f"Expected {name} to be a vector of length {len(shape)} but got length "
                    f"{len(part)}"
                )
        if (size < 0).any():
            raise invalid(f"Expected a non-negative size, got {size[size < 0][0]}")
        stop = np.minimum(start + size, shape)
        inside = np.ones(len(indices), bool)
        for column, first, end in zip(indices.T, start, stop, strict=True):
            inside &= (column >= first) & (column < end)
        kept = np.flatnonzero(inside)
        return indices.take(kept, 0) - start, values.take(kept), np.maximum(stop - start, 0)

    return run


@kernel("SparseSliceGrad", devices=HOST)
def _(node):
    @on_arrays
    def run(grad, indices, start, out_indices):
        if indices.ndim != 2 or out_indices.ndim != 2:
            raise invalid(
                "Input and output indices should be matrices but received shapes "
                f"{brackets(indices.shape)} and {brackets(out_indices.shape)}"
            )
        if indices.shape[1] != out_indices.shape[1]:
            raise invalid(
                f"The input and output should have the same ndims: got: {indices.shape[1]} and "
                f"{out_indices.shape[1]}"
            )
        if grad.ndim != 1 or len(grad) != len(out_indices):
            raise invalid(
                "# elements of output_indices and input_grad should match: got "
                f"{brackets(out_indices.shape)} and {brackets(grad.shape)}"
            )
        if len(out_indices) > len(indices):
            raise invalid(
                "# rows of output_indices should be not greater than of input_indices, got "
                f"{len(out_indices)} and {len(indices)}"
            )
        result = np.zeros(len(indices), grad.dtype)
        found, wanted = _matches(indices, out_indices + start)
        if len(found) != len(grad):
            raise errors.InternalError(
                None,
                None,
                "Elements of backprop_val_grad aren't all propagated. "
                f"Num elements:{len(grad)}, used: {len(found)}",
            )
        result[found] = grad[wanted]
        return result

    return run


def _matches(rows, others):
    """The positions of rows that are among others too, and the positions of these."""
    both = np.concatenate(row_numbers(rows, others))
    # A stable sort merges lists in order, and leaves a row before the other one that equals it.
    order = np.argsort(both, kind="stable")
    ordered = both[order]
    first, second = order[:-1], order[1:]
    equal = ordered[1:] == ordered[:-1]
    equal &= (first < len(rows)) & (second >= len(rows))
    return first[equal], second[equal] - len(rows)


# Rows without entries -------------------------------------------------------------------------


@kernel("SparseFillEmptyRows", devices=HOST)
def _(node):
    @on_arrays
    def run(indices, values, shape, default):
        if shape.ndim != 1:
            raise invalid(f"dense_shape must be a vector, saw: {brackets(shape.shape)}")
        if indices.ndim != 2:
            raise invalid(f"indices must be a matrix, saw: {brackets(indices.shape)}")
        if values.ndim != 1:
            raise invalid(f"values must be a vector, saw: {brackets(values.shape)}")
        if len(values) != len(indices):
            raise invalid(
                "The length of `values` must match the first dimension of `indices`, got "
                f"{len(values)} and {len(indices)}"
            )
        if default.ndim:
            raise invalid(f"default_value must be a scalar, saw: {brackets(default.shape)}")
        if not len(shape):
            raise invalid("Dense shape cannot be empty.")
        rows, rank = int(shape[0]), indices.shape[1]
        if rows == 0:
            if len(indices):
                raise invalid(
                    "Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = "
                    f"{len(indices)}"
                )
            nothing = np.zeros(0, bool), np.zeros(0, np.int64)
            return np.zeros((0, rank), np.int64), values[:0], *nothing
        check_bounds(
            indices[:, :1],
            [rows],
            lambda i, row: (
                f"indices({i}, 0) is invalid: {row[0]} >= {rows}"
                if row[0] >= 0
                else f"indices({i}, 0) is invalid: {row[0]} < 0"
            ),
        )
        return _filled(indices, values, default, rows)

    return run


def _filled(indices, values, default, rows):
    """Adds an entry at column 0 of each row without one; entries are put in the order of rows."""
    is_empty = np.ones(rows, bool)
    is_empty[indices[:, 0]] = False
    if not is_empty.any() and is_increasing(indices[:, 0]):
        return indices, values, is_empty, np.arange(len(indices))
    extra = np.zeros((int(is_empty.sum()), indices.shape[1]), np.int64)
    extra[:, 0] = np.flatnonzero(is_empty)
    all_rows = np.concatenate([indices, extra])
    all_values = np.concatenate([values, np.full(len(extra), default[()], values.dtype)])
    order = np.argsort(all_rows[:, 0], kind="stable")
    place_of = np.empty_like(order)
    place_of[order] = np.arange(len(order))
    return all_rows[order], all_values[order], is_empty, place_of[: len(indices)]


@kernel("SparseFillEmptyRowsGrad", devices=HOST)
def _(node):
    @on_arrays
    def run(reverse_index_map, grad):
        for part, name in ((reverse_index_map, "reverse_index_map"), (grad, "grad_values")):
            if part.ndim != 1:
                raise invalid(f"{name} must be a vector, saw: {brackets(part.shape)}")
        inside = (reverse_index_map >= 0) & (reverse_index_map < len(grad))
        if not inside.all():
            first = reverse_index_map[int(np.argmin(inside))]
            raise invalid(f"Elements in reverse index must be in [0, {len(grad)}) but got {first}")
        is_filling = np.ones(len(grad), bool)
        is_filling[reverse_index_map] = False
        return grad[reverse_index_map], np.asarray(grad[is_filling].sum(dtype=grad.dtype))

    return run
