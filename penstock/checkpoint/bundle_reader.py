"""Reading tensor bundles, the V2 checkpoints."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, BinaryIO

import numpy as np
from google.protobuf.message import DecodeError

from penstock import dtypes, errors
from penstock.checkpoint import files, tensor_bytes
from penstock.checkpoint.missing import key_not_found
from penstock.checkpoint.progress import Report, silent
from penstock.checkpoint.publishing import HEADER_KEY, data_path, index_path
from penstock.checkpoint.slices import TensorSlice, overlap, static_shape
from penstock.checkpoint.table import TableReader
from penstock.dtypes import DType
from penstock.platform import crc32c
from penstock.proto import BundleEntryProto, BundleHeaderProto

_ALIGNMENT = 64


class BundleReader:
    """A V2 checkpoint by its prefix.

    Every value that it returns has been compared with its checksum; whatever is damaged raises
    DataLossError with the file, the tensor and the place in the file. `report` is told how many
    bytes have been read, each time some have.
    """

    def __init__(self, prefix: str, report: Report = silent):
        self._prefix = prefix
        self._report = report
        self._held: dict[str, BinaryIO] | None = None
        self._table = TableReader(index_path(prefix))
        self._header = self._read_header()

    def _read_header(self) -> Any:
        value = self._table.get(HEADER_KEY)
        if value is None:
            raise self._damaged("the header entry is missing")
        header = self._parsed(BundleHeaderProto, value, "the header")
        if header.num_shards < 1:
            raise self._damaged(f"the header announces {header.num_shards} data files")
        if header.version.min_consumer > 1:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"{self._table.path}: the checkpoint asks for version "
                f"{header.version.min_consumer} of the format, and 1 is what is known",
            )
        if header.endianness != BundleHeaderProto.LITTLE:
            raise errors.UnimplementedError(
                None, None, f"{self._table.path}: the checkpoint is from a big-endian machine"
            )
        return header

    def _damaged(self, what: str) -> errors.DataLossError:
        return errors.DataLossError(None, None, f"{self._table.path}: {what}")

    def _parsed(self, message_class: Any, value: bytes, what: str) -> Any:
        try:
            return message_class.FromString(value)
        except DecodeError:
            raise self._damaged(f"{what} can't be read") from None

    # What is in it ----------------------------------------------------------------------------

    @cached_property
    def _entries(self) -> dict[str, Any]:
        """The entries of whole tensors by name; those of slices have keys of their own."""
        found: dict[bytes, Any] = {}
        slice_keys: set[bytes] = set()
        for key, value in self._table:
            if key == HEADER_KEY:
                continue
            entry = self._parsed(BundleEntryProto, value, f"the entry of {_text(key)!r}")
            found[key] = entry
            for part in entry.slices:
                slice_keys.add(TensorSlice.from_proto(part).key(_text(key)))
        return {_text(key): entry for key, entry in found.items() if key not in slice_keys}

    def names(self) -> list[str]:
        return list(self._entries)

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of the whole tensor."""
        return self._shape(self._entry(name), name)

    def dtype(self, name: str) -> DType:
        return self._dtype(self._entry(name), name)

    def is_sliced(self, name: str) -> bool:
        """Whether the tensor is kept in parts."""
        return bool(self._entry(name).slices)

    def __contains__(self, name: str) -> bool:
        return name != "" and self._table.get(name.encode()) is not None

    def _entry(self, name: str) -> Any:
        value = self._table.get(name.encode()) if name else None
        if value is None:
            raise key_not_found(name, self._prefix, self.names())
        return self._parsed(BundleEntryProto, value, f"the entry of {name!r}")

    def _shape(self, entry: Any, name: str) -> tuple[int, ...]:
        try:
            return static_shape(entry.shape)
        except ValueError as error:
            raise self._damaged(f"tensor {name!r}: {error}") from None

    def _dtype(self, entry: Any, name: str) -> DType:
        try:
            return dtypes.as_dtype(entry.dtype)
        except TypeError:
            raise self._damaged(f"tensor {name!r} has the unknown type {entry.dtype}") from None

    # Values -----------------------------------------------------------------------------------

    def read(self, name: str) -> np.ndarray:
        """The value of a tensor, put together if it is kept in slices."""
        entry = self._entry(name)
        if entry.slices:
            return self._assemble(name, entry, TensorSlice.whole(len(entry.shape.dim)))
        return self._read_entry(entry, name)

    def read_slice(self, name: str, part: TensorSlice) -> np.ndarray:
        """A part of a tensor."""
        entry = self._entry(name)
        if entry.slices:
            return self._assemble(name, entry, part)
        return self._read_entry(entry, name)[part.ranges(self._shape(entry, name))]

    def _assemble(self, name: str, entry: Any, part: TensorSlice) -> np.ndarray:
        shape = self._shape(entry, name)
        wanted = part.ranges(shape)
        sizes = tuple(axis.stop - axis.start for axis in wanted)
        result = np.empty(sizes, dtype=self._dtype(entry, name).as_numpy_dtype)
        missing = result.size
        for message in entry.slices:
            stored = TensorSlice.from_proto(message)
            try:
                common = overlap(stored.ranges(shape), wanted)
            except ValueError as error:
                raise self._damaged(f"tensor {name!r}: {error}") from None
            if common is None:
                continue
            value = self._table.get(stored.key(name))
            if value is None:
                raise self._damaged(f"the slice {stored} of tensor {name!r} is missing")
            slice_name = f"{name} [{stored}]"
            stored_entry = self._parsed(BundleEntryProto, value, f"the entry of {slice_name!r}")
            piece = self._read_entry(stored_entry, slice_name)[common[0]]
            result[common[1]] = piece
            missing -= piece.size
        if missing > 0:
            raise errors.NotFoundError(
                None,
                None,
                f"{self._table.path}: the stored slices of tensor {name!r} don't cover the slice "
                f"{part}",
            )
        return result

    def _read_entry(self, entry: Any, name: str) -> np.ndarray:
        shape, dtype = self._shape(entry, name), self._dtype(entry, name)
        path = data_path(self._prefix, entry.shard_id, self._header.num_shards)
        expected = tensor_bytes.expected_size(dtype, shape)

        def damaged(what: str) -> errors.DataLossError:
            return errors.DataLossError(
                None, None, f"{path}, at byte {entry.offset}: tensor {name!r}: {what}"
            )

        if expected is not None and expected != entry.size:
            raise damaged(
                f"{dtype.name} of shape {list(shape)} takes {expected} bytes, its entry says "
                f"{entry.size}"
            )
        with self._opened(path) as file:
            available = os.fstat(file.fileno()).st_size
            if entry.offset < 0 or entry.size < 0 or entry.offset + entry.size > available:
                raise damaged(
                    f"{entry.size} bytes would reach past the end of the file ({available} bytes)"
                )
            data, crc = self._read_bytes(file, entry.offset, entry.size)
        if len(data) != entry.size:
            raise damaged(f"read {len(data)} bytes instead of {entry.size}")
        try:
            array, crc = tensor_bytes.decode(data, dtype, shape, crc)
        except ValueError as error:
            raise damaged(str(error)) from None
        if crc32c.mask(crc) != entry.crc32c:
            raise damaged(
                f"Checksum does not match: stored {entry.crc32c} vs. calculated on the restored "
                f"bytes {crc32c.mask(crc)}"
            )
        return array

    @contextmanager
    def held_open(self) -> Iterator[None]:
        """Keeps data files open within the block, so that the system reads ahead of a tensor."""
        self._held = {}
        try:
            yield
        finally:
            held, self._held = self._held, None
            for file in held.values():
                file.close()

    @contextmanager
    def _opened(self, path: str) -> Iterator[BinaryIO]:
        if self._held is None:
            with files.open_to_read(path, buffering=0) as file:
                yield file
            return
        if path not in self._held:
            self._held[path] = files.open_to_read(path, buffering=0)
        yield self._held[path]

    def _read_bytes(self, file: BinaryIO, offset: int, size: int) -> tuple[np.ndarray, int]:
        """The bytes at a place, fewer at the end of the file, and their checksum."""
        # Aligned as kernels like it, for this may become the buffer of a variable.
        memory = np.empty(size + _ALIGNMENT, dtype=np.uint8)
        start = -memory.ctypes.data % _ALIGNMENT
        data = memory[start : start + size]
        file.seek(offset)
        position = crc = 0
        while position < size:
            block = data[position : position + tensor_bytes.BLOCK_SIZE]
            count = file.readinto(block)  # type: ignore[attr-defined]
            if not count:
                break
            # Here, while the block is in the processor's cache.
            crc = crc32c.extend(crc, block[:count])
            position += count
            self._report(count)
        return data[:position], crc


def _text(key: bytes) -> str:
    return key.decode(errors="surrogateescape")
