"""Sorted tables of keys and values, in the format of LevelDB that TensorFlow's files use.

A file is a row of blocks, an index block with a key and the place of each of them, and a footer
with the place of the index. In a block a key is written without the part that it shares with the
key before it, except at restart points. Every block is followed by its kind and its checksum.
"""

from __future__ import annotations

import bisect
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from penstock import errors
from penstock.checkpoint import snappy, varints
from penstock.checkpoint.files import NewFile, open_to_read
from penstock.platform import crc32c

_MAGIC = 0xDB4775248B80FB57
_FOOTER_SIZE = 48
_TRAILER_SIZE = 5  # kind of compression, checksum
_BLOCK_SIZE = 262144
_RESTART_INTERVAL = 16
_PLAIN, _SNAPPY = 0, 1


@dataclass(frozen=True)
class _Place:
    """Where a block lies in the file, without its trailer."""

    offset: int
    size: int

    def encoded(self) -> bytes:
        return varints.encode(self.offset) + varints.encode(self.size)


# Writing --------------------------------------------------------------------------------------


class _BlockBuilder:
    def __init__(self, restart_interval: int):
        self._interval = restart_interval
        self._data = bytearray()
        self._restarts = [0]
        self._since_restart = 0
        self.last_key = b""

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self._since_restart < self._interval:
            shared = _shared_length(self.last_key, key)
        else:
            self._restarts.append(len(self._data))
            self._since_restart = 0
        self._data += varints.encode_all((shared, len(key) - shared, len(value)))
        self._data += key[shared:]
        self._data += value
        self.last_key = key
        self._since_restart += 1

    @property
    def is_empty(self) -> bool:
        return not self._data

    @property
    def size(self) -> int:
        return len(self._data) + 4 * len(self._restarts) + 4

    def finish(self) -> bytes:
        count = len(self._restarts)
        return bytes(self._data) + struct.pack(f"<{count}II", *self._restarts, count)


class TableWriter:
    """Writes a table to an open file; keys are added in ascending order."""

    def __init__(self, file: NewFile):
        self._file = file
        self._offset = 0
        self._block = _BlockBuilder(_RESTART_INTERVAL)
        self._index = _BlockBuilder(1)
        self._last_key = b""
        self._unindexed: _Place | None = None

    def add(self, key: bytes, value: bytes) -> None:
        if self._unindexed is not None:
            self._index.add(_separator(self._last_key, key), self._unindexed.encoded())
            self._unindexed = None
        self._block.add(key, value)
        self._last_key = key
        if self._block.size >= _BLOCK_SIZE:
            self._flush()

    def _flush(self) -> None:
        if self._block.is_empty:
            return
        self._unindexed = self._write(self._block)
        self._block = _BlockBuilder(_RESTART_INTERVAL)

    def _write(self, block: _BlockBuilder) -> _Place:
        checked = block.finish() + bytes([_PLAIN])
        self._file.write(checked + struct.pack("<I", crc32c.masked_value(checked)))
        place = _Place(self._offset, len(checked) - 1)
        self._offset += len(checked) + 4
        return place

    def finish(self) -> None:
        """Writes what is left, the index and the footer."""
        self._flush()
        meta_index = self._write(_BlockBuilder(_RESTART_INTERVAL))
        if self._unindexed is not None:
            self._index.add(_successor(self._last_key), self._unindexed.encoded())
        index = self._write(self._index)
        places = meta_index.encoded() + index.encoded()
        self._file.write(places.ljust(_FOOTER_SIZE - 8, b"\0") + struct.pack("<Q", _MAGIC))


def _shared_length(a: bytes, b: bytes) -> int:
    """How many bytes two keys have in common at their start."""
    for position, (one, other) in enumerate(zip(a, b, strict=False)):
        if one != other:
            return position
    return min(len(a), len(b))


def _separator(low: bytes, high: bytes) -> bytes:
    """A short key from `low` on and before `high`."""
    shared = _shared_length(low, high)
    if shared < min(len(low), len(high)):
        byte = low[shared]
        if byte < 0xFF and byte + 1 < high[shared]:
            return low[:shared] + bytes([byte + 1])
    return low


def _successor(key: bytes) -> bytes:
    """A short key from `key` on."""
    for position, byte in enumerate(key):
        if byte != 0xFF:
            return key[:position] + bytes([byte + 1])
    return key


