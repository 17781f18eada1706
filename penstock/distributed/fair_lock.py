"""A lock that goes to those who wait for it in their order."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from penstock.state.gates import closed_gate


class FairLock:
    """Who lets go of it and wants it again comes after those who have waited.

    `threading.Lock` mostly goes back to the thread that has just released it: one that sends a
    large tensor in pieces would keep all others from sending. Where nobody waits, it costs as
    much as that one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        #: `acquire(False)` at the price of a plain lock's: it mostly does not see who waits.
        self.take_now: Callable[[bool], bool] = self._lock.acquire
        self._waiting: deque[threading.Lock] = deque()

    def acquire(self, blocking: bool = True) -> bool:
        if not self._waiting and self._lock.acquire(blocking=False):
            return True
        return blocking and self._waited()

    def _waited(self) -> bool:
        gate = closed_gate()
        self._waiting.append(gate)
        self._pass_on()  # it may have been released before the gate was there
        try:
            gate.acquire()
        except BaseException:  # Ctrl-C
            self._give_up(gate)
            raise
        return True

    def _give_up(self, gate: threading.Lock) -> None:
        try:
            self._waiting.remove(gate)
        except ValueError:  # it has come meanwhile
            self.release()

    def release(self) -> None:
        self._lock.release()
        if self._waiting:
            self._pass_on()

    def _pass_on(self) -> None:
        """Gives the lock, if it is free, to who has waited longest."""
        while self._waiting and self._lock.acquire(blocking=False):
            with suppress(IndexError):  # who has waited has given up
                self._waiting.popleft().release()
                return
            self._lock.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()
