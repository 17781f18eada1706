"""Kernels that read and update rows and slices of variables of both kinds."""

import math

import numpy as np
import torch

from penstock import errors, shapes
from penstock.kernels.bounds_on_gpu import (
    add_rows,
    outside,
    reduce_rows,
    replace_rows,
    select_or_zero,
)
from penstock.kernels.registry import kernel
from penstock.kernels.rows import (
    flat_indices,
    guard_device,
    has_repeats,
    last_of_each,
    refuse_indices,
    rounds,
)
from penstock.kernels.state import SIGNED, buffer_reader, locking, locks, shares_memory
from penstock.kernels.values import is_host_type

# Combining: each gets the buffer, a vector of row numbers and as many rows ----------------------


def _update(buffer, indices, rows):
    if buffer.is_cuda:
        replace_rows(buffer, indices, rows)
        return
    if has_repeats(indices, buffer.shape[0]):
        last = last_of_each(indices)
        indices, rows = indices[last], rows[last]
    buffer.index_copy_(0, indices, rows)


def _add(buffer, indices, rows, factor=1):
    if buffer.is_cuda:
        add_rows(buffer, indices, rows, factor)
    else:
        buffer.index_add_(0, indices, rows, alpha=factor)


def _subtract(buffer, indices, rows):
    _add(buffer, indices, rows, -1)


def _reducing(how):
    def combine(buffer, indices, rows):
        if buffer.is_cuda and buffer.is_complex():  # which ATen has no code for there
            _one_by_one(buffer, indices, rows, torch.Tensor.mul_)
            return
        if buffer.is_cuda:
            reduce_rows(buffer, indices, rows, how)
            return
        spread = indices.view(-1, *[1] * (buffer.dim() - 1)).expand(rows.shape)
        buffer.scatter_reduce_(0, spread, rows, how)

    return combine


def _divide(buffer, indices, rows):
    whole = not (buffer.is_floating_point() or buffer.is_complex())
    if whole:
        _refuse_zeros(rows)
    rounding = "trunc" if whole else None
    _one_by_one(buffer, indices, rows, lambda target, row: target.div_(row, rounding_mode=rounding))


def _one_by_one(buffer, indices, rows, change):
    """Changes rows in place, one with several changes once for each of them."""
    guard_device(indices, buffer.shape[0])
    for part in rounds(indices) if has_repeats(indices, buffer.shape[0]) else (slice(None),):
        target = indices[part]
        changed = buffer.index_select(0, target)
        change(changed, rows[part])
        buffer.index_copy_(0, target, changed)


def _divide_behind_handle(buffer, indices, rows):
    _refuse_zeros(rows)
    _divide(buffer, indices, rows)


def _refuse_zeros(rows):
    if not rows.all():
        raise errors.InvalidArgumentError(None, None, "updates must not contain 0")


_COMBINE = {
    "Update": _update,
    "Add": _add,
    "Sub": _subtract,
    "Mul": _reducing("prod"),
    "Div": _divide,
    "Min": _reducing("amin"),
    "Max": _reducing("amax"),
}
# What needs no more than the bits of a type that torch does not compute with.
_BITWISE = ("Update", "Add", "Sub", "Mul")


def _named(pattern, *kinds):
    """The op types of both kinds of variables for some ways of combining."""
    names = [pattern.format(kind) for kind in kinds]
    return [*names, *(f"Resource{name}" for name in names)]


def _combiner(node):
    kind = node.type[-3:] if node.type[-3:] in _COMBINE else "Update"
    combine = _divide_behind_handle if node.type == "ResourceScatterDiv" else _COMBINE[kind]
    dtype = node.inputs[2].dtype.base_dtype

    def checked(buffer, indices, rows):
        if shares_memory(buffer, rows):
            rows = rows.clone()
        signed = SIGNED.get(buffer.dtype)
        if signed is not None and kind in _BITWISE:
            buffer, rows = buffer.view(signed), rows.view(signed)
        try:
            combine(buffer, indices, rows)
        except (IndexError, RuntimeError):
            refuse_indices(indices, buffer.shape[0])
            raise

    return _combine_strings if is_host_type(dtype) else checked


def _combine_strings(buffer, indices, rows):
    refuse_indices(indices, buffer.shape[0])
    buffer[indices.numpy()] = rows  # of rows with one index the last one wins


# Rows -----------------------------------------------------------------------------------------


def _rows_of(updates, indices, buffer):
    """The updates as one row per index: given as such, or a scalar for all."""
    inner = tuple(buffer.shape[1:])
    if updates.ndim == 0 and (indices.dim() or inner):
        shape = (indices.numel(), *inner)
        return np.broadcast_to(updates, shape) if _is_array(updates) else updates.expand(shape)
    if tuple(updates.shape) != (*indices.shape, *inner):
        raise errors.InvalidArgumentError(
            None,
            None,
            "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got "
            f"updates.shape {shapes.text(updates.shape)}, indices.shape "
            f"{shapes.text(indices.shape)}, params.shape {shapes.text(buffer.shape)}",
        )
    return updates.reshape(indices.numel(), *inner)


def _is_array(value):
    return isinstance(value, np.ndarray)


