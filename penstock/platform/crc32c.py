"""CRC-32C checksums, plain and masked as TensorFlow's files hold them.

A file that holds checksums of data which itself holds checksums would weaken them; so the stored
form is rotated and shifted by a constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import google_crc32c
import numpy as np

_MASK_DELTA = 0xA282EAD8
_ALL_BITS = 0xFFFFFFFF


def value(data: Any) -> int:
    """The checksum of bytes, or of a contiguous NumPy array."""
    return google_crc32c.value(data)


def values(pieces: Sequence[bytes]) -> np.ndarray:
    """The checksum of each of some pieces of data."""
    return np.fromiter(map(google_crc32c.value, pieces), np.uint32, len(pieces))


def extend(crc: int, data: Any) -> int:
    """The checksum of what `crc` is the checksum of, followed by `data`."""
    return google_crc32c.extend(crc, data)


def mask(crc: Any) -> Any:
    """A checksum in the form in which files hold it; or an array of unsigned 32-bit ones."""
    return (((crc >> 15) | (crc << 17)) + _MASK_DELTA) & _ALL_BITS


def unmask(masked: int) -> int:
    """The inverse of `mask`."""
    rotated = (masked - _MASK_DELTA) & _ALL_BITS
    return ((rotated >> 17) | (rotated << 15)) & _ALL_BITS


def masked_value(data: Any) -> int:
    """The masked checksum of bytes, or of a contiguous NumPy array."""
    return mask(google_crc32c.value(data))
