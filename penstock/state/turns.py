"""How many of several threads work at once: those that wait for something let others go on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """At most `count` threads at once have a turn; a thread that waits gives its turn away."""

    def __init__(self, count: int):
        self.count = count
        self._free = threading.Semaphore(count)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Waits for a turn, and has it within the block."""
        with self._free:
            before = getattr(_thread, "turns", None)
            _thread.turns = self
            try:
                yield
            finally:
                _thread.turns = before

    @contextmanager
    def _given_away(self) -> Iterator[None]:
        self._free.release()
        try:
            yield
        finally:
            self._free.acquire()


class _Thread(threading.local):
    turns: Turns | None = None


_thread = _Thread()


@contextmanager
def aside() -> Iterator[None]:
    """Lets others have this thread's turn within the block, in which it waits."""
    turns = _thread.turns
    if turns is None:
        yield
    else:
        with turns._given_away():
            yield
