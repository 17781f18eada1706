"""Waiting for other threads: at gates, which are locks that others open, and at queues."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TypeVar

_Element = TypeVar("_Element")

#: Seconds that a thread waits at a time. A signal that comes just before the main thread falls
#: asleep does not wake it: so Ctrl-C is late at most, and never lost.
LOOK_SECONDS = 1.0


def closed_gate() -> threading.Lock:
    gate = threading.Lock()
    gate.acquire()
    return gate


def passed(gate: threading.Lock, deadline: float | None = None) -> bool:
    """Waits until a gate is open; False if it is not when the time is over."""
    while True:
        left = LOOK_SECONDS if deadline is None else deadline - time.monotonic()
        if left <= LOOK_SECONDS and deadline is not None:
            return gate.acquire(timeout=max(0.0, left))
        if gate.acquire(timeout=LOOK_SECONDS):
            return True


def taken(queue: SimpleQueue[_Element]) -> _Element:
    """Waits for the next element of a queue."""
    while True:
        with suppress(Empty):
            return queue.get(timeout=LOOK_SECONDS)
