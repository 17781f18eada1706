"""Largest values of windows, over images with channels innermost.

The place of a window's largest value is kept in a byte, as its number within the window; ATen keeps
eight bytes. The gradient asks, for each pixel, the windows that it belongs to: it writes every
pixel once, and nothing has to be cleared before.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from penstock.kernels.triton_code.tiles import on_device_of, tile


@triton.jit
def _forward(
    image,
    largest,
    places,
    height,
    width,
    channels,
    rows,
    columns,
    top,
    left,
    window_height: tl.constexpr,
    window_width: tl.constexpr,
    stride_height: tl.constexpr,
    stride_width: tl.constexpr,
    keeps: tl.constexpr,
    pixels_of_tile: tl.constexpr,
    channels_of_tile: tl.constexpr,
):
    number = tl.program_id(0) // rows
    row = tl.program_id(0) % rows
    column = tl.program_id(1) * pixels_of_tile + tl.arange(0, pixels_of_tile)
    channel = tl.program_id(2) * channels_of_tile + tl.arange(0, channels_of_tile)
    image += number.to(tl.int64) * height * width * channels
    best = tl.full((pixels_of_tile, channels_of_tile), float("-inf"), image.dtype.element_ty)
    place = tl.full((pixels_of_tile, channels_of_tile), -1, tl.int32)
    for i in tl.static_range(window_height):
        y = row * stride_height - top + i
        for j in tl.static_range(window_width):
            x = column * stride_width - left + j
            inside = (y >= 0) & (y < height) & (x >= 0) & (x < width) & (column < columns)
            mask = inside[:, None] & (channel < channels)[None, :]
            offsets = (y * width + x)[:, None] * channels + channel[None, :]
            value = tl.load(image + offsets, mask=mask, other=float("-inf"))
            better = mask & ((value > best) | (value != value) | (place < 0))
            best = tl.where(better, value, best)
            place = tl.where(better, i * window_width + j, place)
    mask = (column < columns)[:, None] & (channel < channels)[None, :]
    start = (number * rows + row).to(tl.int64) * columns * channels
    offsets = column[:, None] * channels + channel[None, :]
    tl.store(largest + start + offsets, best, mask=mask)
    if keeps:
        tl.store(places + start + offsets, place.to(tl.uint8), mask=mask)


@triton.jit
def _backward(
    gradient,
    places,
    spread,
    height,
    width,
    channels,
    rows,
    columns,
    top,
    left,
    window_height: tl.constexpr,
    window_width: tl.constexpr,
    stride_height: tl.constexpr,
    stride_width: tl.constexpr,
    pixels_of_tile: tl.constexpr,
    channels_of_tile: tl.constexpr,
):
    number = tl.program_id(0) // height
    y = tl.program_id(0) % height
    x = tl.program_id(1) * pixels_of_tile + tl.arange(0, pixels_of_tile)
    channel = tl.program_id(2) * channels_of_tile + tl.arange(0, channels_of_tile)
    start = number.to(tl.int64) * rows * columns * channels
    gradient += start
    places += start
    total = tl.zeros((pixels_of_tile, channels_of_tile), tl.float32)
    if spread.dtype.element_ty == tl.float64:
        total = total.to(tl.float64)
    for i in tl.static_range((window_height + stride_height - 1) // stride_height):
        row = (y + top) // stride_height - i
        down = y + top - row * stride_height
        for j in tl.static_range((window_width + stride_width - 1) // stride_width):
            column = (x + left) // stride_width - j
            right = x + left - column * stride_width
            inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
            inside = inside & (down < window_height) & (right < window_width) & (x < width)
            mask = inside[:, None] & (channel < channels)[None, :]
            offsets = (row * columns + column)[:, None] * channels + channel[None, :]
            place = tl.load(places + offsets, mask=mask, other=255)
            value = tl.load(gradient + offsets, mask=mask, other=0.0)
            here = place.to(tl.int32) == (down * window_width + right)[:, None]
            total += tl.where(mask & here, value, 0.0).to(total.dtype)
    mask = (x < width)[:, None] & (channel < channels)[None, :]
    start = (number * height + y).to(tl.int64) * width * channels
    offsets = x[:, None] * channels + channel[None, :]
    tl.store(spread + start + offsets, total.to(spread.dtype.element_ty), mask=mask)


def largest(image, windows, strides, before, outputs, keeps):
    """The largest values of a channels-first image with channels innermost in memory.

    `before` is the padding above and left of it, `outputs` are the rows and columns of windows.
    With `keeps` also their places.
    """
    batch, channels, height, width = image.shape
    rows, columns = outputs
    found = torch.empty(
        (batch, channels, rows, columns),
        dtype=image.dtype,
        device=image.device,
        memory_format=torch.channels_last,
    )
    places = torch.empty_like(found, dtype=torch.uint8) if keeps else found
    pixels, width_of_tile = tile(channels)
    grid = (batch * rows, triton.cdiv(columns, pixels), triton.cdiv(channels, width_of_tile))
    if found.numel():
        with on_device_of(image):
            _forward[grid](
                image,
                found,
                places,
                height,
                width,
                channels,
                rows,
                columns,
                *before,
                *windows,
                *strides,
                keeps,
                pixels,
                width_of_tile,
            )
    return (found, places) if keeps else found


def gradient(grad, places, sizes, windows, strides, before):
    """The gradient for an image of the spatial sizes `sizes`, of what `largest` gave and kept."""
    batch, channels, rows, columns = grad.shape
    height, width = sizes
    grad = grad.contiguous(memory_format=torch.channels_last)
    spread = torch.empty(
        (batch, channels, height, width),
        dtype=grad.dtype,
        device=grad.device,
        memory_format=torch.channels_last,
    )
    pixels, width_of_tile = tile(channels)
    grid = (batch * height, triton.cdiv(width, pixels), triton.cdiv(channels, width_of_tile))
    if spread.numel():
        with on_device_of(grad):
            _backward[grid](
                grad,
                places,
                spread,
                height,
                width,
                channels,
                rows,
                columns,
                *before,
                *windows,
                *strides,
                pixels,
                width_of_tile,
            )
    return spread
