"""The queue between a program and the thread that writes its events."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any


class QueueClosedError(Exception):
    """The queue takes nothing more: its reader has ended."""


class EventQueue:
    """A queue of limited size that can be closed from either side.

    1. `put` waits while the queue is full, and raises QueueClosedError once it is closed.
    2. `take` waits while the queue is empty, and gives None once it is closed and empty.
    3. `join` returns when everything that was put has been handled, or was dropped by `abandon`.
    """

    def __init__(self, capacity: int):
        self._capacity = capacity
        self._entries: deque[Any] = deque()
        self._unhandled = 0
        self._closed = False
        self._changed = threading.Condition()

    def put(self, entry: Any) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._closed or not self._is_full())
            if self._closed:
                raise QueueClosedError
            self._entries.append(entry)
            self._unhandled += 1
            self._changed.notify_all()

    def _is_full(self) -> bool:
        return 0 < self._capacity <= len(self._entries)

    def take(self) -> Any:
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._entries)
            entry = self._entries.popleft() if self._entries else None
            self._changed.notify_all()
            return entry

    def handled(self) -> None:
        """Says that an entry that was taken has been dealt with."""
        with self._changed:
            self._unhandled -= 1
            self._changed.notify_all()

    def join(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._unhandled == 0)

    def close(self) -> None:
        """Lets nothing more in; what is in the queue can still be taken."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def abandon(self) -> None:
        """Closes the queue and drops what is in it."""
        with self._changed:
            self._closed = True
            self._entries.clear()
            self._unhandled = 0
            self._changed.notify_all()
