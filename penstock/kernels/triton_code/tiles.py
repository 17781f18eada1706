"""How images with channels innermost are cut into tiles of some pixels by some channels."""

from __future__ import annotations

import contextlib

import torch
import triton

_ELEMENTS = 1024  # of a tile
_WIDTHS = (128, 64, 32)


def channels_of_tile(channels):
    """A power of two such that few channels of the last tile are left over."""
    if channels <= _WIDTHS[-1]:
        return triton.next_power_of_2(channels)
    return min(_WIDTHS, key=lambda width: (-channels % width) / channels + 8 / width)


def tile(channels):
    """The pixels and the channels of a tile."""
    width = channels_of_tile(channels)
    return _ELEMENTS // width, width


def on_device_of(tensor):
    """Makes the tensor's GPU the current one, which is where Triton launches."""
    if not tensor.is_cuda or tensor.device.index == torch.cuda.current_device():
        return contextlib.nullcontext()
    return torch.cuda.device(tensor.device)
