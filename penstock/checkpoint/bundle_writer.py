"""Writing tensor bundles: the V2 checkpoints `PREFIX.index` and `PREFIX.data-00000-of-00001`."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

import numpy as np

from penstock import errors
from penstock.checkpoint import files, tensor_bytes
from penstock.checkpoint.slices import TensorSlice
from penstock.checkpoint.table import TableReader, TableWriter
from penstock.dtypes import DType
from penstock.platform import crc32c
from penstock.platform.file_errors import file_errors
from penstock.proto import BundleEntryProto, BundleHeaderProto, TensorShapeProto

HEADER_KEY = b""
_VERSION = 1


def index_path(prefix: str) -> str:
    return f"{prefix}.index"


def data_path(prefix: str, shard: int, shards: int) -> str:
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


def _shape_message(shape: tuple[int, ...]) -> Any:
    message = TensorShapeProto()
    for size in shape:
        message.dim.add(size=size)
    return message


class BundleWriter:
    """Writes one shard: tensors as they are added, the index at the end.

    Nothing of a checkpoint of that name changes before `finish`.
    """

    def __init__(self, prefix: str):
        self._prefix = prefix
        self._entries: dict[bytes, Any] = {}
        self._offset = 0
        _make_directory(os.path.dirname(prefix))
        self._data = files.NewFile(data_path(prefix, 0, 1))

    def add(self, name: str, array: np.ndarray, dtype: DType) -> None:
        """Writes a whole tensor."""
        self._add(name.encode(), name, array, dtype)

    def _add(self, key: bytes, name: str, array: np.ndarray, dtype: DType) -> None:
        if key in self._entries:
            raise errors.InvalidArgumentError(None, None, f"Adding duplicate key: {name}")
        pieces, crc = tensor_bytes.encode(array, dtype)
        size = sum(len(piece) for piece in pieces)
        with file_errors(self._data.path):
            for piece in pieces:
                self._data.file.write(piece)
        self._entries[key] = BundleEntryProto(
            dtype=dtype.as_datatype_enum,
            shape=_shape_message(array.shape),
            offset=self._offset,
            size=size,
            crc32c=crc32c.mask(crc),
        )
        self._offset += size

    def add_slice(
        self,
        name: str,
        full_shape: tuple[int, ...],
        part: TensorSlice,
        array: np.ndarray,
        dtype: DType,
    ) -> None:
        """Writes a part of a tensor, under a key of its own, and notes it with the whole."""
        if part.is_whole(full_shape):
            self.add(name, array, dtype)
            return
        whole = self._entries.get(name.encode())
        if whole is None:
            whole = self._entries[name.encode()] = BundleEntryProto(
                dtype=dtype.as_datatype_enum, shape=_shape_message(full_shape)
            )
        elif not whole.slices:
            raise errors.InvalidArgumentError(None, None, f"Adding duplicate key: {name}")
        if whole.dtype != dtype.as_datatype_enum or whole.shape != _shape_message(full_shape):
            raise errors.InvalidArgumentError(
                None, None, f"slices of {name!r} differ in their type or in the shape of the whole"
            )
        whole.slices.append(part.to_proto())
        self._add(part.key(name), f"{name} [{part}]", array, dtype)

    def finish(self) -> None:
        """Makes the checkpoint appear: the data first, then the index that refers to it."""
        self._data.commit()
        header = BundleHeaderProto(num_shards=1)
        header.version.producer = _VERSION
        write_index(self._prefix, header, self._entries)

    def discard(self) -> None:
        """Gives up; a checkpoint that was there before stays."""
        self._data.discard()


def _make_directory(directory: str) -> None:
    if directory:
        # A missing parent is reported by the file that can't be made in it.
        with suppress(OSError):
            os.mkdir(directory)


def write_index(prefix: str, header: Any, entries: dict[bytes, Any]) -> None:
    """Writes the index of a bundle."""
    with files.new_file(index_path(prefix)) as file:
        writer = TableWriter(file)
        writer.add(HEADER_KEY, header.SerializeToString(deterministic=True))
        for key in sorted(entries):
            writer.add(key, entries[key].SerializeToString(deterministic=True))
        writer.finish()


# Merging --------------------------------------------------------------------------------------


class _Merge:
    """The index of several bundles as one: what has been read so far."""

    def __init__(self) -> None:
        self.header: Any = None
        self.shards = 0
        self.entries: dict[bytes, Any] = {}
        self.shard_of_file: dict[str, int] = {}

    def take(self, prefix: str) -> None:
        rows = iter(TableReader(index_path(prefix)))
        header = BundleHeaderProto.FromString(next(rows, (HEADER_KEY, b""))[1])
        if self.header is None:
            self.header = header
        elif (self.header.endianness, self.header.version) != (header.endianness, header.version):
            raise errors.InvalidArgumentError(
                None, None, f"Merging bundles with conflicting endianness or version: {prefix}"
            )
        self.shards += header.num_shards
        for key, value in rows:
            entry = BundleEntryProto.FromString(value)
            if key in self.entries:
                self._merge_slices(key, entry, prefix)
            else:
                file = data_path(prefix, entry.shard_id, header.num_shards)
                entry.shard_id = self.shard_of_file.setdefault(file, len(self.shard_of_file))
                self.entries[key] = entry

    def _merge_slices(self, key: bytes, entry: Any, prefix: str) -> None:
        known = self.entries[key]
        if not known.slices or not entry.slices:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Duplicate tensor keyed by {key.decode(errors='replace')} encountered, when "
                f"merging prefix: {prefix}",
            )
        if (known.dtype, known.shape) != (entry.dtype, entry.shape):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"the slices of {key.decode(errors='replace')} in {prefix} are of another type or "
                "whole shape",
            )
        known.slices.extend(entry.slices)


def merge_bundles(prefixes: list[str], merged_prefix: str) -> None:
    """Makes one checkpoint of several: renames their data files and writes one index."""
    merge = _Merge()
    for prefix in prefixes:
        merge.take(prefix)
    if merge.header is None:
        raise errors.InvalidArgumentError(None, None, "there are no checkpoints to merge")
    _make_directory(os.path.dirname(merged_prefix))
    for file, shard in merge.shard_of_file.items():
        with file_errors(file):
            os.replace(file, data_path(merged_prefix, shard, merge.shards))
    files.sync_directory(os.path.dirname(merged_prefix))
    merge.header.num_shards = merge.shards
    write_index(merged_prefix, merge.header, merge.entries)
    for prefix in set(prefixes) - {merged_prefix}:
        with suppress(OSError):
            os.remove(index_path(prefix))
