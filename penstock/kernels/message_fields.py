"""Fields of protocol buffer messages on the wire, without the messages: reading and writing them.

A field is a number and a wire type in one number of variable length, then its value: a number of
variable length, four or eight bytes, or a length and as many bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from penstock import dtypes, errors
from penstock.checkpoint.varints import decode, encode

VARINT, EIGHT_BYTES, DELIMITED, START_GROUP, END_GROUP, FOUR_BYTES = range(6)


class Kind:
    """How values of one of protobuf's field types look on the wire, and as tensors."""

    def __init__(
        self,
        name: str,
        wire_type: int,
        types: tuple[Any, ...],
        read: Callable[[Any], Any] = int,
        write: Callable[[Any], bytes] = bytes,
    ):
        self.name, self.wire_type, self.types = name, wire_type, types
        self.read, self.write = read, write


def _signed(bits: int) -> Callable[[int], int]:
    def read(number: int) -> int:
        number %= 1 << bits
        return number - (1 << bits) if number >> (bits - 1) else number

    return read


def _write_number(number: Any) -> bytes:
    return encode(int(number) % 2**64)


def _write_wrapped(number: Any) -> bytes:
    """A 32-bit number; of a wider one the lower half."""
    return _write_number(_signed(32)(int(number)))


def _unzigzag(number: int) -> int:
    return (number >> 1) ^ -(number & 1)


def _zigzag(number: Any) -> bytes:
    return _write_number(2 * int(number) if number >= 0 else -2 * int(number) - 1)


def _fixed(code: str) -> tuple[Callable[[bytes], Any], Callable[[Any], bytes]]:
    layout = struct.Struct(f"<{code}")
    convert: Callable[[Any], Any] = float if code in "fd" else int

    def read(data: bytes) -> Any:
        return layout.unpack(data)[0]

    def write(value: Any) -> bytes:
        return layout.pack(convert(value))

    return read, write


_INTEGERS = (dtypes.int32, dtypes.int64)
_NATURALS = (dtypes.uint32, dtypes.uint64)
_FLOATS = (dtypes.float32, dtypes.float64)
_BYTES = (dtypes.string,)

#: By the numbers that descriptors give field types.
KINDS = {
    1: Kind("double", EIGHT_BYTES, _FLOATS[1:], *_fixed("d")),
    2: Kind("float", FOUR_BYTES, _FLOATS, *_fixed("f")),
    3: Kind("int64", VARINT, _INTEGERS[1:], _signed(64), _write_number),
    4: Kind("uint64", VARINT, _NATURALS[1:], int, _write_number),
    5: Kind("int32", VARINT, _INTEGERS, _signed(32), _write_wrapped),
    6: Kind("fixed64", EIGHT_BYTES, _NATURALS[1:], *_fixed("Q")),
    7: Kind("fixed32", FOUR_BYTES, _NATURALS, *_fixed("I")),
    8: Kind("bool", VARINT, (dtypes.bool,), bool, _write_number),
    9: Kind("string", DELIMITED, _BYTES, bytes),
    10: Kind("group", START_GROUP, _BYTES, bytes),
    11: Kind("message", DELIMITED, _BYTES, bytes),
    12: Kind("bytes", DELIMITED, _BYTES, bytes),
    13: Kind("uint32", VARINT, _NATURALS, lambda number: number % 2**32, _write_number),
    14: Kind("enum", VARINT, _INTEGERS[:1], _signed(32), _write_wrapped),
    15: Kind("sfixed32", FOUR_BYTES, _INTEGERS, *_fixed("i")),
    16: Kind("sfixed64", EIGHT_BYTES, _INTEGERS[1:], *_fixed("q")),
    17: Kind("sint32", VARINT, _INTEGERS, _unzigzag, _zigzag),
    18: Kind("sint64", VARINT, _INTEGERS[1:], _unzigzag, _zigzag),
}


def _data_loss(message: str) -> errors.DataLossError:
    return errors.DataLossError(None, None, message)


def fields(data: bytes) -> Iterator[tuple[int, int, Any]]:
    """The number, wire type and value (a number or bytes) of each field of a message."""
    position = 0
    while position < len(data):
        try:
            tag, position = decode(data, position)
            value, position = _value(data, position, tag)
        except ValueError as error:
            raise _data_loss(f"Failed to consume the message: {error}") from error
        yield tag >> 3, tag & 7, value


def _value(data: bytes, position: int, tag: int) -> tuple[Any, int]:
    wire_type = tag & 7
    if wire_type == VARINT:
        return decode(data, position)
    if wire_type == START_GROUP:
        return _group(data, position, tag >> 3)
    if wire_type == DELIMITED:
        size, position = decode(data, position)
    elif wire_type in (FOUR_BYTES, EIGHT_BYTES):
        size = 4 if wire_type == FOUR_BYTES else 8
    else:
        raise ValueError(f"wire type {wire_type} at byte {position}")
    if position + size > len(data):
        raise ValueError(f"{size} bytes are announced at byte {position} of {len(data)}")
    return data[position : position + size], position + size


def _group(data: bytes, position: int, number: int) -> tuple[bytes, int]:
    """The bytes of a group's fields, and the position after the tag that ends it."""
    start = position
    while True:
        before = position
        tag, position = decode(data, position)
        if tag & 7 == END_GROUP:
            if tag >> 3 != number:
                raise ValueError(f"group {number} is ended by {tag >> 3}")
            return data[start:before], position
        _, position = _value(data, position, tag)


def values(kind: Kind, wire_type: int, value: Any) -> list[Any]:
    """What an occurrence of a field gives: one value, or several that are packed."""
    if wire_type == kind.wire_type:
        return [kind.read(value)]
    if wire_type != DELIMITED:
        return []  # of another type than it should be: it is not known
    return list(map(kind.read, _unpacked(value, kind.wire_type)))


def _unpacked(data: bytes, wire_type: int) -> Iterator[Any]:
    position = 0
    while position < len(data):
        try:
            value, position = _value(data, position, wire_type)
        except ValueError as error:
            raise _data_loss(f"Failed to unpack a field: {error}") from error
        yield value


def written(number: int, kind: Kind, items: list[Any], *, packed: bool) -> bytes:
    """A field with all its values."""
    if not items:
        return b""
    if packed:
        body = b"".join(map(kind.write, items))
        return encode(number << 3 | DELIMITED) + encode(len(body)) + body
    tag = encode(number << 3 | kind.wire_type)
    if kind.wire_type == DELIMITED:
        return b"".join(tag + encode(len(item)) + item for item in items)
    if kind.wire_type == START_GROUP:
        end = encode(number << 3 | END_GROUP)
        return b"".join(tag + item + end for item in items)
    return b"".join(tag + kind.write(item) for item in items)


def empty(dtype: Any, shape: tuple[int, ...], default: Any) -> np.ndarray:
    """An array of a field's default value."""
    element = object if dtype is dtypes.string else dtype.as_numpy_dtype
    array: np.ndarray = np.empty(shape, element)
    array[...] = default
    return array
