"""Kernels of the different elements of a vector, in the order in which they first appear."""

import numpy as np
import torch

from penstock import errors
from penstock.kernels.known_inputs import is_text
from penstock.kernels.registry import kernel
from penstock.kernels.signed_bits import as_signed
from penstock.kernels.values import torch_type


def _unique(x, axis):
    """The different slices along an axis, for each slice its number, and how often each occurs."""
    sorted_slices, inverse, counts = torch.unique(
        x,
        return_inverse=True,
        return_counts=True,
        dim=None if x.dim() == 1 else axis,  # numbers sort much faster than slices
    )
    positions = torch.arange(inverse.shape[0], device=x.device)
    first = torch.empty_like(counts).scatter_reduce_(
        0, inverse, positions, "amin", include_self=False
    )
    # ATen sorts by value; by first appearance is another permutation.
    order = first.argsort()
    rank = torch.empty_like(order).scatter_(0, order, positions[: order.shape[0]])
    in_order = as_signed(sorted_slices).index_select(axis, order).view(x.dtype)
    return in_order, rank[inverse], counts[order]


def _unique_text(x, axis):
    values, first, inverse, counts = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return values[order], torch.from_numpy(rank[inverse]), torch.from_numpy(counts[order])


def _outputs(node, found):
    dtype = torch_type(node.attrs["out_idx"])
    values, indices, counts = found
    outputs = values, indices.to(dtype), counts.to(dtype)
    return outputs[: len(node.dtypes)]


@kernel("Unique", "UniqueWithCounts", fresh=True)
def _(node):
    find = _unique_text if is_text(node) else _unique

    def run(x):
        if len(x.shape) != 1:
            raise errors.InvalidArgumentError(None, None, "unique expects a 1D vector.")
        return _outputs(node, find(x, 0))

    return run


@kernel("UniqueV2", "UniqueWithCountsV2", fresh=True)
def _(node):
    text = is_text(node)

    def run(x, axis):
        if axis.numel() > 1:
            message = "axis does not support input tensors larger than 1 elements."
            raise errors.InvalidArgumentError(None, None, message)
        if not axis.numel() and len(x.shape) != 1:
            raise errors.InvalidArgumentError(None, None, "unique expects a 1D vector.")
        at = axis.item() if axis.numel() else 0
        if not -len(x.shape) <= at < len(x.shape):
            message = f"axis expects to be within the rank of x, {len(x.shape)}, got {at}"
            raise errors.InvalidArgumentError(None, None, message)
        if text:
            if len(x.shape) != 1:
                raise errors.UnimplementedError(None, None, "unique of strings takes a vector")
            return _outputs(node, _unique_text(x, 0))
        return _outputs(node, _unique(x, at % x.dim()))

    return run


@kernel("ListDiff", fresh=True)
def _(node):
    dtype = torch_type(node.attrs["out_idx"])

    def run(x, y):
        _require_vectors(x, y)
        left = torch.nonzero(~_is_in(x, y)).reshape(-1)
        return as_signed(x).index_select(0, left).view(x.dtype), left.to(dtype)

    def run_text(x, y):
        _require_vectors(x, y)
        left = np.flatnonzero(~np.isin(x, y))
        return x[left], torch.from_numpy(left).to(dtype)

    return run_text if is_text(node) else run


def _require_vectors(*values):
    for name, value in zip("xy", values, strict=True):
        if len(value.shape) != 1:
            message = f"{name} should be a 1D vector, got shape {list(value.shape)}"
            raise errors.InvalidArgumentError(None, None, message)


def _is_in(x, y):
    if x.dtype in _COMPARED_AS:
        x, y = x.to(_COMPARED_AS[x.dtype]), y.to(_COMPARED_AS[x.dtype])
    return torch.isin(x, y)


_COMPARED_AS = {
    torch.bool: torch.uint8,
    torch.uint16: torch.int32,
    torch.uint32: torch.int64,
    torch.uint64: torch.int64,
}
