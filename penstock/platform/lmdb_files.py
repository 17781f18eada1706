"""Databases of LMDB, read without its library.

A file is a row of pages. Two of them are meta pages, of which the one of the later transaction
counts; it names the root of a tree of pages. A page of the tree has a header, offsets, and nodes:
in a branch they name pages below, in a leaf they are keys and values, in the order of the keys. A
value that does not fit is on overflow pages of its own.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Generator, Iterator
from typing import NamedTuple

from penstock import errors
from penstock.platform.file_errors import file_errors
from penstock.platform.paths import as_path

__all__ = ["LmdbReader"]

_HEADER = struct.Struct("<QHHHH")  # number, padding, flags, end of the offsets, begin of the nodes
_META = struct.Struct("<IIQQ")  # magic number, version, address, size
_DATABASE = struct.Struct("<IHH5Q")  # page size, flags, depth, three counts of pages, entries, root
_NODE = struct.Struct("<HHHH")  # size, its upper half, flags, size of the key
_NUMBER = struct.Struct("<Q")
_MAGIC, _VERSION = 0xBEEFC0DE, 1
_BRANCH, _LEAF, _META_PAGE = 0x01, 0x02, 0x08
_BIG_VALUE, _SUBTREE = 0x01, 0x02 | 0x04
_NO_PAGE = 2**64 - 1


class _Meta(NamedTuple):
    transaction: int
    page_size: int
    root: int


class LmdbReader:
    """The keys and values of a database, in the order of its keys.

    Args:
      name: the database's file, or the folder that has it as `data.mdb`.
    """

    def __init__(self, name: str | bytes):
        path = as_path(name)
        if os.path.isdir(path):
            path = os.path.join(path, "data.mdb")
        self._name = os.fspath(path)
        with file_errors(self._name), open(path, "rb") as file:
            try:
                self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except ValueError:  # of an empty file
                raise self._damaged("it is empty") from None
        try:
            meta = self._newest_meta()
        except BaseException:
            self._data.close()
            raise
        self._page_size, self._root = meta.page_size, meta.root
        self._entries = self._below(self._root, set())

    def read_several(self, most: int) -> list[tuple[bytes, bytes]]:
        """Up to `most` further entries; none at the end."""
        return [entry for _, entry in zip(range(most), self._entries, strict=False)]

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        return self._entries

    def close(self) -> None:
        self._entries.close()
        self._data.close()

    def _damaged(self, why: str) -> errors.DataLossError:
        return errors.DataLossError(None, None, f"{self._name} is no database of LMDB: {why}")

    def _unpacked(self, layout: struct.Struct, at: int) -> tuple[int, ...]:
        try:
            return layout.unpack_from(self._data, at)
        except struct.error:
            raise self._damaged("it ends too early") from None

    def _newest_meta(self) -> _Meta:
        first = self._meta(0)
        return max(first, self._meta(first.page_size))

    def _meta(self, at: int) -> _Meta:
        if not self._unpacked(_HEADER, at)[2] & _META_PAGE:
            raise self._damaged("a page with its description is missing")
        at += _HEADER.size
        magic, version, *_ = self._unpacked(_META, at)
        if magic != _MAGIC or version != _VERSION:
            raise self._damaged(f"it begins with {magic:#x}, version {version}")
        at += _META.size
        page_size = self._unpacked(_DATABASE, at)[0]
        root = self._unpacked(_DATABASE, at + _DATABASE.size)[-1]
        transaction = self._unpacked(_NUMBER, at + 2 * _DATABASE.size + _NUMBER.size)[0]
        if not 256 <= page_size <= 1 << 16:
            raise self._damaged(f"its pages would have {page_size} bytes")
        return _Meta(transaction, page_size, root)

    def _below(self, number: int, above: set[int]) -> Generator[tuple[bytes, bytes], None, None]:
        """The entries of the part of the tree that a page is the root of."""
        if number == _NO_PAGE:
            return
        if number in above:
            raise self._damaged(f"page {number} is below itself")
        start = number * self._page_size
        _, _, flags, lower, _ = self._unpacked(_HEADER, start)
        if not flags & (_BRANCH | _LEAF):
            raise self._damaged(f"page {number} is none of its tree")
        for at in range(start + _HEADER.size, start + lower, 2):
            node = start + int.from_bytes(self._data[at : at + 2], "little")
            if flags & _LEAF:
                yield self._entry(node)
            else:
                low, high, higher, _ = self._unpacked(_NODE, node)
                yield from self._below(low | high << 16 | higher << 32, above | {number})

    def _entry(self, at: int) -> tuple[bytes, bytes]:
        low, high, flags, key_size = self._unpacked(_NODE, at)
        if flags & _SUBTREE:
            raise self._damaged("it has databases, or several values of one key, in it")
        at += _NODE.size
        size, value = low | high << 16, at + key_size
        if flags & _BIG_VALUE:
            value = self._unpacked(_NUMBER, value)[0] * self._page_size + _HEADER.size
        if value + size > len(self._data):
            raise self._damaged("it ends too early")
        return self._data[at : at + key_size], self._data[value : value + size]
