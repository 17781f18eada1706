"""The random numbers of pipelines: the 32-bit words of a Philox stream, one at a time."""

from __future__ import annotations

import secrets

from penstock.kernels.philox import Stream

_BLOCKS = 256  # computed at once
_WORDS = 4 * _BLOCKS


class RandomWords:
    """The words of the stream of two seeds, and how many of them were taken."""

    def __init__(self, seed: int, seed2: int):
        self.seeds = seed, seed2
        self._stream = Stream(seed % 2**64, seed2 % 2**64)
        self._taken = 0
        self._ready: list[int] = []

    def next(self) -> int:
        place = self._taken % _WORDS
        if place == 0 or not self._ready:
            start = self._taken // _WORDS * _BLOCKS
            self._ready = self._stream.skipped(start).words(_BLOCKS).reshape(-1).tolist()
        self._taken += 1
        return self._ready[place]

    def save(self) -> list[int]:
        return [*self.seeds, self._taken]

    def restore(self, state: list[int]) -> None:
        self.__init__(state[0], state[1])  # type: ignore[misc]
        self._taken = state[2]


def given_seeds(seed, seed2) -> tuple[int, int]:
    """The seeds of a node; two zeros ask for others in each run."""
    seeds = int(seed), int(seed2)
    return (secrets.randbits(63), secrets.randbits(63)) if seeds == (0, 0) else seeds
