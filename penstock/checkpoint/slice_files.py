"""The V1 checkpoints of TensorFlow before 0.12: tables whose values are messages with tensors."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from penstock import dtypes, errors
from penstock.checkpoint import files
from penstock.checkpoint.missing import checkpoint_not_found, key_not_found
from penstock.checkpoint.slices import TensorSlice, overlap, static_shape
from penstock.checkpoint.table import TableReader, TableWriter
from penstock.dtypes import DType
from penstock.ir.tensor_codec import FIELD_OF, proto_to_array
from penstock.proto import SavedTensorSlices, TensorShapeProto

_META_KEY = b""
_VERSION = 1
_LARGEST_MESSAGE = 1 << 31
_LARGEST_HEADER = 1 << 10
#: The bytes of an element at most, where that is not its size: a number of variable length.
_LARGEST_ELEMENT = {
    **dict.fromkeys(("int8", "int16", "int32", "int64", "qint8", "qint32"), 10),
    **dict.fromkeys(("uint8", "quint8"), 2),
    **dict.fromkeys(("uint16", "float16", "bfloat16"), 3),
}


class SliceFileReader:
    """A V1 checkpoint: one file, or the files that a pattern such as `model-?????-of-00002` names.

    Whatever is damaged raises DataLossError with the file and the place in it.
    """

    def __init__(self, pattern: str):
        self._pattern = pattern
        paths = [pattern] if os.path.isfile(pattern) else sorted(glob.glob(pattern))
        if not paths:
            raise checkpoint_not_found(pattern)
        self._tensors: dict[str, Any] = {}
        self._stored: dict[str, list[tuple[TensorSlice, TableReader]]] = {}
        for path in paths:
            self._take(TableReader(path))

    def _take(self, table: TableReader) -> None:
        value = table.get(_META_KEY)
        message = None if value is None else _parsed(table, value)
        # The index of a V2 checkpoint is a table, too, with another message.
        if message is None or not message.HasField("meta"):
            raise errors.DataLossError(
                None, None, f"{table.path}: a table, but not one with saved tensor slices"
            )
        for tensor in message.meta.tensor:
            known = self._tensors.setdefault(tensor.name, tensor)
            if (known.shape, known.type) != (tensor.shape, tensor.type):
                raise errors.InvalidArgumentError(
                    None, None, f"{table.path}: tensor {tensor.name!r} differs from other files'"
                )
            for part in tensor.slice:
                stored = self._stored.setdefault(tensor.name, [])
                stored.append((TensorSlice.from_proto(part), table))

    # What is in it ----------------------------------------------------------------------------

    def names(self) -> list[str]:
        return list(self._tensors)

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def _tensor(self, name: str) -> Any:
        try:
            return self._tensors[name]
        except KeyError:
            raise key_not_found(name, self._pattern, self.names()) from None

    def shape(self, name: str) -> tuple[int, ...]:
        return static_shape(self._tensor(name).shape)

    def dtype(self, name: str) -> DType:
        return dtypes.as_dtype(self._tensor(name).type)

    def is_sliced(self, name: str) -> bool:
        self._tensor(name)
        return len(self._stored[name]) > 1

    # Values -----------------------------------------------------------------------------------

    def read(self, name: str) -> np.ndarray:
        return self.read_slice(name, TensorSlice.whole(len(self.shape(name))))

    def read_slice(self, name: str, part: TensorSlice) -> np.ndarray:
        shape = self.shape(name)
        wanted = part.ranges(shape)
        sizes = tuple(axis.stop - axis.start for axis in wanted)
        result = np.empty(sizes, dtype=self.dtype(name).as_numpy_dtype)
        missing = result.size
        for stored, table in self._stored[name]:
            ranges = stored.ranges(shape)
            common = overlap(ranges, wanted)
            if common is None:
                continue
            # The dots keep a piece of rank 0 an array.
            inside: Any = (*common[0], ...)
            piece = self._read_stored(name, stored, table, ranges)[inside]
            result[common[1]] = piece
            missing -= piece.size
        if missing > 0:
            raise errors.NotFoundError(
                None, None, f"{self._pattern}: the stored slices of {name!r} don't cover {part}"
            )
        return result

    def _read_stored(
        self, name: str, stored: TensorSlice, table: TableReader, ranges: Sequence[slice]
    ) -> np.ndarray:
        value = table.get(stored.key(name))
        if value is None:
            raise errors.DataLossError(
                None, None, f"{table.path}: the slice {stored} of tensor {name!r} is missing"
            )
        data = _parsed(table, value).data.data
        # The slice says the shape; the message inside may not.
        shape = [axis.stop - axis.start for axis in ranges]
        data.tensor_shape.CopyFrom(_shape_message(shape))
        if not data.dtype:
            data.dtype = self._tensor(name).type
        try:
            return proto_to_array(data)
        except (TypeError, ValueError) as error:
            raise errors.DataLossError(
                None, None, f"{table.path}: tensor {name!r}: {error}"
            ) from None


def _parsed(table: TableReader, value: bytes) -> Any:
    try:
        return SavedTensorSlices.FromString(value)
    except DecodeError:
        raise errors.DataLossError(
            None, None, f"{table.path}: an entry can't be read as saved tensor slices"
        ) from None


def _shape_message(shape: Sequence[int]) -> Any:
    message = TensorShapeProto()
    for size in shape:
        message.dim.add(size=size)
    return message


# Writing --------------------------------------------------------------------------------------


class SliceFileWriter:
    """Collects tensors and writes them as one V1 checkpoint file."""

    def __init__(self, path: str):
        self._path = path
        self._meta: dict[str, Any] = {}
        self._rows: dict[bytes, bytes] = {}
        self._all = SavedTensorSlices()
        self._all.meta.versions.producer = _VERSION

    def add(
        self,
        name: str,
        full_shape: Sequence[int],
        part: TensorSlice,
        array: np.ndarray,
        dtype: DType,
    ) -> None:
        """Takes in a tensor or a part of one."""
        _refuse_large(name, array, dtype)
        meta = self._meta.get(name)
        if meta is None:
            meta = self._meta[name] = self._all.meta.tensor.add(
                name=name, shape=_shape_message(full_shape), type=dtype.as_datatype_enum
            )
        elif (meta.shape, meta.type) != (_shape_message(full_shape), dtype.as_datatype_enum):
            raise errors.InvalidArgumentError(
                None, None, f"slices of {name!r} differ in their type or in the shape of the whole"
            )
        meta.slice.append(part.to_proto())
        row = SavedTensorSlices()
        row.data.name = name
        row.data.slice.CopyFrom(part.to_proto())
        _fill_values(row.data.data, array, dtype)
        self._rows[part.key(name)] = row.SerializeToString(deterministic=True)

    def finish(self) -> None:
        """Writes the file."""
        with files.new_file(self._path) as file:
            writer = TableWriter(file)
            writer.add(_META_KEY, self._all.SerializeToString(deterministic=True))
            for key in sorted(self._rows):
                writer.add(key, self._rows[key])
            writer.finish()


def _refuse_large(name: str, array: np.ndarray, dtype: DType) -> None:
    """A slice is one message, and a message has less than 2 gigabytes."""
    if dtype is dtypes.string:
        size = sum(map(len, array.reshape(-1)))
    else:
        size = array.size * _LARGEST_ELEMENT.get(dtype.name, dtype.size)
    bound = size + len(name) + _LARGEST_HEADER
    if bound > _LARGEST_MESSAGE:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Tensor slice is too large to serialize (conservative estimate: {bound} bytes): "
            f"{name!r} of shape {list(array.shape)}; the V2 format has no such limit",
        )


def _fill_values(message: Any, array: np.ndarray, dtype: DType) -> None:
    """Writes all elements into the field of their type, as this format has it."""
    field = getattr(message, FIELD_OF[dtype.name])
    flat = np.ascontiguousarray(array).reshape(-1)
    if dtype is dtypes.string:
        field.extend(bytes(entry) for entry in flat)
    elif dtype.is_complex:
        field.extend(flat.view(flat.real.dtype).tolist())
    elif dtype.name in ("float16", "bfloat16"):
        field.extend(flat.view(np.uint16).tolist())
    else:
        field.extend(flat.tolist())
