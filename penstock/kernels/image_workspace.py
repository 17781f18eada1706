"""One picture resized in memory that its thread keeps.

Input pipelines resize pictures one by one, many of the same size. What is computed in between is
larger than the picture; in fresh memory it would push the picture out of the processor's cache.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import threading

import torch

from penstock.kernels.image_taps import bilinear_taps
from penstock.kernels.offered_memory import offered_or_new
from penstock.kernels.with_compiler import NativeCode

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


class _ByAten:
    """A picture resized by ATen's functions: rows first, then columns."""

    def __init__(self, picture, rows, columns):
        _, height, width, channels = picture.shape
        self._lines_shape = height, width * channels
        self._row_resizer = _row_resizer(picture.dtype, rows, *self._lines_shape)
        self._column_pairs, self._nearer_columns = columns.pairs(channels)
        new_height, new_width = rows.indices.shape[1], columns.indices.shape[1]
        self._pixels = torch.empty(new_height, len(self._column_pairs))
        self._low_pixels, self._high_pixels = self._pixels.tensor_split(2, 1)
        self._new_shape = 1, new_height, new_width, channels

    def resized(self, picture):
        _native.count_use()
        lines = self._row_resizer.resized(picture.reshape(self._lines_shape))
        torch.index_select(lines, 1, self._column_pairs, out=self._pixels)
        result = offered_or_new(self._new_shape)
        out = result.view(self._low_pixels.shape)
        torch.lerp(self._low_pixels, self._high_pixels, self._nearer_columns, out=out)
        return result


def _row_resizer(dtype, rows, height, line):
    sum_rows = _sum_of_byte_rows() if dtype is torch.uint8 else None
    if sum_rows is None:
        return _FloatRows(dtype, rows, line)
    return _ByteRows(sum_rows, rows, height, line)


class _Axis(ctypes.Structure):
    """An axis of the result in native_code/resize.cpp."""

    _fields_ = (
        ("size", ctypes.c_int64),
        ("pixels", ctypes.c_void_p),
        ("weights", ctypes.c_void_p),
    )

    @classmethod
    def of(cls, taps):
        return cls(taps.indices.shape[1], taps.indices.data_ptr(), taps.weights.data_ptr())


class _Resizing(ctypes.Structure):
    """What native_code/resize.cpp knows of a picture and its new size."""

    _fields_ = (
        ("rows", _Axis),
        ("columns", _Axis),
        ("channels", ctypes.c_int64),
        ("line_size", ctypes.c_int64),
        ("line", ctypes.c_void_p),
    )


class _Natively:
    """The same by compiled code of our own, whose memory is a line of the picture."""

    def __init__(self, library, picture, rows, columns):
        _, _, width, channels = picture.shape
        self._held = rows, columns, line = rows, columns, torch.empty(width * channels + 1)
        self._resizing = _Resizing(
            _Axis.of(rows), _Axis.of(columns), channels, width * channels, line.data_ptr()
        )
        self._address = ctypes.addressof(self._resizing)
        is_bytes = picture.dtype is torch.uint8
        self._resize = library.resize_bytes if is_bytes else library.resize_floats
        self._resize.argtypes = (ctypes.c_void_p,) * 3
        self._resize.restype = None
        self._new_shape = 1, rows.indices.shape[1], columns.indices.shape[1], channels

    def resized(self, picture):
        picture = picture.contiguous()
        result = offered_or_new(self._new_shape)
        self._resize(self._address, picture.data_ptr(), result.data_ptr())
        return result


_MANY_PICTURES = 2000


def _agrees(library):
    """Whether compiled code gives ATen's values, for sizes with and without remainders."""
    for dtype, channels in itertools.product(_TYPES, (1, 2, 3)):
        for size, new_size in (((24, 33), (13, 17)), ((97, 64), (32, 32)), ((9, 14), (20, 30))):
            numbers = torch.arange(size[0] * size[1] * channels) * 7919 % 256
            picture = numbers.to(dtype).view(1, *size, channels)
            pairs = zip(size, new_size, strict=True)
            taps = [bilinear_taps(*pair, False, True, picture.device) for pair in pairs]
            found = _Natively(library, picture, *taps).resized(picture)
            if not torch.equal(found, _ByAten(picture, *taps).resized(picture)):
                return False
    return True


_native = NativeCode("resize.cpp", _MANY_PICTURES, _agrees)


class _Workspace:
    """The way from a picture of one size and type to another size."""

    def __init__(self, picture, rows, columns):
        self._shape, self._dtype = picture.shape, picture.dtype
        self._rows, self._columns = rows, columns
        self._library = library = _native.library
        if library is None:
            self.resized = _ByAten(picture, rows, columns).resized
        else:
            self.resized = _Natively(library, picture, rows, columns).resized

    def is_for(self, images, rows, columns):
        return (
            self._rows is rows
            and self._columns is columns
            and self._shape == images.shape
            and self._dtype is images.dtype
            and self._library is _native.library
        )


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
