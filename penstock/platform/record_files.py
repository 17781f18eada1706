"""Records in a file, each with its length and two checksums: the frame of TFRecord and event files.

A record is its length (8 bytes), the length's masked CRC-32C (4 bytes), the data, and the data's
masked CRC-32C (4 bytes), little-endian. The whole file may be compressed by zlib or gzip.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from typing import IO, Any, Protocol

from penstock import errors
from penstock.platform import crc32c
from penstock.platform.file_errors import file_errors
from penstock.platform.paths import as_path, open_file

_HEADER = struct.Struct("<QI")
_FOOTER = struct.Struct("<I")
_LENGTH = struct.Struct("<Q")

# A claimed length is believed one block at a time: memory is taken for what is really there.
_BLOCK = 1 << 24

WINDOW_BITS = {"ZLIB": zlib.MAX_WBITS, "GZIP": zlib.MAX_WBITS + 16}


def frame(data: bytes) -> tuple[bytes, bytes, bytes]:
    """A record as it stands in a file: what goes before the data, the data, what goes after."""
    length = _LENGTH.pack(len(data))
    header = length + _FOOTER.pack(crc32c.masked_value(length))
    return header, data, _FOOTER.pack(crc32c.masked_value(data))


class _Source(Protocol):
    """Bytes in sequence that may grow while they are read."""

    def read(self, size: int) -> bytes:
        """The next `size` bytes, or as many as there are."""

    def unread(self, data: bytes) -> None:
        """Takes back what `read` gave last."""

    def close(self) -> None: ...


class _PlainSource:
    def __init__(self, file: IO[bytes]):
        self._file = file

    def read(self, size: int) -> bytes:
        return self._file.read(size)

    def unread(self, data: bytes) -> None:
        self._file.seek(-len(data), 1)

    def seek(self, offset: int) -> None:
        self._file.seek(offset)

    def close(self) -> None:
        self._file.close()


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

    def read(self, size: int) -> bytes:
        while len(self._ready) < size and self._inflate():
            pass
        data = bytes(self._ready[:size])
        del self._ready[:size]
        return data

    def unread(self, data: bytes) -> None:
        self._ready[:0] = data

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


class RecordReader:
    """Reads the records of a file one after the other.

    1. A record is returned only if both its checksums are right.
    2. At the end of the file, and in a record that is not all there yet, the reader stays where it
       is: once the file has grown, reading goes on.
    """

    def __init__(self, path: Any, compression: str = ""):
        self._path = as_path(path)
        file = open_file(path, "rb", 1 << 18)
        self._source: _Source
        if compression:
            self._source = _CompressedSource(file, WINDOW_BITS[compression], self._path)
        else:
            self._source = _PlainSource(file)
        #: Where the next record starts, in the file or, if that is compressed, in its contents.
        self.offset = 0

    def seek(self, offset: int) -> None:
        """Goes to a record's start; only in files that are not compressed."""
        if not isinstance(self._source, _PlainSource):
            raise errors.UnimplementedError(
                None, None, f"cannot seek in the compressed file {self._path}"
            )
        self._source.seek(offset)
        self.offset = offset

    def read(self) -> bytes | None:
        """The next record; None at the end of the file, DataLossError where it is damaged."""
        with file_errors(self._path):
            header = self._source.read(_HEADER.size)
            if not header:
                return None
            if len(header) < _HEADER.size:
                self._source.unread(header)
                raise self._damage("truncated", self.offset)
            length, check = _HEADER.unpack(header)
            if crc32c.masked_value(header[: _LENGTH.size]) != check:
                self._source.unread(header)
                raise self._damage("corrupted", self.offset)
            body = self._read_all(length + _FOOTER.size)
            if len(body) < length + _FOOTER.size:
                self._source.unread(header + body)
                raise self._damage("truncated", self.offset)
        data = body[:length]
        if crc32c.masked_value(data) != _FOOTER.unpack_from(body, length)[0]:
            self._source.unread(header + body)
            raise self._damage("corrupted", self.offset + _HEADER.size)
        self.offset += _HEADER.size + len(body)
        return data

    def _read_all(self, size: int) -> bytes:
        if size <= _BLOCK:
            return self._source.read(size)
        blocks = []
        while size:
            block = self._source.read(min(size, _BLOCK))
            blocks.append(block)
            size -= len(block)
            if len(block) < _BLOCK:
                break
        return b"".join(blocks)

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
