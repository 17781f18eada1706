"""Kernels of clipping, and of the L2 loss."""

import torch

from penstock import dtypes, errors
from penstock.kernels.registry import kernel
from penstock.kernels.unsigned import WIDE_UNSIGNED, through_numpy


@kernel("ClipByValue", fresh=True)
def _(node):
    clip = _clip
    if node.attrs["T"] in WIDE_UNSIGNED:
        clip = through_numpy(lambda t, low, high: t.clip(max=high).clip(min=low))

    def run(t, low, high):
        for bound in (low, high):
            if bound.dim() and bound.shape != t.shape:
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    "clip_value_min and clip_value_max must be either of the same shape as input, "
                    f"or a scalar. input shape: {list(t.shape)}, got {list(bound.shape)}",
                )
        return clip(t, low, high)

    return run


def _clip(t, low, high):
    # Not torch.clamp: where low > high, low wins.
    below = torch.minimum(t, high)
    return torch.maximum(below, low, out=below)


@kernel("L2Loss", fresh=True)
def _(node):
    if node.attrs["T"] in (dtypes.float32, dtypes.float64):

        def run(t):
            flat = t.reshape(-1)
            return torch.dot(flat, flat).mul_(0.5)

        return run
    return lambda t: t.float().pow_(2).sum().mul_(0.5).to(t.dtype)
