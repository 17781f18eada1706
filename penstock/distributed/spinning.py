"""Looking again and again, for a moment, before a thread sleeps.

To wake a thread on an idle core takes some 50 µs on a virtual machine, as long as a small step has
to be computed; a thread that looks has what it waits for at once. It looks only as long as nobody
else wants its core, and where what it waits for mostly comes soon.
"""

from __future__ import annotations

import ctypes
import os
import select
import time

VARIABLE = "PENSTOCK_SPIN"  # for how many microseconds; 0: not at all
_DEFAULT_MICROSECONDS = 300
_OTHERS_RAN = 30e-6  # seconds: letting others have the core takes less if there is nobody


def _allowance() -> float:
    """How many seconds a thread may look."""
    several_cores = hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) > 1
    text = os.environ.get(VARIABLE) or str(_DEFAULT_MICROSECONDS)
    return float(text) / 1e6 if several_cores else 0.0


_SECONDS = _allowance()
# That of `os` keeps the interpreter's lock, with which nobody else in the process comes further.
_yield_core = ctypes.CDLL(None).sched_yield if _SECONDS else None


def found_soon(poll: select.poll) -> list[tuple[int, int]]:
    """What a poll finds at once, or within a moment."""
    found = poll.poll(0)
    if found or _yield_core is None:
        return found
    last = time.perf_counter()
    limit = last + _SECONDS
    while last < limit:
        _yield_core()
        found = poll.poll(0)
        if found:
            return found
        now = time.perf_counter()
        if now - last > _OTHERS_RAN:
            break
        last = now
    return []
