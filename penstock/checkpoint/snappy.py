"""Unpacking of Snappy's raw format, in which blocks of some tables are compressed."""

from __future__ import annotations

from penstock.checkpoint import varints


def decompress(data: bytes) -> bytes:
    """The original of `data`; ValueError if it is damaged."""
    length, position = varints.decode(data, 0)
    result = bytearray()
    while position < len(data):
        tag = data[position]
        position += 1
        kind = tag & 3
        if kind == 0:
            position = _copy_literal(data, position, tag >> 2, result)
        else:
            position = _copy_earlier(data, position, tag, result)
        if len(result) > length:
            raise ValueError(f"holds more than the {length} bytes that it announces")
    if len(result) != length:
        raise ValueError(f"holds {len(result)} bytes, announces {length}")
    return bytes(result)


def _copy_literal(data: bytes, position: int, code: int, result: bytearray) -> int:
    size = code + 1
    if code >= 60:
        width = code - 59
        size = int.from_bytes(data[position : position + width], "little") + 1
        position += width
    if position + size > len(data):
        raise ValueError(f"a literal of {size} bytes at byte {position} is cut off")
    result += data[position : position + size]
    return position + size


def _copy_earlier(data: bytes, position: int, tag: int, result: bytearray) -> int:
    """Repeats bytes of the result; a copy may overlap what it adds."""
    if tag & 3 == 1:
        size, width, high = (tag >> 2 & 7) + 4, 1, tag >> 5 << 8
    else:
        size, width, high = (tag >> 2) + 1, 2 if tag & 3 == 2 else 4, 0
    if position + width > len(data):
        raise ValueError(f"a copy at byte {position} is cut off")
    distance = high | int.from_bytes(data[position : position + width], "little")
    if not 0 < distance <= len(result):
        raise ValueError(f"a copy at byte {position} reaches back {distance} bytes")
    start = len(result) - distance
    for offset in range(size):
        result.append(result[start + offset])
    return position + width
