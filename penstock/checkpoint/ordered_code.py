"""Keys whose order as bytes is the order of what they encode, for slices of tensors."""

from __future__ import annotations

import re

_SPECIAL = re.compile(rb"[\x00\xff]")
_ESCAPED = {b"\x00": b"\x00\xff", b"\xff": b"\xff\x00"}

# What marks a number of n bytes: n ones in the first bits of its two first bytes.
_LENGTH_BITS = [(0xFFFF << (16 - length)) & 0xFFFF for length in range(11)]


def number(value: int) -> bytes:
    """A number that is not negative: the count of its bytes, then the bytes, highest first."""
    size = (value.bit_length() + 7) // 8
    return bytes([size]) + value.to_bytes(size, "big")


def string(text: bytes) -> bytes:
    """A string that ends in a mark which no longer string could have at that place."""
    return _SPECIAL.sub(lambda match: _ESCAPED[match[0]], text) + b"\x00\x01"


def signed_number(value: int) -> bytes:
    """A number of either sign; its length stands in the first bits."""
    magnitude = ~value if value < 0 else value
    size = magnitude.bit_length() // 7 + 1
    encoded = bytearray(value.to_bytes(max(size, 2), "big", signed=True))
    header = _LENGTH_BITS[size]
    if size == 1:
        return bytes([encoded[1] ^ 0x80])
    encoded[0] ^= header >> 8
    encoded[1] ^= header & 0xFF
    return bytes(encoded)


def slice_key(name: str, extents: list[tuple[int, int]]) -> bytes:
    """The key of a slice of the tensor `name`; an extent is (start, length), (0, -1) if whole."""
    parts = [number(0), string(name.encode()), number(len(extents))]
    for start, length in extents:
        parts += [signed_number(start), signed_number(length)]
    return b"".join(parts)
