"""Writing tensor bundles: the V2 checkpoints `PREFIX.index` and `PREFIX.data-00000-of-00001`."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from penstock import errors
from penstock.checkpoint import tensor_bytes
from penstock.checkpoint.files import NewFile, make_directory, remove_if_possible
from penstock.checkpoint.progress import Report, silent
from penstock.checkpoint.publishing import HEADER_KEY, data_path, index_path, publish
from penstock.checkpoint.slices import TensorSlice
from penstock.checkpoint.table import TableReader
from penstock.dtypes import DType
from penstock.platform import crc32c
from penstock.proto import BundleEntryProto, BundleHeaderProto, TensorShapeProto

_VERSION = 1


def _shape_message(shape: tuple[int, ...]) -> Any:
    message = TensorShapeProto()
    for size in shape:
        message.dim.add(size=size)
    return message


class BundleWriter:
    """Writes one shard: tensors as they are added, the index at the end.

    Nothing of a checkpoint of that name changes before `finish`. `report` is told how many bytes
    of numbers have been written, each time some have.
    """

    def __init__(self, prefix: str, report: Report = silent):
        self._prefix = prefix
        self._report = report
        self._entries: dict[bytes, Any] = {}
        self._offset = 0
        make_directory(os.path.dirname(prefix))
        self._data = NewFile(data_path(prefix, 0, 1))

    def add(self, name: str, array: np.ndarray, dtype: DType) -> None:
        """Writes a whole tensor."""
        self._add(name.encode(), name, array, dtype)

    def _add(self, key: bytes, name: str, array: np.ndarray, dtype: DType) -> None:
        if key in self._entries:
            raise errors.InvalidArgumentError(None, None, f"Adding duplicate key: {name}")
        size = crc = 0
        if tensor_bytes.is_number(dtype):
            # Block by block: what the checksum has just read, the disk finds in the cache.
            for block in tensor_bytes.blocks(array):
                crc = crc32c.extend(crc, block)
                self._data.write(block)
                size += len(block)
                self._report(len(block))
        else:
            pieces, crc = tensor_bytes.encode(array, dtype)
            for piece in pieces:
                self._data.write(piece)
                size += len(piece)
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
        """Makes the checkpoint appear, in the place of one that was there."""
        header = BundleHeaderProto(num_shards=1)
        header.version.producer = _VERSION
        publish(self._prefix, [self._data.finish()], header, self._entries)

    def discard(self) -> None:
        """Gives up; a checkpoint that was there before stays."""
        self._data.discard()


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
    merge.header.num_shards = merge.shards
    publish(merged_prefix, list(merge.shard_of_file), merge.header, merge.entries)
    for prefix in set(prefixes) - {merged_prefix}:
        remove_if_possible(index_path(prefix))
