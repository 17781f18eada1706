"""Sums over all pixels, one for each channel, and a ReLU's gradient on the way."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from penstock.kernels.triton_code.tiles import on_device_of, tile

_PROGRAMS = 528  # enough of them for all processors of a card
_PARTS, _CHANNELS = 128, 32  # of a tile of partial sums


@triton.jit
def _sums(
    gradient,
    features,
    passed,
    parts,
    count,
    channels,
    gradient_stride,
    features_stride,
    each,
    rectifies: tl.constexpr,
    rows_of_tile: tl.constexpr,
    channels_of_tile: tl.constexpr,
):
    """Each program sums `each` rows of some channels, for a last sum over the programs."""
    first = tl.program_id(0).to(tl.int64) * each
    channel = tl.program_id(1) * channels_of_tile + tl.arange(0, channels_of_tile)
    total = tl.zeros((rows_of_tile, channels_of_tile), tl.float32)
    for start in range(0, each, rows_of_tile):
        row = first + start + tl.arange(0, rows_of_tile)
        mask = (row < count)[:, None] & (channel < channels)[None, :]
        offsets = row[:, None] * gradient_stride + channel[None, :]
        value = tl.load(gradient + offsets, mask=mask, other=0.0)
        if rectifies:
            offsets = row[:, None] * features_stride + channel[None, :]
            feature = tl.load(features + offsets, mask=mask, other=0.0)
            value = tl.where(feature <= 0, 0.0, value)
            tl.store(passed + row[:, None] * channels + channel[None, :], value, mask=mask)
        total += tl.where(mask, value, 0.0)
    offsets = tl.program_id(0) * channels + channel
    tl.store(parts + offsets, tl.sum(total, 0), mask=channel < channels)


@triton.jit
def _last_sum(
    parts, total, count, channels, parts_of_tile: tl.constexpr, channels_of_tile: tl.constexpr
):
    channel = tl.program_id(0) * channels_of_tile + tl.arange(0, channels_of_tile)
    found = tl.zeros((parts_of_tile, channels_of_tile), tl.float32)
    for start in range(0, count, parts_of_tile):
        part = start + tl.arange(0, parts_of_tile)
        mask = (part < count)[:, None] & (channel < channels)[None, :]
        offsets = part[:, None] * channels + channel[None, :]
        found += tl.load(parts + offsets, mask=mask, other=0.0)
    tl.store(total + channel, tl.sum(found, 0), mask=channel < channels)


def row_stride(value):
    """How far apart the rows of channels lie in memory, None where that is not uniform."""
    if value.dim() < 2 or value.stride(-1) != 1:
        return None
    for axis in range(value.dim() - 2):
        if value.stride(axis) != value.stride(axis + 1) * value.shape[axis + 1]:
            return None
    return value.stride(-2)


def _launch(gradient, features, passed):
    channels = gradient.shape[-1]
    count = gradient.numel() // channels
    stride = row_stride(gradient)
    rows_of_tile, width = tile(channels)
    across = triton.cdiv(channels, width)
    each = triton.cdiv(triton.cdiv(count, max(1, _PROGRAMS // across)), rows_of_tile)
    each *= rows_of_tile
    programs = triton.cdiv(count, each)
    parts = torch.empty((programs, channels), dtype=torch.float32, device=gradient.device)
    rectifies = features is not None
    with on_device_of(gradient):
        _sums[(programs, across)](
            gradient,
            features if rectifies else gradient,
            passed if rectifies else gradient,
            parts,
            count,
            channels,
            stride,
            row_stride(features) if rectifies else 0,
            each,
            rectifies,
            rows_of_tile,
            width,
        )
        total = torch.empty(channels, dtype=torch.float32, device=gradient.device)
        grid = (triton.cdiv(channels, _CHANNELS),)
        _last_sum[grid](parts, total, programs, channels, _PARTS, _CHANNELS)
    return total


def _fits(*values):
    return all(
        value.dtype is torch.float32 and value.numel() and row_stride(value) is not None
        for value in values
    )


def channel_sums(value):
    """The sum of all but the last dimension; None for a value that lies otherwise in memory."""
    return _launch(value, None, None) if _fits(value) else None


def rectified(gradient, features):
    """What passes a ReLU of a gradient, and its sums by channel; None as `channel_sums`."""
    if not _fits(gradient, features):
        return None
    passed = torch.empty(gradient.shape, dtype=gradient.dtype, device=gradient.device)
    return passed, _launch(gradient, features, passed)
