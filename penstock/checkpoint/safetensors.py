"""Safetensors files, as a convenience: read like checkpoints, and written from them.

Such a file is the length of a header in 8 bytes, the header (JSON: for each tensor its type, shape
and place), and the bytes of the tensors, little-endian. It has no checksums, so what is checked is
that types, shapes, places and the file's length fit together.
"""

from __future__ import annotations

import json
import math
import os
import struct
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from penstock import dtypes, errors
from penstock.checkpoint import files, tensor_bytes
from penstock.checkpoint.missing import key_not_found
from penstock.checkpoint.slices import TensorSlice
from penstock.dtypes import DType

__all__ = ["SafetensorsReader", "is_safetensors", "load_file", "save_file"]

_TYPES: dict[str, DType] = {
    "BOOL": dtypes.bool,
    "U8": dtypes.uint8,
    "I8": dtypes.int8,
    "U16": dtypes.uint16,
    "I16": dtypes.int16,
    "U32": dtypes.uint32,
    "I32": dtypes.int32,
    "U64": dtypes.uint64,
    "I64": dtypes.int64,
    "F16": dtypes.float16,
    "BF16": dtypes.bfloat16,
    "F32": dtypes.float32,
    "F64": dtypes.float64,
    "C64": dtypes.complex64,
}
_NAMES = {dtype: name for name, dtype in _TYPES.items()}
_LARGEST_HEADER = 100_000_000
_METADATA = "__metadata__"


def is_safetensors(path: str) -> bool:
    """Whether a file begins as a safetensors file does."""
    try:
        with open(path, "rb") as file:
            start = file.read(9)
    except OSError:
        return False
    return len(start) == 9 and start[8:] == b"{" and _header_size(start) <= _LARGEST_HEADER


def _header_size(start: bytes) -> int:
    return int(struct.unpack("<Q", start[:8])[0])


class SafetensorsReader:
    """The tensors of a safetensors file; whatever does not fit together raises DataLossError."""

    def __init__(self, path: str):
        self._path = path
        with files.open_to_read(path) as file:
            self._size = os.fstat(file.fileno()).st_size
            start = file.read(8)
            if len(start) < 8 or _header_size(start) > min(self._size - 8, _LARGEST_HEADER):
                raise self._damaged("the header is not complete")
            self._start = 8 + _header_size(start)
            self._header = self._parsed(file.read(self._start - 8))
        self.metadata: dict[str, str] = self._header.pop(_METADATA, {})
        self._check_places()

    def _damaged(self, what: str) -> errors.DataLossError:
        return errors.DataLossError(None, None, f"{self._path}: {what}")

    def _parsed(self, text: bytes) -> dict[str, Any]:
        def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            found = dict(pairs)
            if len(found) != len(pairs):
                raise ValueError("a name occurs twice")
            return found

        try:
            header = json.loads(text.decode(), object_pairs_hook=unique)
        except (ValueError, RecursionError) as error:
            raise self._damaged(f"the header can't be read: {error}") from None
        if not isinstance(header, dict):
            raise self._damaged("the header is no JSON object")
        return header

    def _check_places(self) -> None:
        """Every tensor has a type, a shape and as many bytes; together they fill the file."""
        places = []
        for name, entry in self._header.items():
            try:
                shape, (start, end) = entry["shape"], entry["data_offsets"]
                numbers = [*shape, start, end]
                if not all(type(number) is int and number >= 0 for number in numbers):
                    raise ValueError
                needed = math.prod(shape) * _TYPES[entry["dtype"]].size
            except (KeyError, TypeError, ValueError):
                raise self._damaged(f"the entry of tensor {name!r} is wrong: {entry}") from None
            if end - start != needed:
                raise self._damaged(f"tensor {name!r} takes {needed} bytes, not {end - start}")
            places.append((start, end, name))
        position = 0
        for start, end, name in sorted(places):
            if start != position:
                raise self._damaged(f"tensor {name!r} begins at byte {start}, not {position}")
            position = end
        if self._start + position != self._size:
            raise self._damaged(
                f"the tensors end at byte {self._start + position}, the file at {self._size}"
            )

    # What is in it ----------------------------------------------------------------------------

    def names(self) -> list[str]:
        return list(self._header)

    def __contains__(self, name: str) -> bool:
        return name in self._header

    def _entry(self, name: str) -> Any:
        try:
            return self._header[name]
        except KeyError:
            raise key_not_found(name, self._path, self.names()) from None

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(self._entry(name)["shape"])

    def dtype(self, name: str) -> DType:
        return _TYPES[self._entry(name)["dtype"]]

    def is_sliced(self, name: str) -> bool:
        self._entry(name)
        return False

    # Values -----------------------------------------------------------------------------------

    def read(self, name: str) -> np.ndarray:
        """The value of a tensor."""
        start, end = self._entry(name)["data_offsets"]
        # Read, not mapped: a mapped file that shrinks meanwhile would end the process.
        with files.open_to_read(self._path, buffering=0) as file:
            data = np.fromfile(file, np.uint8, end - start, offset=self._start + start)
        if len(data) != end - start:
            raise self._damaged(f"tensor {name!r}: read {len(data)} of {end - start} bytes")
        values = data.view(self.dtype(name).as_numpy_dtype)
        if sys.byteorder == "big":
            values = values.byteswap()
        return values.reshape(self.shape(name))

    def read_slice(self, name: str, part: TensorSlice) -> np.ndarray:
        """A part of a tensor."""
        return self.read(name)[part.ranges(self.shape(name))]


def load_file(path: Any) -> dict[str, np.ndarray]:
    """The tensors of a safetensors file by name."""
    reader = SafetensorsReader(os.fspath(path))
    return {name: reader.read(name) for name in reader.names()}


def save_file(
    tensors: Mapping[str, Any], path: Any, metadata: Mapping[str, str] | None = None
) -> None:
    """Writes arrays as a safetensors file, which appears whole or not at all.

    >>> reader = tf.train.load_checkpoint("model.ckpt-1000")
    >>> names = reader.get_variable_to_shape_map()
    >>> save_file({name: reader.get_tensor(name) for name in names}, "model.safetensors")

    Args:
      tensors: arrays of numbers by name.
      path: the file.
      metadata: texts to keep with them.
    """
    arrays = {name: np.asarray(value) for name, value in tensors.items()}
    # The widest elements first, so that every tensor is aligned in a mapped file.
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    header: dict[str, Any] = {_METADATA: dict(metadata)} if metadata else {}
    position = 0
    for name in order:
        end = position + arrays[name].nbytes
        header[name] = {
            "dtype": _type_name(name, arrays[name]),
            "shape": list(arrays[name].shape),
            "data_offsets": [position, end],
        }
        position = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with files.new_file(os.fspath(path)) as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name in order:
            for block in tensor_bytes.blocks(arrays[name]):
                file.write(block)


def _type_name(name: str, array: np.ndarray) -> str:
    if name == _METADATA:
        raise ValueError(f"{_METADATA!r} can't be the name of a tensor")
    try:
        return _NAMES[dtypes.as_dtype(array.dtype)]
    except (KeyError, TypeError):
        raise TypeError(
            f"tensor {name!r} is of type {array.dtype}, which safetensors files can't hold"
        ) from None
