"""How threads wait for messages, and how they are woken.

1. To wake a thread on an idle core takes some 50 µs on a virtual machine, as long as a small step
   has to be computed; a thread that looks again and again, for a moment, before it sleeps has what
   it waits for at once. It does so where what it waits for mostly comes soon, and leaves its core
   to whoever wants it between two looks.
2. Linux has a thread that a message wakes run on the core of its sender, and at once, in the
   middle of the sender's work. A thread of the batch class waits until its sender has come to an
   end or another core is free.
3. Threads that look keep cores busy, so that Linux no longer searches for an idle one when it wakes
   a thread, and does not take away one that ran just now: two that bring each other forward may
   share a core for long, beside an idle one. One of them moves there.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from penstock.distributed.numbers_of_environment import number_of_environment
from penstock.platform.processors import processors

VARIABLE = "PENSTOCK_SPIN"  # for how many microseconds; 0: not at all
_DEFAULT_MICROSECONDS = 700
POLITE_VARIABLE = "PENSTOCK_POLITE"  # 0: threads that wait for messages keep the usual class
FEW_PROCESSORS = processors() <= 3  # for all tasks that are on this machine
_SHARED_SECONDS = 60e-6  # that others had the core: it may be those whose answer is waited for
# That somebody had it who computes. The system leaves a thread that looks in the queue behind, even
# if another core is idle; one that sleeps is woken where there is room.
_LOST_SECONDS = 300e-6
_RESIGNED_SECONDS = 10e-3  # that no thread looks after that
_STAYING_SECONDS = 5e-3  # that no thread moves after one has, or has found no idle core
QUICK_SECONDS = 1e-3  # of waits that a thread looks out for before it sleeps
# The same of what a part of a step, and of what a client waits for: what takes longer is the work
# of several tasks, which want the few.
QUICK_PART_SECONDS = 3e-4 if FEW_PROCESSORS else QUICK_SECONDS
QUICK_ANSWER_SECONDS = 2e-4 if FEW_PROCESSORS else QUICK_SECONDS


class Poll(Protocol):
    """`select.poll` or `select.epoll`."""

    def poll(self, timeout: float = ..., /) -> list[tuple[int, int]]: ...


def _allowance() -> float:
    """How many seconds a thread may look."""
    several_cores = hasattr(os, "sched_getaffinity") and processors() > 1
    microseconds = number_of_environment(VARIABLE, _DEFAULT_MICROSECONDS)
    return microseconds / 1e6 if several_cores else 0.0


_SECONDS = _allowance()
# That of `os` keeps the interpreter's lock, with which nobody else in the process comes further.
_yield_core = ctypes.CDLL(None).sched_yield if _SECONDS else None
_LOAD = Path("/proc/loadavg")


def wake_politely() -> None:
    """Has the calling thread, from now on, not take the core of who wakes it.

    A thread whose class somebody has chosen keeps it; threads that this one starts have its class.
    """
    if _thread.is_polite:
        return
    _thread.is_polite = True
    if not hasattr(os, "SCHED_BATCH") or os.environ.get(POLITE_VARIABLE) == "0":
        return
    with suppress(OSError):  # a sandbox may forbid it
        if os.sched_getscheduler(0) == os.SCHED_OTHER:
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


class _Thread(threading.local):
    is_polite = False


_thread = _Thread()

#: The threads of this process that do what a message asks for. One that looks would only keep them
#: from it: they share the interpreter's lock.
at_work: set[int] = set()

#: Of the thread of this process that looks while it stands by.
one_looks = threading.Lock()


class _Process:
    resigned_until = 0.0  # nobody looks before that
    stays_until = 0.0  # nobody moves before that


def found_soon(
    poll: Poll,
    has_to_stop: Callable[[], object] | None = None,
    seconds: float = _SECONDS,
    *,
    may_move: bool = False,
) -> list[tuple[int, int]]:
    """What a poll finds at once or within a moment, in which others have the core if they want it.

    A thread that slept would not only be woken late: on a virtual machine, whatever runs on a core
    that was idle meanwhile takes two to four times as long.

    Args:
      poll: what is looked at.
      has_to_stop: tells a thread that stands by that others have something to do. One that waits
        for an answer has none, and sleeps when others have used its core: the system wakes it
        where there is room.
      seconds: how long a moment is, if it is less than what threads may look at all.
      may_move: whether a thread whose core others have used goes to an idle one.
    """
    found = poll.poll(0)
    if found or _yield_core is None:
        return found
    last = time.perf_counter()
    if last < _Process.resigned_until:
        return found
    limit = last + min(seconds, _SECONDS)
    while last < limit and not (has_to_stop is not None and has_to_stop()):
        _yield_core()
        now = time.perf_counter()
        if may_move and now - last > _SHARED_SECONDS and _moved_to_idle_core(now):
            last = now = time.perf_counter()
        if now - last > _LOST_SECONDS:
            _Process.resigned_until = now + _RESIGNED_SECONDS
            return poll.poll(0)
        found = poll.poll(0)
        if found:
            return found
        if has_to_stop is None and now - last > _SHARED_SECONDS:
            break
        last = now
    return []


def _moved_to_idle_core(now: float) -> bool:
    """Has the calling thread go on on another core, if one is idle and none has moved just now."""
    if now < _Process.stays_until:
        return False
    _Process.stays_until = now + _STAYING_SECONDS
    with suppress(OSError, ValueError, IndexError):  # a system that does not tell, or forbids it
        if _running() > processors():
            return False
        allowed = os.sched_getaffinity(0)
        others = allowed - {_current_core()}
        if others:
            try:
                os.sched_setaffinity(0, others)
            finally:
                os.sched_setaffinity(0, allowed)
            return True
    return False


def _running() -> int:
    """How many threads of the system compute, or want to."""
    return int(_LOAD.read_text().split()[3].partition("/")[0])


def _current_core() -> int:
    found: int = ctypes.CDLL(None).sched_getcpu()
    return found
