"""Datasets of the records or lines of files."""

from __future__ import annotations

import gzip
import io
import itertools
import zlib
from contextlib import contextmanager

import numpy as np

from penstock import errors
from penstock.kernels.datasets.recipes import dataset_kernel
from penstock.kernels.datasets.rows import Kinds, RowElements, Strings
from penstock.kernels.sparse_rows import invalid
from penstock.platform.file_errors import file_errors
from penstock.platform.paths import open_file
from penstock.platform.record_files import RecordReader
from penstock.state.datasets import Context, Dataset, Elements


def scalar_string(data: bytes) -> np.ndarray:
    """A string as a runtime value."""
    value = np.empty((), dtype=object)
    value[()] = data
    return value


_STRING = Kinds([Strings()])


class _Files(RowElements):
    """The records of one file after the other; `open_one(name)` gives a reader with `read_several`.

    The place in a file is the number of records that were read of it, or the reader's own `offset`.
    """

    def __init__(self, names, open_one):
        self._names, self._open_one = names, open_one
        self._file = 0
        self._records = 0
        self._reader = None

    def several(self, most):
        while self._file < len(self._names):
            if self._reader is None:
                self._records = 0
                self._reader = self._open_one(self._names[self._file])
            try:
                records = self._reader.read_several(most)
            except errors.OpError:
                self._next_file()  # what is left of a damaged file is not trusted
                raise
            if records:
                self._records += len(records)
                return _STRING.rows(records)
            self._next_file()
        return []

    def _next_file(self):
        self._file += 1
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def save(self):
        return [self._file, None if self._reader is None else self._records]

    def restore(self, state):
        self._file, records = state
        self._reader, self._records = None, 0
        if records is not None:
            self._reader = self._open_one(self._names[self._file])
            while self._records < records:
                passed = len(self._reader.read_several(records - self._records))
                if not passed:
                    break
                self._records += passed
            self._records = records

    def close(self):
        if self._reader is not None:
            self._reader.close()


class _FilesDataset(Dataset):
    def __init__(self, names, open_one):
        self._names, self._open_one = names, open_one

    @property
    def is_plain(self) -> bool:
        return True

    def iterate(self, context: Context) -> Elements:
        return _Files(self._names, self._open_one)


def file_names(value):
    if value.ndim > 1:
        raise invalid("`filenames` must be a scalar or a vector.")
    return [name.decode() for name in value.reshape(-1)]


def compression_of(value, complaint="Unsupported compression_type "):
    name = value.item().decode()
    if name not in ("", "GZIP", "ZLIB"):
        raise invalid(f"{complaint}{name}.")
    return name


@dataset_kernel("TFRecordDataset")
def _(node):
    def run(names, compression, buffer_size, *offsets):
        kind = compression_of(compression)
        if int(buffer_size) < 0:
            raise invalid("`buffer_size` must be >= 0 (0 == no buffering)")
        return _FilesDataset(file_names(names), lambda name: RecordReader(name, kind))

    return run


class _Inflating(io.RawIOBase):
    """A zlib file as it is read."""

    def __init__(self, file):
        self._file, self._inflater = file, zlib.decompressobj()

    def readable(self):
        return True

    def readinto(self, buffer):
        data = b""
        while not data and not self._inflater.eof:
            chunk = self._inflater.unconsumed_tail or self._file.read(1 << 16)
            if not chunk:
                return 0
            data = self._inflater.decompress(chunk, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self):
        self._file.close()
        super().close()


class _Gunzipping(gzip.GzipFile):
    """A gzip file that closes what it reads."""

    def __init__(self, file):
        super().__init__(fileobj=file)
        self._packed = file

    def close(self):
        super().close()
        self._packed.close()


@contextmanager
def inflate_errors():
    """A block in which bytes that were not packed as they should be are lost data."""
    try:
        yield
    except gzip.BadGzipFile:
        message = "inflate() failed with error -3: incorrect header check"
        raise errors.DataLossError(None, None, message) from None
    except (zlib.error, EOFError) as error:
        raise errors.DataLossError(None, None, f"inflate() failed: {error}") from None


def open_text(name, compression):
    """A file's bytes, uncompressed."""
    file = open_file(name, "rb")
    if compression == "GZIP":
        return _Gunzipping(file)
    return io.BufferedReader(_Inflating(file)) if compression == "ZLIB" else file


class _Lines:
    """The lines of a file, without their ends: LF or CR LF."""

    def __init__(self, name, compression):
        self._name = name
        self._file = open_text(name, compression)

    def read_several(self, most):
        lines = []
        try:
            with file_errors(self._name), inflate_errors():
                lines.extend(map(_without_end, itertools.islice(self._file, most)))
        except Exception:
            if not lines:
                raise  # else the next call does
        return lines

    def close(self):
        self._file.close()


def _without_end(line):
    if line.endswith(b"\n"):
        line = line[:-1]
    return line[:-1] if line.endswith(b"\r") else line


@dataset_kernel("TextLineDataset")
def _(node):
    def run(names, compression, buffer_size):
        kind = compression_of(compression)
        if int(buffer_size) < 0:
            raise invalid("`buffer_size` must be >= 0 (0 == default)")
        return _FilesDataset(file_names(names), lambda name: _Lines(name, kind))

    return run


class _FixedLength:
    """Records of one length, between a header and a footer."""

    def __init__(self, name, header, length, footer, compression):
        self._length = length
        if compression:
            with open_text(name, compression) as whole, inflate_errors():
                data = whole.read()
            self._file, size = io.BytesIO(data), len(data)
        else:
            self._file = open_file(name, "rb")
            size = self._file.seek(0, 2)
        body = size - header - footer
        if body % length:
            self._file.close()
            raise invalid(
                f"Excluding the header ({header} bytes) and footer ({footer} bytes), input file "
                f'"{name}" has body length {body} bytes, which is not an exact multiple of the '
                f"record length ({length} bytes)."
            )
        self._left = body // length
        self._file.seek(header)

    def read_several(self, most):
        count = min(most, self._left)
        self._left -= count
        return [self._file.read(self._length) for _ in range(count)]

    def close(self):
        self._file.close()


@dataset_kernel("FixedLengthRecordDataset", "FixedLengthRecordDatasetV2")
def _(node):
    def run(names, header, length, footer, buffer_size, compression=None):
        header, length, footer = int(header), int(length), int(footer)
        if header < 0:
            raise invalid("`header_bytes` must be >= 0")
        if length <= 0:
            raise invalid("`record_bytes` must be > 0")
        if footer < 0:
            raise invalid("`footer_bytes` must be >= 0")
        if int(buffer_size) < 0:
            raise invalid("`buffer_size` must be >= 0 (0 == default)")
        kind = "" if compression is None else compression_of(compression)
        return _FilesDataset(
            file_names(names), lambda name: _FixedLength(name, header, length, footer, kind)
        )

    return run
