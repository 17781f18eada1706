"""Kernels of masks."""

import torch

from penstock import errors
from penstock.kernels.registry import kernel
from penstock.kernels.signed_bits import as_signed


@kernel("Where", fresh=True)
def _(node):
    def run(x):
        if x.dim() == 0:
            raise errors.InvalidArgumentError(None, None, "WhereOp : Unhandled input dimensions: 0")
        return torch.nonzero(as_signed(x))

    return run
