"""Records in a file, each with its length and two checksums: the frame of TFRecord and event files.

A record is its length (8 bytes), the length's masked CRC-32C (4 bytes), the data, and the data's
masked CRC-32C (4 bytes), little-endian. The whole file may be compressed by zlib or gzip.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from typing import IO, Any, Protocol

import numpy as np

from penstock import errors
from penstock.platform import crc32c
from penstock.platform.file_errors import file_errors
from penstock.platform.paths import as_path, open_file

_HEADER = struct.Struct("<QI")
_FOOTER = struct.Struct("<I")
_LENGTH = struct.Struct("<Q")

FRAME_SIZE = _HEADER.size + _FOOTER.size  # bytes that a record has beside its data

_BYTES_OF_CHECK = np.arange(-_FOOTER.size, 0)

_FEWEST_ALIKE = 16  # records whose headers are worth comparing
_BUFFERED = 1 << 18  # bytes that are read ahead
_BLOCK = 1 << 24  # bytes that are read at once

WINDOW_BITS = {"ZLIB": zlib.MAX_WBITS, "GZIP": zlib.MAX_WBITS + 16}


def frame(data: bytes) -> tuple[bytes, bytes, bytes]:
    """A record as it stands in a file: what goes before the data, the data, what goes after."""
    length = _LENGTH.pack(len(data))
    header = length + _FOOTER.pack(crc32c.masked_value(length))
    return header, data, _FOOTER.pack(crc32c.masked_value(data))


class _Source(Protocol):
    """Bytes in sequence that may grow while they are read."""

    def read(self, size: int, /) -> bytes:
        """The next `size` bytes, or as many as there are."""

    def close(self) -> None: ...


class _CompressedSource:
    """A compressed file that is inflated as it is read; several streams may follow each other."""

    _CHUNK = 1 << 16

    def __init__(self, file: IO[bytes], window_bits: int, path: str):
        self._file = file
        self._window_bits = window_bits
        self._path = path
        self._inflater = zlib.decompressobj(window_bits)
        self._compressed = b""
        self._ready = bytearray()

    def read(self, size: int, /) -> bytes:
        while len(self._ready) < size and self._inflate():
            pass
        data = bytes(self._ready[:size])
        del self._ready[:size]
        return data

    def _inflate(self) -> bool:
        """Inflates some more; whether there was anything left."""
        data = self._compressed or self._file.read(self._CHUNK)
        if not data:
            return False
        if self._inflater.eof:
            self._inflater = zlib.decompressobj(self._window_bits)
        try:
            self._ready += self._inflater.decompress(data, 16 * self._CHUNK)
        except zlib.error as error:
            raise errors.DataLossError(
                None, None, f"inflate() failed: {error} (file: {self._path})"
            ) from None
        self._compressed = self._inflater.unconsumed_tail or self._inflater.unused_data
        return True

    def close(self) -> None:
        self._file.close()


class _Headers(dict[bytes, int]):
    """The lengths of records by their headers, each of them checked once."""

    _MOST = 4096

    def __missing__(self, header: bytes) -> int:
        """The length; -1 if the checksum is wrong."""
        length, check = _HEADER.unpack(header)
        if crc32c.masked_value(header[: _LENGTH.size]) != check:
            return -1
        if len(self) >= self._MOST:
            self.clear()
        self[header] = length
        return int(length)


class RecordReader:
    """Reads the records of a file one after the other.

    1. A record is returned only if both its checksums are right.
    2. At the end of the file, and in a record that is not all there yet, the reader stays where it
       is: once the file has grown, reading goes on.
    """

    def __init__(self, path: Any, compression: str = ""):
        self._path = as_path(path)
        # What the file itself would keep for later is kept here, and taken apart without calls.
        self._file = open_file(path, "rb", 0 if not compression else -1)
        self._source: _Source = self._file
        if compression:
            self._source = _CompressedSource(self._file, WINDOW_BITS[compression], self._path)
        self._buffer = b""
        self._place = 0  # in the buffer, of the next record
        self._lengths = _Headers()
        #: Where the next record starts, in the file or, if that is compressed, in its contents.
        self.offset = 0

    def seek(self, offset: int) -> None:
        """Goes to a record's start; only in files that are not compressed."""
        if self._source is not self._file:
            raise errors.UnimplementedError(
                None, None, f"cannot seek in the compressed file {self._path}"
            )
        self._file.seek(offset)
        self._buffer, self._place = b"", 0
        self.offset = offset

    def read(self) -> bytes | None:
        """The next record; None at the end of the file, DataLossError where it is damaged."""
        start = self._place + _HEADER.size
        header = self._buffer[self._place : start]
        if len(header) < _HEADER.size:
            self._fetch(_HEADER.size)
            start = self._place + _HEADER.size
            header = self._buffer[self._place : start]
            if not header:
                return None
            if len(header) < _HEADER.size:
                raise self._damage("truncated", self.offset)
        length = self._lengths[header]
        if length < 0:
            raise self._damage("corrupted", self.offset)
        end = start + length
        if end + _FOOTER.size > len(self._buffer):
            size = _HEADER.size + length + _FOOTER.size
            self._fetch(size)
            if len(self._buffer) - self._place < size:
                raise self._damage("truncated", self.offset)
            start = self._place + _HEADER.size
            end = start + length
        data = self._buffer[start:end]
        if crc32c.masked_value(data) != _FOOTER.unpack_from(self._buffer, end)[0]:
            raise self._damage("corrupted", self.offset + _HEADER.size)
        self.offset += end + _FOOTER.size - self._place
        self._place = end + _FOOTER.size
        return data

    def read_several(self, most: int) -> list[bytes]:
        """Up to `most` further records, as far as they have been read ahead; none at the end.

        Those in front of a damaged one are given; the next call raises.
        """
        first = self.read()
        if first is None:
            return []
        records, ends = self._following(most - 1)
        if not records:
            return [first]
        wrong = np.flatnonzero(crc32c.mask(crc32c.values(records)) != self._checks_before(ends))
        good = int(wrong[0]) if len(wrong) else len(records)
        if good:
            self.offset += ends[good - 1] - self._place
            self._place = ends[good - 1]
        return [first, *records[:good]]

    def _following(self, most: int) -> tuple[list[bytes], list[int]]:
        """Records of the buffer, and where they end in it with what is behind their data."""
        records, ends = self._alike(most)
        buffer, lengths = self._buffer, self._lengths
        place = ends[-1] if ends else self._place
        before, behind, size = _HEADER.size, _FOOTER.size, len(self._buffer)
        while len(records) < most and place + FRAME_SIZE <= size:
            start = place + before
            length = lengths[buffer[place:start]]
            end = start + length
            place = end + behind
            if length < 0 or place > size:
                break
            records.append(buffer[start:end])
            ends.append(place)
        return records, ends

    def _alike(self, most: int) -> tuple[list[bytes], list[int]]:
        """The next records, as far as all have the same length; none if these are few."""
        buffer, start = self._buffer, self._place + _HEADER.size
        header = buffer[self._place : start]
        length = self._lengths[header] if len(header) == _HEADER.size else -1
        size = FRAME_SIZE + length
        count = min(most, (len(buffer) - self._place) // size)
        if length < 0 or count < _FEWEST_ALIKE:
            return [], []
        rows = np.frombuffer(buffer, np.uint8, count * size, self._place).reshape(count, size)
        others = (rows[:, : _HEADER.size] != rows[0, : _HEADER.size]).any(1)
        if others.any():
            count = int(others.argmax())
        starts = range(start, start + count * size, size)
        end = length + _FOOTER.size
        return [buffer[i : i + length] for i in starts], [i + end for i in starts]

    def _checks_before(self, ends: list[int]) -> np.ndarray:
        """The numbers of four bytes in the buffer that end at some places."""
        places = np.array(ends)[:, None] + _BYTES_OF_CHECK
        return np.frombuffer(self._buffer, np.uint8)[places].view("<u4").ravel()

    def _fetch(self, size: int) -> None:
        """Puts the next `size` bytes into the buffer, or as many as there are, and some more."""
        parts = [self._buffer[self._place :]]
        missing = size - len(parts[0])
        with file_errors(self._path):
            while missing > 0:
                # A claimed length is believed one block at a time: memory is for what is there.
                block = self._source.read(min(max(missing, _BUFFERED), _BLOCK))
                if not block:
                    break
                parts.append(block)
                missing -= len(block)
        self._buffer, self._place = b"".join(parts), 0

    def _damage(self, how: str, offset: int) -> errors.DataLossError:
        return errors.DataLossError(None, None, f"{how} record at {offset} (file: {self._path})")

    def close(self) -> None:
        self._source.close()


class Deflater:
    """A file that compresses what is written to it, with the buffering of TensorFlow's writer.

    Input is collected up to `input_buffer_size` bytes and then compressed with `flush_mode`.
    """

    def __init__(
        self,
        file: IO[bytes],
        *,
        window_bits: int,
        level: int = zlib.Z_DEFAULT_COMPRESSION,
        method: int = zlib.DEFLATED,
        mem_level: int = 9,
        strategy: int = zlib.Z_DEFAULT_STRATEGY,
        flush_mode: int = zlib.Z_NO_FLUSH,
        input_buffer_size: int = 256 << 10,
    ):
        self._file = file
        self._deflater = zlib.compressobj(level, method, window_bits, mem_level, strategy)
        self._flush_mode = flush_mode
        self._capacity = input_buffer_size
        self._collected: list[bytes] = []
        self._size = 0

    def writelines(self, parts: Iterable[bytes]) -> None:
        """Writes several pieces of data one after the other."""
        for data in parts:
            if self._size + len(data) > self._capacity:
                self._deflate(self._flush_mode)
            self._collected.append(data)
            self._size += len(data)
            if self._size > self._capacity:
                self._deflate(self._flush_mode)

    def _deflate(self, flush_mode: int) -> None:
        self._file.write(self._deflater.compress(b"".join(self._collected)))
        self._collected.clear()
        self._size = 0
        if flush_mode != zlib.Z_NO_FLUSH:
            self._file.write(self._deflater.flush(flush_mode))

    def flush(self) -> None:
        self._deflate(zlib.Z_PARTIAL_FLUSH)
        self._file.flush()

    def close(self) -> None:
        self._deflate(zlib.Z_FINISH)
        self._file.close()
