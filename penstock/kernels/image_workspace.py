"""One picture resized in memory that its thread keeps.

Input pipelines resize pictures one by one, many of the same size. What is computed in between is
larger than the picture; in fresh memory it would push the picture out of the processor's cache.
"""

from __future__ import annotations

import threading

import torch

_MOST_NUMBERS = 1 << 20  # in between; larger pictures don't stay in a cache anyway
_TYPES = (torch.uint8, torch.float32)


class _Workspace:
    """The way from pictures of one size and type to another size: rows first, then columns."""

    def __init__(self, dtype, rows, columns, width, channels):
        self._key = dtype, rows, columns, channels
        self._row_pairs, nearer = rows.pairs(1)
        self._nearer_rows = nearer.unsqueeze(1)
        self._column_pairs, self._nearer_columns = columns.pairs(channels)
        count, line = len(nearer), width * channels
        self._lines = torch.empty(2 * count, line)
        self._picked = self._lines if dtype is torch.float32 else self._lines.to(dtype)
        self._low_lines, self._high_lines = self._lines.tensor_split(2)
        self._resized_rows = torch.empty(count, line)
        self._pixels = torch.empty(count, len(self._column_pairs))
        self._low_pixels, self._high_pixels = self._pixels.tensor_split(2, 1)

    def is_for(self, dtype, rows, columns, channels):
        own_dtype, own_rows, own_columns, own_channels = self._key
        return (
            own_rows is rows
            and own_columns is columns
            and own_dtype is dtype
            and own_channels == channels
        )

    def resized(self, lines):
        """The numbers of the result, row by row, of a picture given as its rows of numbers."""
        torch.index_select(lines, 0, self._row_pairs, out=self._picked)
        if self._picked is not self._lines:
            self._lines.copy_(self._picked)
        torch.lerp(self._low_lines, self._high_lines, self._nearer_rows, out=self._resized_rows)
        torch.index_select(self._resized_rows, 1, self._column_pairs, out=self._pixels)
        return torch.lerp(self._low_pixels, self._high_pixels, self._nearer_columns)


class _Kept(threading.local):
    """The workspace that a thread used last."""

    workspace: _Workspace | None = None


_kept = _Kept()


def resized_picture(images, rows, columns):
    """A batch of one picture resized by pairs of taps; None for what is not worth a workspace."""
    count, height, width, channels = images.shape
    new_height, new_width = rows.indices.shape[1], columns.indices.shape[1]
    numbers = channels * new_height * (2 * width + new_width)
    if (
        count != 1
        or numbers > _MOST_NUMBERS
        or images.dtype not in _TYPES
        or images.device.type != "cpu"
    ):
        return None
    found = _kept.workspace
    if found is None or not found.is_for(images.dtype, rows, columns, channels):
        _kept.workspace = found = _Workspace(images.dtype, rows, columns, width, channels)
    lines = images.reshape(height, width * channels)
    return found.resized(lines).view(1, new_height, new_width, channels)
