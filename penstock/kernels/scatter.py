"""Kernels of values written to positions of a tensor."""

import math

import numpy as np
import torch

from penstock import dtypes, errors
from penstock.kernels.bounds_on_gpu import add_rows, reduce_rows, replace_rows
from penstock.kernels.gather import row_numbers
from penstock.kernels.known_inputs import is_text, known_list
from penstock.kernels.registry import kernel
from penstock.kernels.signed_bits import as_signed
from penstock.ops.scatter import check_scatter


def _add(rows, positions, updates):
    if rows.dtype == torch.bool:
        found = torch.zeros_like(rows, dtype=torch.uint8)
        _add(found, positions, updates.byte())
        rows |= found > 0
    elif rows.is_cuda:
        add_rows(rows, positions, updates)
    else:
        as_signed(rows).index_add_(0, positions, as_signed(updates))


def _subtract(rows, positions, updates):
    if rows.is_cuda:
        add_rows(rows, positions, updates, alpha=-1)
    else:
        as_signed(rows).index_add_(0, positions, as_signed(updates), alpha=-1)


def _replace(rows, positions, updates):
    if rows.is_cuda:
        replace_rows(rows, positions, updates)
    else:
        as_signed(rows).index_copy_(0, positions, as_signed(updates))


def _reducer(how):
    def reduce(rows, positions, updates):
        if rows.is_cuda:
            reduce_rows(rows, positions, updates, how)
            return
        spread = positions.view(-1, *[1] * (rows.dim() - 1)).expand(updates.shape)
        if rows.dtype in _ORDERED_AS:
            wider = _ORDERED_AS[rows.dtype]
            rows.copy_(rows.to(wider).scatter_reduce_(0, spread, updates.to(wider), how))
        else:
            rows.scatter_reduce_(0, spread, updates, how)

    return reduce


# Types whose order is lost in signed numbers of the same width.
_ORDERED_AS = {torch.uint16: torch.int32, torch.uint32: torch.int64, torch.bool: torch.uint8}


def _scatter(target, indices, updates, change):
    """Changes rows of `target` in place: `indices` [..., k] are positions in k dimensions."""
    if not target.dim():
        raise errors.InvalidArgumentError(None, None, "Output must be at least 1-D, got shape: []")
    depth = indices.shape[-1]
    check_scatter(tuple(target.shape), tuple(indices.shape), tuple(updates.shape))
    indexed, inner = target.shape[:depth], target.shape[depth:]
    if not updates.numel():
        return target
    if not target.numel():
        message = "Indices and updates specified for empty output shape"
        raise errors.InvalidArgumentError(None, None, message)
    positions = row_numbers(indices, list(indexed), f"shape [{','.join(map(str, target.shape))}]")
    rows = target.view((math.prod(indexed), -1))
    change(rows, positions, updates.reshape((positions.shape[0], math.prod(inner))))
    return target


def _check_depth(indices):
    if indices.shape[-1] == 0:
        message = "Indices and updates specified for empty output shape"
        raise errors.InvalidArgumentError(None, None, message)


@kernel("ScatterNd", fresh=True)
def _(node, env):
    if is_text(node, 1):
        return _scatter_text_into_nothing
    known = known_list(node, env, 2)

    def run(indices, updates, sizes):
        _check_depth(indices)
        target = updates.new_zeros(known if known is not None else sizes.tolist())
        return _scatter(target, indices, updates, _add)

    return run


_CHANGES = {
    "TensorScatterUpdate": _replace,
    "TensorScatterAdd": _add,
    "TensorScatterSub": _subtract,
    "TensorScatterMin": _reducer("amin"),
    "TensorScatterMax": _reducer("amax"),
    "ScatterNdNonAliasingAdd": _add,
}


@kernel(*_CHANGES, fresh=True)
def _(node):
    change = _CHANGES[node.type]
    if node.dtypes[0] is dtypes.string:
        return lambda x, indices, updates: _scatter_text(x.copy(), indices, updates, change)

    def run(x, indices, updates):
        _check_depth(indices)
        return _scatter(x.clone(memory_format=torch.contiguous_format), indices, updates, change)

    return run


# Strings --------------------------------------------------------------------------------------


def _scatter_text(target, indices, updates, change):
    check_scatter(target.shape, tuple(indices.shape), updates.shape)
    depth = indices.shape[-1]
    indexed = target.shape[:depth]
    positions = row_numbers(indices, list(indexed), f"shape {list(target.shape)}").numpy()
    rows = target.reshape((math.prod(indexed), -1))
    given = updates.reshape((len(positions), -1))
    if change is _replace:
        rows[positions] = given
    elif change is _add:
        np.add.at(rows, positions, given)
    else:
        raise errors.UnimplementedError(None, None, "strings can only be replaced or appended")
    return rows.reshape(target.shape)


def _scatter_text_into_nothing(indices, updates, sizes):
    target = np.full(sizes.tolist(), b"", dtype=object)
    return _scatter_text(target, indices, updates, _add)
