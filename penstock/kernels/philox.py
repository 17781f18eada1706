"""Philox4x32-10, the counter-based generator behind seeded random operations.

A block of four 32-bit words is a function of a 64-bit key and a 128-bit counter, so that any part
of a stream can be computed alone, and all blocks of a draw at once. TensorFlow's streams have the
operation's first seed as key and its second seed as the upper half of the counter; the lower half
counts blocks.

J. K. Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (2011).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
_KEY_STEPS = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 10
_LOW = 0xFFFFFFFF
_CHUNK = 16384  # blocks: their intermediate values stay in the cache
# The key under which the seeds of stateless operations are mixed.
_MIXING_KEY = 0x02461E293EC8F720


@dataclass(frozen=True)
class Stream:
    """A place in a stream: the key, and the upper and lower half of the counter."""

    key: int
    high: int
    low: int = 0

    def skipped(self, blocks: int) -> Stream:
        counter = ((self.high << 64) + self.low + int(blocks)) % 2**128
        return Stream(self.key, counter >> 64, counter % 2**64)

    def words(self, blocks: int) -> np.ndarray:
        """The next blocks, as an array [blocks, 4] of unsigned 32-bit words."""
        out = np.empty((blocks, 4), np.uint32)
        for start in range(0, blocks, _CHUNK):
            stop = min(start + _CHUNK, blocks)
            positions = np.arange(start, stop, dtype=np.uint64) + np.uint64(self.low)
            self._fill(positions, out[start:stop])
        return out

    def words_at(self, offsets: np.ndarray) -> np.ndarray:
        """The blocks that are `offsets` further on: an array of the offsets' shape, then 4."""
        positions = offsets.astype(np.uint64).reshape(-1) + np.uint64(self.low)
        out = np.empty((positions.size, 4), np.uint32)
        for start in range(0, positions.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            self._fill(positions[part], out[part])
        return out.reshape(*offsets.shape, 4)

    def words_on(self, offsets: torch.Tensor) -> torch.Tensor:
        """The blocks at `offsets` as a tensor of signed words, computed where `offsets` is."""
        positions = offsets + _signed(self.low)
        high = torch.full_like(positions, _signed(self.high))
        if self.low >= 2**63:  # the sum may have passed the lower half's end
            high += positions >= 0
        full = (high & _LOW, high >> 32 & _LOW)
        lanes = _rounds(self.key, positions & _LOW, positions >> 32, *full)
        return torch.stack(lanes, dim=-1).to(torch.int32)

    def _fill(self, positions: np.ndarray, out: np.ndarray) -> None:
        high = np.full_like(positions, self.high)
        high += positions < np.uint64(self.low)  # where the lower half has passed its end
        halves = high & _LOW, high >> 32
        for i, lane in enumerate(_rounds(self.key, positions & _LOW, positions >> 32, *halves)):
            out[:, i] = lane


def _rounds(key: int, c0: Any, c1: Any, c2: Any, c3: Any) -> tuple[Any, Any, Any, Any]:
    """The four words of each block, in the lower halves of 64-bit integers (NumPy's or torch's)."""
    k0, k1 = key & _LOW, key >> 32
    for _ in range(_ROUNDS):
        p0, p1 = c0 * _MULTIPLIERS[0], c2 * _MULTIPLIERS[1]
        c0 = p1 >> 32
        c0 ^= c1
        c0 ^= k0
        c0 &= _LOW
        c2 = p0 >> 32
        c2 ^= c3
        c2 ^= k1
        c2 &= _LOW
        # Their upper halves are not part of the words: what is derived from them is masked.
        c1, c3 = p1, p0
        k0, k1 = (k0 + _KEY_STEPS[0]) & _LOW, (k1 + _KEY_STEPS[1]) & _LOW
    return c0, c1, c2, c3


def _signed(half: int) -> int:
    return half - 2**64 if half >= 2**63 else half


class Generator:
    """The stream of one seeded node in one session: each run continues where the last one ended."""

    def __init__(self, seed: int, seed2: int):
        self._stream = Stream(seed % 2**64, seed2 % 2**64)
        self._lock = threading.Lock()
        for made in getattr(_collecting, "lists", ()):
            made.append(self)

    def save(self) -> list[int]:
        """Where the stream is, for `restore`."""
        with self._lock:
            return [self._stream.key, self._stream.high, self._stream.low]

    def restore(self, state: Sequence[int]) -> None:
        """Goes on where `save` was called."""
        with self._lock:
            self._stream = Stream(*state)

    def reserve(self, blocks: int) -> Stream:
        """The stream from here on; the next call's starts `blocks` later."""
        with self._lock:
            stream = self._stream
            self._stream = stream.skipped(blocks)
        return stream


_collecting = threading.local()


@contextmanager
def collected_generators() -> Iterator[list[Generator]]:
    """A list of the generators that this thread makes within the block."""
    lists = _collecting.__dict__.setdefault("lists", [])
    made: list[Generator] = []
    lists.append(made)
    try:
        yield made
    finally:
        lists.pop()


def mixed(seed: int, seed2: int) -> Stream:
    """The stream of a stateless operation: its seeds, scrambled, as key and counter."""
    words = Stream(_MIXING_KEY, seed2 % 2**64, seed % 2**64).words(1)[0]
    a, b, c, d = map(int, words)
    return Stream(b << 32 | a, d << 32 | c)
