"""Kernels of clipping, and of the L2 loss."""

import torch

from penstock import dtypes
from penstock.kernels.registry import kernel
from penstock.kernels.unsigned import WIDE_UNSIGNED, through_numpy


@kernel("ClipByValue", fresh=True)
def _(node):
    if node.attrs["T"] in WIDE_UNSIGNED:
        return through_numpy(lambda t, low, high: t.clip(max=high).clip(min=low))

    # Not torch.clamp: where low > high, low wins.
    def run(t, low, high):
        below = torch.minimum(t, high)
        return torch.maximum(below, low, out=below)

    return run


@kernel("L2Loss", fresh=True)
def _(node):
    if node.attrs["T"] in (dtypes.float32, dtypes.float64):

        def run(t):
            flat = t.reshape(-1)
            return torch.dot(flat, flat).mul_(0.5)

        return run
    return lambda t: t.float().square_().sum().mul_(0.5).to(t.dtype)
