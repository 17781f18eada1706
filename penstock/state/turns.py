"""How many of several threads work at once: those that wait for something let others go on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Turns:
    """At most `count` threads at once have a turn; a thread that waits gives its turn away."""

    def __init__(self, count: int):
        self.count = count
        self._free = threading.Semaphore(count)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Waits for a turn, and has it within the block."""
        self._take()
        before, _thread.turns = _thread.turns, self
        try:
            yield
        finally:
            _thread.turns = before
            self._free.release()

    def _take(self) -> None:
        if not self._free.acquire(blocking=False):
            about_to_wait()
            self._free.acquire()

    @contextmanager
    def _given_away(self) -> Iterator[None]:
        self._free.release()
        try:
            yield
        finally:
            self._take()


class ShortSteps:
    """Has threads that run short steps, again and again, take turns instead of running at once.

    A short step is the interpreter's work more than that of kernels: threads that run such steps at
    once wait for the interpreter's lock, and for each other, longer than the steps take. One with
    the turn runs steps for a while. Its turn ends when it has to wait, and it goes on without:
    nobody waits for a thread that wants the turn. Threads with long steps need no turn, be it that
    these compute or that they read from somewhere.
    """

    _SHORT = 2e-4  # seconds of the processor's time
    _SHARE = 0.25  # of the time that a short step takes, at least, it has the processor
    _WHILE = 2e-3  # seconds that a thread keeps the turn
    _PATIENCE = 0.05  # seconds that others wait for it: who has it may wait for a lock

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._owner = 0
        self._seconds = 0.0  # of a step, lately

    def run(self, step: Callable[[], object], goes_on: Callable[[], bool]) -> None:
        """Runs a step, and further ones as long as this thread has the turn."""
        if self._seconds > self._SHORT or not self._turn.acquire(timeout=self._PATIENCE):
            begin, computed = time.monotonic(), time.thread_time()
            step()
            count = 1
        else:
            begin, computed = time.monotonic(), time.thread_time()
            count = self._run_in_turn(step, goes_on)
        passed = time.monotonic() - begin
        self._seconds = max(time.thread_time() - computed, self._SHARE * passed) / count

    def _run_in_turn(self, step: Callable[[], object], goes_on: Callable[[], bool]) -> int:
        own = self._owner = threading.get_ident()
        before, _thread.turns = _thread.turns, self
        end, count = time.monotonic() + self._WHILE, 0
        try:
            while True:
                step()
                count += 1
                if self._owner != own or time.monotonic() > end or not goes_on():
                    return count
        finally:
            _thread.turns = before
            self._let_go(own)

    @contextmanager
    def _given_away(self) -> Iterator[None]:
        self._let_go(threading.get_ident())
        yield

    def _let_go(self, thread: int) -> None:
        if self._owner == thread:
            self._owner = 0
            self._turn.release()


class _Thread(threading.local):
    turns: Turns | ShortSteps | None = None
    leaves: Callable[[], None] | None = None  # called before it waits


_thread = _Thread()


def before_waits(call: Callable[[], None]) -> None:
    """Has the calling thread, from now on, call something whenever it is going to wait."""
    _thread.leaves = call


def about_to_wait() -> None:
    """Does what the calling thread is to do before it waits."""
    if _thread.leaves is not None:
        _thread.leaves()


@contextmanager
def aside() -> Iterator[None]:
    """Lets others have this thread's turn within the block, in which it waits."""
    turns = _thread.turns
    if turns is None:
        yield
    else:
        with turns._given_away():
            yield
