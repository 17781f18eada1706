"""Kernels of masks."""

import torch

from penstock import errors
from penstock.kernels.gather import as_signed
from penstock.kernels.registry import kernel


@kernel("Where", fresh=True)
def _(node):
    def run(x):
        if x.dim() == 0:
            raise errors.InvalidArgumentError(None, None, "WhereOp : Unhandled input dimensions: 0")
        return torch.nonzero(as_signed(x))

    return run
