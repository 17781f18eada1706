"""Reading idx files, the format MNIST is published in.

An idx file is two zero bytes, a byte for the element type, a byte for the rank, one big-endian
32-bit length per dimension, then the elements. MNIST's hold unsigned bytes and are gzipped; both
gzipped and plain files are read here.
"""

import gzip
import math
import struct
import zlib
from typing import IO, Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

UNSIGNED_BYTE = 0x08
_CHUNK = 1 << 20


def read_idx(file: IO[bytes], rank: int) -> Array:
    """Return the bytes of an open idx file as an array of `rank` dimensions.

    Raises ValueError, naming the file, for one of another format, rank or length.
    """
    name = getattr(file, "name", "<stream>")
    start = file.tell()
    gzipped = file.read(2) == b"\x1f\x8b"
    file.seek(start)
    stream: Any = gzip.GzipFile(fileobj=file) if gzipped else file
    try:
        shape = _read_header(stream, rank, name)
        data = _read_exactly(stream, math.prod(shape), name)
        if stream.read(1):
            raise ValueError(f"{name}: data goes on after the {_by(shape)} bytes of the header")
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{name}: truncated or damaged gzip data ({error})") from error
    return np.frombuffer(data, np.uint8).reshape(shape)


def _read_header(stream: Any, rank: int, name: str) -> tuple[int, ...]:
    magic = _read_exactly(stream, 4, name)
    expected = bytes((0, 0, UNSIGNED_BYTE, rank))
    if magic != expected:
        raise ValueError(
            f"{name}: Invalid magic number {int.from_bytes(magic, 'big')} in an idx file of "
            f"{rank}-dimensional bytes, expected {int.from_bytes(expected, 'big')}"
        )
    return struct.unpack(f">{rank}I", _read_exactly(stream, 4 * rank, name))


def _read_exactly(stream: Any, size: int, name: str) -> bytes:
    # In chunks, so that a header that claims terabytes costs no memory before the file runs out.
    parts = bytearray()
    while len(parts) < size:
        part = stream.read(min(_CHUNK, size - len(parts)))
        if not part:
            raise ValueError(f"{name}: file is truncated: expected {size} bytes, got {len(parts)}")
        parts += part
    return bytes(parts)


def _by(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))
