"""The kernel of patches of volumes."""

import math

import torch

from penstock import errors
from penstock.kernels.registry import kernel
from penstock.kernels.signed_bits import moving
from penstock.ops.window import output_size_or_nothing, same_pads


@kernel("ExtractVolumePatches", fresh=True)
def _(node):
    for key in ("ksizes", "strides"):
        first, *_, last = node.attrs[key]
        if (first, last) != (1, 1):
            raise errors.UnimplementedError(
                None, None, f"Only support {key} across space, got {node.attrs[key]}"
            )
    windows, strides = node.attrs["ksizes"][1:4], node.attrs["strides"][1:4]
    padding = node.attrs["padding"]

    def run(volumes):
        if volumes.dim() != 5:
            raise errors.InvalidArgumentError(
                None, None, f"input must be 5-dimensional: {list(volumes.shape)}"
            )
        batch, *sizes, depth = volumes.shape
        along = list(zip(sizes, windows, strides, strict=True))
        counts = [output_size_or_nothing(*each, padding) for each in along]
        if padding == "SAME":
            pads = [same_pads(*each) for each in reversed(along)]
            volumes = torch.constant_pad_nd(volumes, [0, 0, *(n for pair in pads for n in pair)])
        volumes = volumes.contiguous()
        outer, *inner, channel = volumes.stride()
        steps = [a * b for a, b in zip(inner, strides, strict=True)]
        seen = volumes.as_strided(
            (batch, *counts, *windows, depth), (outer, *steps, *inner, channel)
        )
        copied = seen.clone(memory_format=torch.contiguous_format)
        return copied.view(batch, *counts, math.prod(windows) * depth)

    return moving(node, run)