def _adder(node, run):
    """`run` for sums of rows: what ATen itself accepts as rows and indices needs no other check.

    The rows may have to be scaled: a pass moves a factor here (`_scale`).
    """
    scale = node.attrs.get("_scale", 1)
    factor = -scale if node.type.endswith("Sub") else scale
    read = buffer_reader(node)

    def add(state, indices, updates):
        buffer = read(state)
        if updates.dim() == buffer.dim() and indices.dim() == 1:
            try:
                _add(buffer, indices, updates, factor)
            except (IndexError, RuntimeError):
                refuse_indices(indices, buffer.shape[0])
            else:
                return state
        return run(state, indices, updates if scale == 1 else updates * scale)

    return add


@kernel(*_named("Scatter{}", *_COMBINE))
def _(node):
    combine, read = _combiner(node), buffer_reader(node)

    def run(state, indices, updates):
        buffer = read(state)
        if buffer.ndim == 0:
            raise errors.InvalidArgumentError(
                None, None, f"Shape of variable {state.name} must be at least rank 1 but is rank 0"
            )
        rows = _rows_of(updates, indices, buffer)
        if len(rows):
            combine(buffer, indices.reshape(-1).long(), rows)
        return state

    dtype = node.inputs[2].dtype.base_dtype
    if node.type.endswith(("Add", "Sub")) and (dtype.is_floating or dtype.is_complex):
        run = _adder(node, run)
    return locking(run) if locks(node) else run


# Slices ---------------------------------------------------------------------------------------


def _slices_of(updates, indices, buffer):
    inner = tuple(buffer.shape[indices.shape[-1] :])
    if tuple(updates.shape) != (*indices.shape[:-1], *inner):
        raise errors.InvalidArgumentError(
            None,
            None,
            "Must have updates.shape = indices.shape[:-1] + params.shape[indices.shape[-1]:], got "
            f"updates.shape {shapes.text(updates.shape)}, indices.shape "
            f"{shapes.text(indices.shape)}, params.shape {shapes.text(buffer.shape)}",
        )
    return updates.reshape(math.prod(indices.shape[:-1]), *inner)


@kernel(*_named("ScatterNd{}", "Update", "Add", "Sub", "Min", "Max"))
def _(node):
    combine, read = _combiner(node), buffer_reader(node)
    policy = node.attrs["bad_indices_policy"]

    def run(state, indices, updates):
        buffer = read(state)
        if indices.dim() == 0 or updates.ndim == 0:
            raise errors.InvalidArgumentError(
                None, None, "indices and updates must be of rank at least 1"
            )
        if not buffer.ndim:
            raise errors.InvalidArgumentError(
                None, None, "Output must be at least 1-D, got shape: []"
            )
        depth = indices.shape[-1]
        flat, used = flat_indices(indices, tuple(buffer.shape), policy)
        slices = _slices_of(updates, indices, buffer)
        if used is not None:
            flat, slices = flat[used], slices[used]
        if len(slices):
            outer = math.prod(buffer.shape[:depth])
            # A copy where the buffer's layout allows no such view.
            view = buffer.reshape(outer, *buffer.shape[depth:])
            combine(view, flat, slices)
            if not _is_array(buffer) and not shares_memory(view, buffer):
                buffer.copy_(view.view(buffer.shape))
        return state

    return locking(run) if node.attrs["use_locking"] else run


# Reading --------------------------------------------------------------------------------------


def take_rows(buffer, indices):
    """The rows of a buffer at `indices`, of any shape."""
    if _is_array(buffer):
        refuse_indices(indices, buffer.shape[0])
        return buffer[indices.numpy()]
    if buffer.is_cuda:
        rows = select_or_zero(buffer, indices.reshape(-1))
        return rows.view((*indices.shape, *buffer.shape[1:]))
    try:
        if indices.dim() == 1:
            return buffer.index_select(0, indices)
        rows = buffer.index_select(0, indices.reshape(-1))
    except (IndexError, RuntimeError):
        refuse_indices(indices, buffer.shape[0])
        raise
    return rows.view((*indices.shape, *buffer.shape[1:]))


def _take_in_batches(buffer, indices, batch):
    """As `take_rows` for each entry of the first `batch` dimensions, which both have."""
    entries, limit = math.prod(buffer.shape[:batch]), buffer.shape[batch]
    if indices.is_cuda:
        nearest, bad = outside(indices, limit)
        indices = torch.where(bad, -entries * limit, nearest)  # negative in every entry
    else:
        refuse_indices(indices, limit)
    first = torch.arange(entries, device=indices.device) * limit
    flat = indices.reshape(entries, -1) + first.view(-1, 1)
    rows = take_rows(buffer.reshape(entries * limit, *buffer.shape[batch + 1 :]), flat)
    return rows.reshape(*indices.shape, *buffer.shape[batch + 1 :])


@kernel("ResourceGather", fresh=True)
def _(node):
    batch, read = node.attrs["batch_dims"], buffer_reader(node)
    if batch:
        return lambda state, indices: _take_in_batches(read(state), indices, batch)
    return lambda state, indices: take_rows(read(state), indices)


@kernel("ResourceGatherNd", fresh=True)
def _(node):
    read = buffer_reader(node)

    def run(state, indices):
        buffer = read(state)
        depth = indices.shape[-1]
        flat, _ = flat_indices(indices, tuple(buffer.shape))
        rows = take_rows(
            buffer.reshape(math.prod(buffer.shape[:depth]), *buffer.shape[depth:]), flat
        )
        return rows.reshape((*indices.shape[:-1], *buffer.shape[depth:]))

    return run
