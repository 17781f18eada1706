"""A tensor's value as the bytes that a bundle's data file holds, and back.

Numbers are the little-endian elements. Strings are the lengths as variable-length numbers, a
checksum of the lengths, and the strings. Variants, such as the state of an iterator, are serialized
messages, each with its length before it and a checksum after it.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from penstock import dtypes
from penstock.checkpoint import varints
from penstock.dtypes import DType
from penstock.platform import crc32c

_LARGEST_UINT32 = 2**32 - 1
BLOCK_SIZE = 4 << 20


def is_number(dtype: DType) -> bool:
    """Whether the bytes of a tensor are those of its elements."""
    return dtype not in (dtypes.string, dtypes.variant, dtypes.resource)


def blocks(array: np.ndarray) -> Iterator[np.ndarray]:
    """The bytes of a tensor of numbers, in blocks; only what is not contiguous is copied."""
    if array.flags.c_contiguous:
        content = array.reshape(-1)
        if sys.byteorder == "big":
            content = content.byteswap()
        content = content.view(np.uint8)
        for start in range(0, len(content), BLOCK_SIZE):
            yield content[start : start + BLOCK_SIZE]
        return
    rows = BLOCK_SIZE // array[0].nbytes
    if rows == 0:
        for row in array:
            yield from blocks(row)
        return
    for start in range(0, len(array), rows):
        yield from blocks(np.ascontiguousarray(array[start : start + rows]))


def encode(array: np.ndarray, dtype: DType) -> tuple[list[Any], int]:
    """The pieces of strings or variants to write one after the other, and their checksum."""
    if dtype is dtypes.string:
        return _encode_strings(array)
    if dtype is dtypes.variant:
        return _encode_variants(array)
    raise TypeError(f"tensors of type {dtype.name} can't be saved")


def _length_bytes(length: int) -> bytes:
    """A length as checksums take it in: four bytes where they suffice."""
    return struct.pack("<I" if length <= _LARGEST_UINT32 else "<Q", length)


def _encode_strings(array: np.ndarray) -> tuple[list[Any], int]:
    strings = [
        entry.encode() if isinstance(entry, str) else bytes(entry) for entry in array.reshape(-1)
    ]
    lengths = [len(entry) for entry in strings]
    crc = crc32c.value(b"".join(map(_length_bytes, lengths)))
    stored = struct.pack("<I", crc32c.mask(crc))
    text = b"".join(strings)
    crc = crc32c.extend(crc32c.extend(crc, stored), text)
    return [varints.encode_all(lengths), stored, text], crc


def _encode_variants(array: np.ndarray) -> tuple[list[Any], int]:
    pieces: list[Any] = []
    crc = 0
    for entry in array.reshape(-1):
        if not isinstance(entry, bytes):
            raise TypeError(f"a variant that holds a {type(entry).__name__} can't be saved")
        crc = crc32c.extend(crc32c.extend(crc, _length_bytes(len(entry))), entry)
        stored = struct.pack("<I", crc32c.mask(crc))
        crc = crc32c.extend(crc, stored)
        pieces += [varints.encode_all([len(entry)]), entry, stored]
    return pieces, crc


def decode(
    data: np.ndarray, dtype: DType, shape: tuple[int, ...], crc_of_data: int
) -> tuple[np.ndarray, int]:
    """The tensor in the bytes `data` and its checksum; ValueError if they don't fit together.

    `crc_of_data` is the checksum of the bytes as they are, which is that of numbers.
    """
    count = int(np.prod(shape, dtype=np.int64))
    if dtype is dtypes.string:
        array = np.empty(count, dtype=object)
        array[:], crc = _decode_strings(data.tobytes(), count)
        return array.reshape(shape), crc
    if dtype is dtypes.variant:
        array = np.empty(count, dtype=object)
        array[:], crc = _decode_variants(data.tobytes(), count)
        return array.reshape(shape), crc
    values = data.view(dtype.as_numpy_dtype)
    if sys.byteorder == "big":
        values = values.byteswap()
    return values.reshape(shape), crc_of_data


def _decode_strings(data: bytes, count: int) -> tuple[list[bytes], int]:
    lengths, position = _decode_lengths(data, count)
    crc = crc32c.value(b"".join(map(_length_bytes, lengths)))
    stored = data[position : position + 4]
    if len(stored) < 4 or struct.unpack("<I", stored)[0] != crc32c.mask(crc):
        raise ValueError("the checksum of the lengths of the strings is wrong")
    text = data[position + 4 :]
    if sum(lengths) != len(text):
        raise ValueError(f"the strings have {sum(lengths)} bytes, {len(text)} are there")
    return list(_cut(text, lengths)), crc32c.extend(crc32c.extend(crc, stored), text)


def _decode_variants(data: bytes, count: int) -> tuple[list[bytes], int]:
    if count > len(data):
        raise ValueError(f"{len(data)} bytes can't hold {count} variants")
    entries, position, crc = [], 0, 0
    for _ in range(count):
        length, position = varints.decode(data, position)
        entry = data[position : position + length]
        stored = data[position + length : position + length + 4]
        crc = crc32c.extend(crc32c.extend(crc, _length_bytes(length)), entry)
        if len(stored) < 4 or struct.unpack("<I", stored)[0] != crc32c.mask(crc):
            raise ValueError("the checksum of a variant is wrong")
        crc = crc32c.extend(crc, stored)
        entries.append(entry)
        position += length + 4
    return entries, crc


def _decode_lengths(data: bytes, count: int) -> tuple[list[int], int]:
    if count > len(data):
        raise ValueError(f"{len(data)} bytes can't hold {count} strings")
    lengths, position = [], 0
    for _ in range(count):
        length, position = varints.decode(data, position)
        lengths.append(length)
    return lengths, position


def _cut(text: bytes, lengths: list[int]) -> Iterator[bytes]:
    position = 0
    for length in lengths:
        yield text[position : position + length]
        position += length


def expected_size(dtype: DType, shape: tuple[int, ...]) -> int | None:
    """The bytes that a tensor takes; None for strings and variants, whose size is their own."""
    if dtype in (dtypes.string, dtypes.variant):
        return None
    return int(np.prod(shape, dtype=np.int64)) * dtype.size
