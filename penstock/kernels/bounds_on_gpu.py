"""Rows by their numbers where nobody may look at a number first: on a GPU.

To look at an index on the host would wait for the device, and one out of range inside ATen's own
kernels ends the process's use of the device. So, as in TensorFlow: on a GPU a bad index reads
zeros, and writes nothing. Each function replaces a bad index by the nearest good one, and makes
what is read there zero, or what is written there harmless.
"""

import torch


def outside(indices, limit):
    """The nearest good index for each of some indices, and where that is another one."""
    nearest = indices.clamp(0, limit - 1)
    return nearest, nearest != indices


def _as_rows(mask, rows):
    return mask.view(-1, *[1] * (rows.dim() - 1))


def select_or_zero(params, indices, axis=0):
    """`params.index_select(axis, indices)`, with zeros for a bad index."""
    axis %= params.dim()
    limit = params.shape[axis]
    if limit == 0:
        return params.new_zeros((*params.shape[:axis], len(indices), *params.shape[axis + 1 :]))
    nearest, bad = outside(indices, limit)
    picked = params.index_select(axis, nearest)
    return picked.masked_fill_(bad.view(-1, *[1] * (params.dim() - 1 - axis)), 0)


def flat_or_negative(indices, sizes):
    """Positions [..., k] in k dimensions as a vector of numbers; negative for a bad position."""
    flat = torch.zeros(indices.shape[:-1], dtype=torch.int64, device=indices.device)
    bad = torch.zeros_like(flat, dtype=torch.bool)
    for size, part in zip(sizes, indices.unbind(-1), strict=True):
        bad |= (part < 0) | (part >= size)
        flat.mul_(size).add_(part)
    return flat.masked_fill_(bad, -1).reshape(-1)


def add_rows(target, indices, rows, alpha=1):
    """`target.index_add_(0, indices, rows)`, without the rows of bad indices."""
    if target.shape[0] == 0:
        return target
    nearest, bad = outside(indices, target.shape[0])
    return target.index_add_(0, nearest, rows.masked_fill(_as_rows(bad, rows), 0), alpha=alpha)


def _neutral(how, dtype):
    """The number that leaves every other as it is."""
    if how == "prod":
        return 1
    if dtype.is_floating_point:
        return torch.inf if how == "amin" else -torch.inf
    limits = torch.iinfo(dtype)
    return limits.max if how == "amin" else limits.min


def reduce_rows(target, indices, rows, how):
    """`target.scatter_reduce_` of whole rows, without the rows of bad indices."""
    if target.shape[0] == 0:
        return target
    nearest, bad = outside(indices.long(), target.shape[0])
    rows = rows.masked_fill(_as_rows(bad, rows), _neutral(how, rows.dtype))
    return target.scatter_reduce_(0, _as_rows(nearest, rows).expand_as(rows), rows, how)


def replace_rows(target, indices, rows):
    """`target.index_copy_(0, indices, rows)`: of rows with one index the last one counts.

    ATen leaves it open which one does. Here all positions with one index write the row of the
    last, and positions with a bad index write what is there or will be.
    """
    limit = target.shape[0]
    if limit == 0:
        return target
    nearest, bad = outside(indices.long(), limit)
    positions = torch.arange(len(nearest), device=nearest.device).masked_fill_(bad, -1)
    last = positions.new_full((limit,), -1).scatter_reduce_(0, nearest, positions, "amax")
    last = last.index_select(0, nearest)
    written = rows.index_select(0, last.clamp_min(0))
    untouched = _as_rows(last < 0, rows)
    return target.index_copy_(
        0, nearest, torch.where(untouched, target.index_select(0, nearest), written)
    )


def count_inside(indices, limit):
    """How often each number of [0, limit) occurs."""
    counts = torch.zeros(limit, dtype=torch.int64, device=indices.device)
    return add_rows(counts, indices, torch.ones_like(indices, dtype=torch.int64))
