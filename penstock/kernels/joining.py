"""Kernels of tensors put together and taken apart."""

import numpy as np
import torch

from penstock import dtypes, errors, shapes
from penstock.kernels.known_inputs import is_text, known_list, known_number
from penstock.kernels.output_lists import as_outputs
from penstock.kernels.registry import kernel
from penstock.ops.joining import concat_offsets

# Concat ---------------------------------------------------------------------------------------


@kernel("Concat", fresh=True)
def _(node, env):
    join = _join(node)
    axis = known_number(node, env, 0)
    if axis is None:
        return lambda axis, *values: join(values, axis.item())
    return lambda _, *values: join(values, axis)


@kernel("ConcatV2", fresh=True)
def _(node, env):
    join = _join(node)
    axis = known_number(node, env, len(node.inputs) - 1)
    if axis is None:
        return lambda *inputs: join(inputs[:-1], inputs[-1].item())
    if len(node.inputs) == 3:
        return lambda x, y, _: join((x, y), axis)
    return lambda *inputs: join(inputs[:-1], axis)


def _join(node):
    return np.concatenate if node.dtypes[0].name == "string" else torch.cat


@kernel("ConcatOffset", fresh=True)
def _(node):
    def run(axis, *sizes):
        _check_shape_vectors(axis, sizes)
        rows = [size.tolist() for size in sizes]
        at = axis.item()
        if not -len(rows[0]) <= at < len(rows[0]):
            raise errors.InvalidArgumentError(
                None, None, f"Concat dim is out of range: {at} vs. {len(rows[0])}"
            )
        _check_concat_shapes(rows, at % len(rows[0]))
        dtype = sizes[0].dtype
        return [torch.from_numpy(row).to(dtype) for row in concat_offsets(at, np.array(rows))]

    return run


def _check_shape_vectors(axis, sizes):
    message = None
    if axis.dim():
        found = shapes.text(tuple(axis.shape))
        message = f"Concat dim tensor should be a scalar integer, but got shape {found}"
    for i, size in enumerate(sizes):
        if size.dim() != 1:
            message = (
                f"input {i + 1} should be a vector, but got shape {shapes.text(tuple(size.shape))}"
            )
        elif len(size) != len(sizes[0]):
            message = f"input {i} should contain {len(sizes[0])} elements, but got {len(size)}"
        if message is not None:
            raise errors.InvalidArgumentError(None, None, message)


def _sizes_text(row):
    return f"[{' '.join(map(str, row))}]"


def _check_concat_shapes(rows, axis):
    first = rows[0]
    for i, row in enumerate(rows):
        if [*row[:axis], *row[axis + 1 :]] != [*first[:axis], *first[axis + 1 :]]:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"All dimensions except {axis} must match. Input {i} has shape {_sizes_text(row)} "
                f"and doesn't match input 0 with shape {_sizes_text(first)}.",
            )


@kernel("ParallelConcat", fresh=True)
def _(node):
    join = _join(node)
    return lambda *values: join(values, 0)


# Stack ----------------------------------------------------------------------------------------


@kernel("Pack", fresh=True)
def _(node):
    axis = node.attrs["axis"]
    if is_text(node):
        return lambda *values: np.stack(values, axis)
    return lambda *values: torch.stack(values, axis)


@kernel("Unpack")
def _(node):
    axis, num = node.attrs["axis"], node.attrs["num"]
    unbind = _unbind_text if is_text(node) else torch.unbind
    if node.dtypes and node.dtypes[0] is dtypes.variant:
        unbind = _unbind_variants

    def run(x):
        if x.shape[axis] != num:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Input shape axis {axis} must equal {num}, got shape "
                f"[{','.join(map(str, x.shape))}]",
            )
        return unbind(x, axis)

    return as_outputs(node, run)


def _unbind_text(x, axis):
    moved = np.moveaxis(x, axis, 0)
    return [moved[i, ...] for i in range(moved.shape[0])]


def _unbind_variants(x, axis):
    """What is in a vector of variants are these themselves, not arrays without axes."""
    parts = _unbind_text(x, axis)
    return parts if x.ndim > 1 else [part.item() for part in parts]


# Split ----------------------------------------------------------------------------------------


@kernel("Split")
def _(node, env):
    count = node.attrs["num_split"]
    known = known_number(node, env, 0)
    text = is_text(node, 1)

    def run(axis, x):
        axis = known if known is not None else axis.item()
        size = x.shape[axis]
        if size % count:
            raise errors.InvalidArgumentError(
                None,
                None,
                "Number of ways to split should evenly divide the split dimension, but got "
                f"split_dim {axis} (size = {size}) and num_split {count}",
            )
        if text:
            return np.split(x, count, axis)
        # ATen can't tell how many empty parts are wanted.
        return x.split(size // count, axis) if size else [x] * count

    return as_outputs(node, run)


@kernel("SplitV")
def _(node, env):
    known_sizes, known_axis = known_list(node, env, 1), known_number(node, env, 2)
    text = is_text(node)

    def run(x, sizes, axis):
        axis = known_axis if known_axis is not None else axis.item()
        sizes = known_sizes if known_sizes is not None else sizes.tolist()
        sizes = _complete_sizes(sizes, x.shape[axis], axis)
        if text:
            return np.split(x, np.cumsum(sizes)[:-1], axis)
        return x.split_with_sizes(sizes, axis)

    return as_outputs(node, run)


def _complete_sizes(sizes, total, axis):
    """The sizes with -1 replaced by what is left."""
    free = sizes.count(-1)
    rest = total - sum(sizes) - free
    if free > 1:
        message = "There can only be one -1 in the input."
    elif any(size < -1 for size in sizes):
        message = f"Split sizes must be non-negative, got {sizes}"
    elif rest < 0 or (rest and not free):
        message = (
            f"Determined shape must either match input shape along split_dim exactly if fully "
            f"specified, or be less than the size of the input along split_dim if not fully "
            f"specified.  Got: {sum(sizes) + free} for split_dim {axis} of size {total}"
        )
    else:
        return [rest if size == -1 else size for size in sizes] if free else sizes
    raise errors.InvalidArgumentError(None, None, message)
