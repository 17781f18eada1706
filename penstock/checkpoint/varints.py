"""Numbers of variable length, as LevelDB's tables and protocol buffers write them."""

from __future__ import annotations

from collections.abc import Iterable


def encode(number: int) -> bytes:
    """Seven bits a byte, lowest first; the high bit says that more follow."""
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def encode_all(numbers: Iterable[int]) -> bytes:
    return b"".join(map(encode, numbers))


def decode(data: bytes | memoryview, position: int) -> tuple[int, int]:
    """The number at `position` and the position after it; ValueError where there is none."""
    number = shift = 0
    while True:
        if position >= len(data) or shift > 63:
            raise ValueError(f"no complete number at byte {position}")
        byte = data[position]
        position += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, position
        shift += 7
