"""A lock that goes to those who wait for it in their order."""

from __future__ import annotations

import threading
from collections import deque


class FairLock:
    """Who lets go of it and wants it again comes after those who have waited.

    `threading.Lock` mostly goes back to the thread that has just released it: one that sends a
    large tensor in pieces would keep all others from sending.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._is_held = False
        self._waiting: deque[threading.Lock] = deque()

    def acquire(self, blocking: bool = True) -> bool:
        with self._guard:
            if not self._is_held:
                self._is_held = True
                return True
            if not blocking:
                return False
            gate = threading.Lock()
            gate.acquire()
            self._waiting.append(gate)
        try:
            gate.acquire()
        except BaseException:  # Ctrl-C
            self._give_up(gate)
            raise
        return True

    def _give_up(self, gate: threading.Lock) -> None:
        with self._guard:
            waits = gate in self._waiting
            if waits:
                self._waiting.remove(gate)
        if not waits:  # it has come meanwhile
            self.release()

    def release(self) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._is_held = False

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()
