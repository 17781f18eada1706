"""Virtual time: what happens when, and programs that wait in it."""

from __future__ import annotations

import heapq
import itertools
import random
from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Any

Resume = Callable[[Any, "BaseException | None"], None]
Wait = Callable[[Resume], None]  # begins a wait, and has `resume` called once when it is over
Program = Generator[Wait, Any, Any]


class Crashed(BaseException):
    """Ends whatever a task is doing, at that very point: its process is gone."""


class Scheduler:
    """A clock that jumps from one event to the next; a seed decides which of two is first."""

    def __init__(self, seed: int = 0):
        self.now = 0.0
        self.random = random.Random(seed)
        self._events: list[tuple[float, float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()

    def at(self, time: float, do: Callable[[], None]) -> None:
        """Has something done at a time, or now where that is over."""
        time = max(time, self.now)
        entry = (time, self.random.random(), next(self._numbers), do)
        heapq.heappush(self._events, entry)

    def after(self, seconds: float, do: Callable[[], None]) -> None:
        self.at(self.now + seconds, do)

    def sleep(self, seconds: float) -> Wait:
        """A wait of a program."""
        return lambda resume: self.after(seconds, lambda: resume(None, None))

    def run(self, until: float, done: Callable[[], bool] = lambda: False) -> None:
        """Lets time pass until nothing is left to happen, it is late, or all is done."""
        while self._events and self._events[0][0] <= until and not done():
            self.now, _, _, do = heapq.heappop(self._events)
            with suppress(Crashed):
                do()


class Process:
    """A program that is under way: a generator that yields its waits.

    Args:
      program: what runs.
      ended: is told its result, or its error.
    """

    def __init__(self, program: Program, ended: Resume = lambda value, error: None):
        self._program = program
        self._ended = ended
        self._ticket = 0  # of the wait that may resume it
        self._is_running = False
        self._ready: tuple[Any, BaseException | None] | None = None
        self._is_over = False

    def start(self) -> Process:
        self._resume(None, None)
        return self

    def kill(self) -> None:
        """Ends it where it is, without a word."""
        self._is_over = True
        self._ticket += 1
        if not self._is_running:
            self._program.close()

    def interrupt(self, error: BaseException) -> None:
        """Ends its wait with an error."""
        if not self._is_over:
            self._ticket += 1
            self._resume(None, error)

    def _resume(self, value: Any, error: BaseException | None) -> None:
        self._ready = value, error
        if self._is_running:  # a wait that was over at once
            return
        self._is_running = True
        try:
            while self._ready is not None and not self._is_over:
                self._advance(*self._ready)
        finally:
            self._is_running = False

    def _advance(self, value: Any, error: BaseException | None) -> None:
        self._ready = None
        try:
            wait = self._program.send(value) if error is None else self._program.throw(error)
        except StopIteration as end:
            self._is_over = True
            self._ended(end.value, None)
        except Exception as failure:
            self._is_over = True
            self._ended(None, failure)
        else:
            self._begin(wait)

    def _begin(self, wait: Wait) -> None:
        self._ticket += 1
        ticket = self._ticket

        def resume(value: Any, error: BaseException | None) -> None:
            if ticket == self._ticket and not self._is_over:
                self._ticket += 1
                self._resume(value, error)

        wait(resume)
