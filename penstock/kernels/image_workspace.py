"""One picture resized in memory that its thread keeps.

Input pipelines resize pictures one by one, many of the same size. What is computed in between is
larger than the picture; in fresh memory it would push the picture out of the processor's cache.
"""

from __future__ import annotations

import functools
import threading

import torch

_MOST_NUMBERS = 1 << 20  # in between; larger pictures don't stay in a cache anyway
_TYPES = (torch.uint8, torch.float32)


class _FloatRows:
    """Rows of a picture between pairs of its rows, each line of numbers picked, then mixed."""

    def __init__(self, dtype, rows, line):
        self._pairs, nearer = rows.pairs(1)
        self._nearer = nearer.unsqueeze(1)
        self._lines = torch.empty(2 * len(nearer), line)
        self._picked = self._lines if dtype is torch.float32 else self._lines.to(dtype)
        self._low, self._high = self._lines.tensor_split(2)
        self._result = torch.empty(len(nearer), line)

    def resized(self, lines):
        torch.index_select(lines, 0, self._pairs, out=self._picked)
        if self._picked is not self._lines:
            self._lines.copy_(self._picked)
        return torch.lerp(self._low, self._high, self._nearer, out=self._result)


@functools.cache
def _sum_of_byte_rows():
    """ATen's function that adds up rows of bytes with weights, where it has a fast one.

    It is made for embeddings that are stored as bytes: two numbers behind each row say what the
    row is multiplied with and what is added.
    """
    if "fbgemm" not in torch.backends.quantized.supported_engines:
        return None
    found = getattr(torch.ops.quantized, "embedding_bag_byte_rowwise_offsets", None)
    return None if found is None else found.default


class _ByteRows:
    """The same for bytes, in one pass over them.

    The weights of a pair add up to one exactly and the second product is rounded with the sum:
    so between two equal rows lies that row, as if the difference were taken first.
    """

    def __init__(self, sum_rows, rows, height, line):
        self._sum_rows = sum_rows
        factors = torch.tensor([1.0, 0.0]).view(torch.uint8)
        self._table = torch.empty(height, line + len(factors), dtype=torch.uint8)
        self._table[:, line:] = factors
        self._picture = self._table[:, :line]
        self._indices = rows.indices.t().flatten()
        self._weights = rows.weights.t().flatten()
        self._starts = torch.arange(0, len(self._indices), 2)

    def resized(self, lines):
        self._picture.copy_(lines)
        return self._sum_rows(
            self._table, self._indices, self._starts, False, 0, False, self._weights, None, False
        )


class _Workspace:
    """The way from a picture of one size and type to another size: rows first, then columns."""

    def __init__(self, picture, rows, columns):
        _, height, width, channels = self._shape = picture.shape
        self._dtype, self._rows, self._columns = picture.dtype, rows, columns
        self._lines_shape = height, width * channels
        self._row_resizer = _row_resizer(picture.dtype, rows, *self._lines_shape)
        self._column_pairs, self._nearer_columns = columns.pairs(channels)
        new_height, new_width = rows.indices.shape[1], columns.indices.shape[1]
        self._pixels = torch.empty(new_height, len(self._column_pairs))
        self._low_pixels, self._high_pixels = self._pixels.tensor_split(2, 1)
        self._new_shape = 1, new_height, new_width, channels

    def is_for(self, images, rows, columns):
        return (
            self._rows is rows
            and self._columns is columns
            and self._shape == images.shape
            and self._dtype is images.dtype
        )

    def resized(self, picture):
        lines = self._row_resizer.resized(picture.reshape(self._lines_shape))
        torch.index_select(lines, 1, self._column_pairs, out=self._pixels)
        pixels = torch.lerp(self._low_pixels, self._high_pixels, self._nearer_columns)
        return pixels.view(self._new_shape)


def _row_resizer(dtype, rows, height, line):
    sum_rows = _sum_of_byte_rows() if dtype is torch.uint8 else None
    if sum_rows is None:
        return _FloatRows(dtype, rows, line)
    return _ByteRows(sum_rows, rows, height, line)


class _Kept(threading.local):
    """The workspace that a thread used last."""

    workspace: _Workspace | None = None


_kept = _Kept()


def kept_workspace(images, rows, columns):
    """The workspace of this thread if it is for such images, which are to be resized by these."""
    found = _kept.workspace
    return found if found is not None and found.is_for(images, rows, columns) else None


def new_workspace(images, rows, columns):
    """A workspace for a batch of one picture and pairs of taps; None if it is not worth one."""
    count, _, width, channels = images.shape
    new_height, new_width = rows.indices.shape[1], columns.indices.shape[1]
    numbers = channels * new_height * (2 * width + new_width)
    if (
        count != 1
        or numbers > _MOST_NUMBERS
        or images.dtype not in _TYPES
        or images.device.type != "cpu"
    ):
        return None
    _kept.workspace = _Workspace(images, rows, columns)
    return _kept.workspace
