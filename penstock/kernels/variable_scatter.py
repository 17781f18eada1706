"""Kernels that read and update rows and slices of variables of both kinds."""

import math

import numpy as np
import torch

from penstock import errors
from penstock.kernels.registry import kernel
from penstock.kernels.rows import flat_indices, has_repeats, last_of_each, refuse_indices, rounds
from penstock.kernels.state import SIGNED, locking, shares_memory
from penstock.kernels.values import is_host_type

# Combining: each gets the buffer, a vector of row numbers and as many rows ----------------------


def _update(buffer, indices, rows):
    if has_repeats(indices, buffer.shape[0]):
        last = last_of_each(indices)
        indices, rows = indices[last], rows[last]
    buffer.index_copy_(0, indices, rows)


def _add(buffer, indices, rows):
    buffer.index_add_(0, indices, rows)


def _subtract(buffer, indices, rows):
    buffer.index_add_(0, indices, rows, alpha=-1)


def _reducing(how):
    def combine(buffer, indices, rows):
        spread = indices.view(-1, *[1] * (buffer.dim() - 1)).expand(rows.shape)
        buffer.scatter_reduce_(0, spread, rows, how)

    return combine


def _divide(buffer, indices, rows):
    whole = not (buffer.is_floating_point() or buffer.is_complex())
    if whole and not rows.all():
        raise errors.InvalidArgumentError(None, None, "Integer division by zero")
    for part in rounds(indices) if has_repeats(indices, buffer.shape[0]) else (slice(None),):
        target = indices[part]
        quotient = buffer.index_select(0, target)
        quotient.div_(rows[part], rounding_mode="trunc" if whole else None)
        buffer.index_copy_(0, target, quotient)


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


def _combiner(kind, dtype):
    combine = _COMBINE[kind]

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
            f"updates.shape {list(updates.shape)}, indices.shape {list(indices.shape)}, "
            f"params.shape {list(buffer.shape)}",
        )
    return updates.reshape(indices.numel(), *inner)


def _is_array(value):
    return isinstance(value, np.ndarray)


def _scatter_kernel(node, kind):
    combine = _combiner(kind, node.inputs[2].dtype.base_dtype)

    def run(state, indices, updates):
        buffer = state.read()
        if buffer.ndim == 0:
            raise errors.InvalidArgumentError(
                None, None, f"Shape of variable {state.name} must be at least rank 1 but is rank 0"
            )
        rows = _rows_of(updates, indices, buffer)
        if len(rows):
            combine(buffer, indices.reshape(-1).long(), rows)
        return state

    return locking(run) if node.attrs.get("use_locking") else run


for _kind in _COMBINE:
    kernel(f"Scatter{_kind}", f"ResourceScatter{_kind}")(
        lambda node, _kind=_kind: _scatter_kernel(node, _kind)
    )


# Slices ---------------------------------------------------------------------------------------


def _slices_of(updates, indices, buffer):
    inner = tuple(buffer.shape[indices.shape[-1] :])
    if tuple(updates.shape) != (*indices.shape[:-1], *inner):
        raise errors.InvalidArgumentError(
            None,
            None,
            "Must have updates.shape = indices.shape[:-1] + params.shape[indices.shape[-1]:], got "
            f"updates.shape {list(updates.shape)}, indices.shape {list(indices.shape)}, "
            f"params.shape {list(buffer.shape)}",
        )
    return updates.reshape(math.prod(indices.shape[:-1]), *inner)


def _scatter_nd_kernel(node, kind):
    combine = _combiner(kind, node.inputs[2].dtype.base_dtype)
    policy = node.attrs["bad_indices_policy"]

    def run(state, indices, updates):
        buffer = state.read()
        if indices.dim() == 0:
            raise errors.InvalidArgumentError(None, None, "Indices must be of rank at least 1")
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


for _kind in ("Update", "Add", "Sub", "Min", "Max"):
    kernel(f"ScatterNd{_kind}", f"ResourceScatterNd{_kind}")(
        lambda node, _kind=_kind: _scatter_nd_kernel(node, _kind)
    )


# Reading --------------------------------------------------------------------------------------


def take_rows(buffer, indices):
    """The rows of a buffer at `indices`, of any shape."""
    if _is_array(buffer):
        refuse_indices(indices, buffer.shape[0])
        return buffer[indices.numpy()]
    try:
        if indices.dim() == 1:
            return buffer.index_select(0, indices)
        rows = buffer.index_select(0, indices.reshape(-1))
    except (IndexError, RuntimeError):
        refuse_indices(indices, buffer.shape[0])
        raise
    return rows.view(*indices.shape, *buffer.shape[1:])


def _take_in_batches(buffer, indices, batch):
    """As `take_rows` for each entry of the first `batch` dimensions, which both have."""
    entries, limit = math.prod(buffer.shape[:batch]), buffer.shape[batch]
    refuse_indices(indices, limit)
    first = torch.arange(entries, device=indices.device) * limit
    flat = indices.reshape(entries, -1) + first.view(-1, 1)
    rows = take_rows(buffer.reshape(entries * limit, *buffer.shape[batch + 1 :]), flat)
    return rows.reshape(*indices.shape, *buffer.shape[batch + 1 :])


@kernel("ResourceGather", fresh=True)
def _(node):
    batch = node.attrs["batch_dims"]
    if batch:
        return lambda state, indices: _take_in_batches(state.read(), indices, batch)
    return lambda state, indices: take_rows(state.read(), indices)


@kernel("ResourceGatherNd", fresh=True)
def _(node):
    def run(state, indices):
        buffer = state.read()
        depth = indices.shape[-1]
        flat, _ = flat_indices(indices, tuple(buffer.shape))
        rows = take_rows(
            buffer.reshape(math.prod(buffer.shape[:depth]), *buffer.shape[depth:]), flat
        )
        return rows.reshape(*indices.shape[:-1], *buffer.shape[depth:])

    return run
