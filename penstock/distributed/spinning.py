"""How threads wait for messages, and how they are woken.

1. To wake a thread on an idle core takes some 50 µs on a virtual machine, as long as a small step
   has to be computed; a thread that looks again and again, for a moment, before it sleeps has what
   it waits for at once. It looks only as long as nobody else wants its core, and where what it
   waits for mostly comes soon.
2. Linux has a thread that a message wakes run on the core of its sender, and at once, in the
   middle of the sender's work. A thread of the batch class waits until its sender has come to an
   end or another core is free.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Collection
from contextlib import suppress
from typing import Protocol

VARIABLE = "PENSTOCK_SPIN"  # for how many microseconds; 0: not at all
_DEFAULT_MICROSECONDS = 300
POLITE_VARIABLE = "PENSTOCK_POLITE"  # 0: threads that wait for messages keep the usual class
QUICK_SECONDS = 1e-3  # of waits that a thread looks out for before it sleeps
_OTHERS_RAN = 30e-6  # seconds: letting others have the core takes less if there is nobody


class Poll(Protocol):
    """`select.poll` or `select.epoll`."""

    def poll(self, timeout: float = ..., /) -> list[tuple[int, int]]: ...


def _allowance() -> float:
    """How many seconds a thread may look."""
    several_cores = hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) > 1
    text = os.environ.get(VARIABLE) or str(_DEFAULT_MICROSECONDS)
    return float(text) / 1e6 if several_cores else 0.0


_SECONDS = _allowance()
# That of `os` keeps the interpreter's lock, with which nobody else in the process comes further.
_yield_core = ctypes.CDLL(None).sched_yield if _SECONDS else None


def wake_politely() -> None:
    """Has the calling thread, from now on, not take the core of who wakes it.

    A thread whose class somebody has chosen keeps it; threads that this one starts have its class.
    """
    if not hasattr(os, "SCHED_BATCH") or os.environ.get(POLITE_VARIABLE) == "0":
        return
    with suppress(OSError):  # a sandbox may forbid it
        if os.sched_getscheduler(0) == os.SCHED_OTHER:
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


#: Connections for which threads of this process are at work. One that looks would only keep them
#: from it: they share the interpreter's lock.
at_work: set[int] = set()

_one_looks = threading.Lock()


class Lookout:
    """Waits for something, and looks for it before it sleeps where it came soon the last time."""

    def __init__(self, poll: Poll) -> None:
        self._poll = poll
        self._is_quick = False

    def wait(self) -> None:
        """Waits until there is something."""
        began = time.monotonic()
        if not self._is_quick or not self._looked():
            self._poll.poll()
        self._is_quick = time.monotonic() - began < QUICK_SECONDS

    def _looked(self) -> bool:
        if at_work or not _one_looks.acquire(blocking=False):
            return False
        try:
            return bool(found_soon(self._poll, at_work))
        finally:
            _one_looks.release()


def found_soon(poll: Poll, until: Collection[int] = ()) -> list[tuple[int, int]]:
    """What a poll finds at once, or within a moment; not any more when there is something else."""
    found = poll.poll(0)
    if found or _yield_core is None:
        return found
    last = time.perf_counter()
    limit = last + _SECONDS
    while last < limit and not until:
        _yield_core()
        found = poll.poll(0)
        if found:
            return found
        now = time.perf_counter()
        if now - last > _OTHERS_RAN:
            break
        last = now
    return []
