"""Rows and slices of a variable's buffer by their indices: checking, taking, telling repeats."""

import torch

from penstock import errors
from penstock.kernels.bounds_on_gpu import flat_or_negative
from penstock.shapes import text

_FEW = 256  # indices that Python's set tells repeats of faster than tensors do


def refuse_indices(indices, limit):
    """Raises the error about the first index outside of [0, limit), if there is one."""
    bad = ((indices < 0) | (indices >= limit)).nonzero()
    if len(bad):
        at = tuple(bad[0].tolist())
        position = ",".join(map(str, at))
        raise errors.InvalidArgumentError(
            None, None, f"indices[{position}] = {indices[at].item()} is not in [0, {limit})"
        )


def guard_device(indices, limit):
    """Checks indices ahead on an accelerator, which a bad one would make unusable.

    On the host ATen raises an error for a bad index, and `refuse_indices` then names it.
    """
    if not indices.is_cpu:
        refuse_indices(indices, limit)


def flat_indices(indices, sizes, policy=""):
    """Indices into the first dimensions of a tensor as indices into those dimensions, flattened.

    Returns them with a mask of those to use (None: all), which only `policy` IGNORE gives. On a
    GPU a bad one is -1.
    """
    depth = indices.shape[-1]
    if depth > len(sizes):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"index innermost dimension length must be <= params rank; saw: {depth} vs. "
            f"{len(sizes)}",
        )
    if indices.is_cuda:
        return flat_or_negative(indices, sizes[:depth]), None
    flat = torch.zeros(indices.shape[:-1], dtype=torch.int64, device=indices.device)
    inside = torch.ones_like(flat, dtype=torch.bool)
    for axis in range(depth):
        part = indices[..., axis]
        inside &= (part >= 0) & (part < sizes[axis])
        flat.mul_(sizes[axis]).add_(part)
    flat, inside = flat.reshape(-1), inside.reshape(-1)
    if inside.all():
        return flat, None
    if policy == "IGNORE":
        return flat, inside
    place = tuple((~inside).reshape(indices.shape[:-1]).nonzero()[0].tolist())
    values = indices[place].tolist()
    raise errors.InvalidArgumentError(
        None,
        None,
        f"indices{text(place)} = {values} does not index into shape {text(tuple(sizes))}",
    )


def has_repeats(indices, limit):
    """Whether an index occurs twice in a vector of indices of [0, limit)."""
    count = indices.numel()
    if count <= _FEW:
        return len(set(indices.tolist())) < count
    positions = torch.arange(count, device=indices.device)
    owner = torch.empty(limit, dtype=torch.int64, device=indices.device)
    owner.index_copy_(0, indices, positions)  # of positions with one index any may win
    return not torch.equal(owner.index_select(0, indices), positions)


def last_of_each(indices):
    """The positions at which each index occurs for the last time."""
    ordered, positions = indices.sort(stable=True)
    is_last = torch.ones_like(ordered, dtype=torch.bool)
    is_last[:-1] = ordered[1:] != ordered[:-1]
    return positions[is_last]


def rounds(indices):
    """Splits positions such that no index occurs twice in a part, earlier occurrences first."""
    ordered, positions = indices.sort(stable=True)
    places = torch.arange(len(ordered), device=indices.device)
    starts = torch.zeros_like(places)
    starts[1:] = torch.where(ordered[1:] != ordered[:-1], places[1:], 0)
    occurrence = places - starts.cummax(0).values
    for number in range(int(occurrence.max()) + 1):
        yield positions[occurrence == number]
