"""Seeds for many ops from one."""

from __future__ import annotations

import hashlib

__all__ = ["SeedStream"]


class SeedStream:
    """Gives another seed with each call, determined by the first one and by a salt."""

    def __init__(self, seed: int | SeedStream | None, salt: str) -> None:
        self._seed = seed.original_seed if isinstance(seed, SeedStream) else seed
        self._salt = salt
        self._counter = 0

    def __call__(self) -> int | None:
        """The next seed; None if the first one was."""
        self._counter += 1
        if self._seed is None:
            return None
        text = str((self._seed, self._counter, self._salt))
        return int(hashlib.sha512(text.encode("utf-8")).hexdigest(), 16)

    @property
    def original_seed(self) -> int | None:
        return self._seed

    @property
    def salt(self) -> str:
        return self._salt