# Reading --------------------------------------------------------------------------------------


class TableReader:
    """A table in a file, of which blocks are read when they are asked for.

    Whatever is damaged raises DataLossError with the file and the place in it.
    """

    def __init__(self, path: str):
        self.path = path
        with open_to_read(path) as file:
            self._size = os.fstat(file.fileno()).st_size
            index = self._index_place(file)
            self._index = list(self._entries(self._read_block(file, index), index))
        self._last_keys = [key for key, _ in self._index]
        self._cached: tuple[int, dict[bytes, bytes]] | None = None

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        """All keys with their values, in ascending order."""
        for number in range(len(self._index)):
            yield from self._block(number).items()

    def get(self, key: bytes) -> bytes | None:
        """The value of a key; None if there is none."""
        number = bisect.bisect_left(self._last_keys, key)
        return None if number == len(self._index) else self._block(number).get(key)

    def _block(self, number: int) -> dict[bytes, bytes]:
        cached = self._cached
        if cached is not None and cached[0] == number:
            return cached[1]
        value = self._index[number][1]
        place = self._place(value, 0)[0]
        with open_to_read(self.path) as file:
            entries = dict(self._entries(self._read_block(file, place), place))
        self._cached = (number, entries)
        return entries

    def _damaged(self, offset: int, what: str) -> errors.DataLossError:
        return errors.DataLossError(None, None, f"{self.path}, at byte {offset}: {what}")

    def _index_place(self, file: BinaryIO) -> _Place:
        if self._size < _FOOTER_SIZE:
            raise self._damaged(
                0, f"file is too short to be an sstable: {self._size} bytes, a footer has 48"
            )
        file.seek(self._size - _FOOTER_SIZE)
        footer = file.read(_FOOTER_SIZE)
        if struct.unpack("<Q", footer[-8:])[0] != _MAGIC:
            raise self._damaged(self._size - 8, "not an sstable (bad magic number)")
        _, position = self._place(footer, 0)
        return self._place(footer, position)[0]

    def _place(self, data: bytes, position: int) -> tuple[_Place, int]:
        try:
            offset, position = varints.decode(data, position)
            size, position = varints.decode(data, position)
        except ValueError:
            raise self._damaged(self._size - _FOOTER_SIZE, "bad block handle") from None
        return _Place(offset, size), position

    def _read_block(self, file: BinaryIO, place: _Place) -> bytes:
        if place.offset + place.size + _TRAILER_SIZE > self._size:
            raise self._damaged(
                place.offset,
                f"truncated block read: a block of {place.size} bytes would reach past the end of "
                f"the file ({self._size} bytes)",
            )
        file.seek(place.offset)
        data = file.read(place.size + _TRAILER_SIZE)
        if len(data) != place.size + _TRAILER_SIZE:
            raise self._damaged(place.offset, "truncated block read")
        contents, kind = data[: place.size], data[place.size]
        (stored,) = struct.unpack("<I", data[-4:])
        if crc32c.masked_value(data[:-4]) != stored:
            raise self._damaged(place.offset, "block checksum mismatch")
        if kind == _SNAPPY:
            try:
                return snappy.decompress(contents)
            except ValueError as error:
                raise self._damaged(place.offset, f"corrupted compressed block: {error}") from None
        if kind != _PLAIN:
            raise self._damaged(place.offset, f"bad block type {kind}")
        return contents

    def _entries(self, block: bytes, place: _Place) -> Iterator[tuple[bytes, bytes]]:
        """The keys and values of a block's contents."""
        try:
            (restarts,) = struct.unpack("<I", block[-4:])
            end = len(block) - 4 * (restarts + 1)
            if end < 0:
                raise ValueError("bad count of restart points")
            position, key = 0, b""
            while position < end:
                shared, position = varints.decode(block, position)
                added, position = varints.decode(block, position)
                size, position = varints.decode(block, position)
                if shared > len(key) or position + added + size > end:
                    raise ValueError(f"bad entry in block at byte {position} of it")
                key = key[:shared] + block[position : position + added]
                position += added
                yield key, block[position : position + size]
                position += size
        except (struct.error, ValueError) as error:
            raise self._damaged(place.offset, str(error)) from None
