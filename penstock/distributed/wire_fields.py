"""Protobuf messages cut into fields, so that large ones need not be copied to be read or written.

A tensor of 100 MB inside a message is a run of bytes at some offset. Protobuf's parser would copy
it into its own memory and once more into a Python object; here it stays where it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

Buffer: TypeAlias = Any  # bytes, a memoryview, or a contiguous array of bytes

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class Field(NamedTuple):
    """One field of a message: its number, where it begins and ends, and where its bytes begin."""

    number: int
    begin: int
    content: int  # of a length-delimited field; else the same as `end`
    end: int


class DamagedMessage(ValueError):
    """Bytes that are no protobuf message."""


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message) and shift < 64:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise DamagedMessage("a number of the message has no end")


def _fields(message: memoryview) -> Iterator[Field]:
    at = 0
    while at < len(message):
        begin = at
        tag, at = _varint(message, at)
        kind = tag & 7
        content = None
        if kind == _VARINT:
            _, at = _varint(message, at)
        elif kind == _BYTES:
            length, content = _varint(message, at)
            at = content + length
        elif kind in (_FIXED64, _FIXED32):
            at += 8 if kind == _FIXED64 else 4
        else:
            raise DamagedMessage(f"the message has a field of the unknown kind {kind}")
        if at > len(message):
            raise DamagedMessage("the message is cut off")
        yield Field(tag >> 3, begin, at if content is None else content, at)


def cut(message: memoryview, number: int) -> tuple[list[memoryview], bytes]:
    """The contents of a repeated field of messages or bytes, and the message without them."""
    found: list[memoryview] = []
    rest: list[memoryview] = []
    kept_from = 0
    for field in _fields(message):
        if field.number == number:
            found.append(message[field.content : field.end])
            rest.append(message[kept_from : field.begin])
            kept_from = field.end
    rest.append(message[kept_from:])
    return found, b"".join(rest)


def _encoded_varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def size_of(parts: Iterable[Buffer]) -> int:
    """How many bytes parts of a message have."""
    return sum(len(part) for part in parts)


def field(number: int, parts: list[Buffer]) -> list[Buffer]:
    """Parts of a message as a length-delimited field of another one, again in parts."""
    return [_encoded_varint(number << 3 | _BYTES) + _encoded_varint(size_of(parts)), *parts]
