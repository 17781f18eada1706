"""Kernels of the largest entries of rows.

Of equal entries the one with the lower index comes first, which `torch.topk` doesn't promise.
"""

from __future__ import annotations

import numpy as np
import torch

from penstock import errors
from penstock.kernels.host_loops import vectorised
from penstock.kernels.known_inputs import known_number
from penstock.kernels.registry import kernel
from penstock.kernels.values import torch_type

_SHORT_ROW = 512  # entries, up to which sorting a whole row is cheaper than selecting from it
_ORDER = {
    torch.uint16: lambda x: x.to(torch.int32),
    torch.uint32: lambda x: x.to(torch.int64),
    # With the sign bit flipped, integers of 64 bits sort as unsigned ones do.
    torch.uint64: lambda x: x.view(torch.int64) ^ torch.iinfo(torch.int64).min,
}


def _largest(x, k):
    """The positions of the k largest entries of the last dimension, in order."""
    order = _ORDER.get(x.dtype)
    if order is not None:
        x = order(x)
    length = x.shape[-1]
    if k == 1:
        return x.max(-1, keepdim=True).indices
    if 4 * k <= length and x.is_cpu:  # to ask would wait for a GPU
        first, found = x.topk(k + 1, dim=-1, sorted=True)
        # Without equal entries among the first there is but one order. NaN equals nothing.
        if bool((first[..., 1:] < first[..., :-1]).all()):
            return found[..., :k]
    if length <= _SHORT_ROW or 4 * k > length:
        return x.sort(dim=-1, descending=True, stable=True).indices[..., :k]
    # Everything above the k-th largest value is chosen, and the first ones of those equal to it.
    bound = x.topk(k, dim=-1, sorted=True).values[..., -1:]
    from_behind = torch.arange(length, 0, -1, dtype=torch.int32, device=x.device)
    score = torch.where(x > bound, length + 1, torch.where(x == bound, from_behind, 0))
    chosen = score.topk(k, dim=-1, sorted=False).indices.sort(dim=-1).values
    by_value = x.gather(-1, chosen).sort(dim=-1, descending=True, stable=True).indices
    return chosen.gather(-1, by_value)


def _check(x, k):
    if x.dim() == 0:
        raise errors.InvalidArgumentError(None, None, "input must be >= 1-D, got shape []")
    if k < 0:
        raise errors.InvalidArgumentError(None, None, f"Need k >= 0, got {k}")
    if x.shape[-1] < k:
        raise errors.InvalidArgumentError(
            None, None, f"input must have at least k columns. Had {x.shape[-1]}, needed {k}"
        )


def _top_k(x, k, index_type):
    _check(x, k)
    if k == 0 or x.numel() == 0:
        shape = (*x.shape[:-1], k)
        return x.new_empty(shape), torch.empty(shape, dtype=index_type, device=x.device)
    positions = _largest(x, k)
    if x.dtype in _ORDER:
        signed = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}
        values = x.view(signed[x.dtype]).gather(-1, positions).view(x.dtype)
    else:
        values = x.gather(-1, positions)
    return values, positions.to(index_type)


@kernel("TopK", fresh=True)
def _(node):
    k = node.attrs["k"]
    return lambda x: _top_k(x, k, torch.int32)


@kernel("TopKV2", fresh=True)
def _(node, env):
    known = known_number(node, env, 1)
    index_type = torch_type(node.dtypes[1])
    if known is not None:
        return lambda x, _: _top_k(x, known, index_type)
    return lambda x, k: _top_k(x, int(k), index_type)


def _in_top_k(predictions, targets, k):
    if predictions.dim() != 2 or targets.dim() != 1 or len(predictions) != len(targets):
        raise ValueError("there must be one target per row of predictions")
    classes = predictions.shape[1]
    if classes == 0:
        return torch.zeros(len(targets), dtype=torch.bool, device=targets.device)
    known = (targets >= 0) & (targets < classes)
    column = targets.clamp(0, classes - 1).long().unsqueeze(1)
    better = _is_greater(predictions, predictions.gather(1, column)).sum(1, dtype=torch.int32)
    # A row with an infinity or NaN says nothing; only then the sum of zeros is not zero.
    finite = predictions.mul(0).sum(1) == 0
    return (better < k) & known & finite


_is_greater = vectorised(torch.gt, np.greater)


@kernel("InTopK", fresh=True)
def _(node):
    k = node.attrs["k"]
    return lambda predictions, targets: _in_top_k(predictions, targets, k)


@kernel("InTopKV2", fresh=True)
def _(node, env):
    known = known_number(node, env, 2)
    if known is not None:
        return lambda predictions, targets, _: _in_top_k(predictions, targets, known)
    return _in_top_k
