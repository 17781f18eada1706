"""The kernel of NthElement."""

import torch

from penstock.errors import InvalidArgumentError
from penstock.kernels.registry import kernel

_UNSORTABLE = {torch.uint16: torch.int32, torch.uint32: torch.int64, torch.bfloat16: torch.float32}


@kernel("NthElement", fresh=True)
def _(node):
    reverse = node.attrs["reverse"]

    def run(x, n):
        place = int(n)
        if place < 0:
            raise InvalidArgumentError(None, None, f"Need n >= 0, got {place}")
        if x.dim() < 1:
            raise InvalidArgumentError(None, None, "Input must be >= 1-D, got shape []")
        size = x.shape[-1]
        if place >= size:
            message = f"Input must have at least n+1 columns, got {size} for n = {place}"
            raise InvalidArgumentError(None, None, message)
        wide = _as_sortable(x)
        taken = wide.kthvalue(size - place if reverse else place + 1, dim=-1).values
        return _like(taken, x.dtype)

    return run


def _as_sortable(x):
    if x.dtype == torch.uint64:  # the order of signed numbers with the first bit turned
        return x.view(torch.int64) ^ torch.iinfo(torch.int64).min
    return x.to(_UNSORTABLE.get(x.dtype, x.dtype))


def _like(taken, dtype):
    if dtype == torch.uint64:
        return (taken ^ torch.iinfo(torch.int64).min).view(torch.uint64)
    return taken.to(dtype)
