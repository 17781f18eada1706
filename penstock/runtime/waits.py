"""Calls that may wait, several at once, while their step goes on.

A call is tried first, unless it does more than wait. One that has to wait is put aside; when
nothing else is left to run, those put aside wait together: a single one in the step's own thread,
several in a thread each.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from penstock.runtime.step import Step
from penstock.state.gates import taken
from penstock.state.mutexes import release_locks
from penstock.state.waiting import MustWait

Call = Callable[[Step], Any]


class Waits:
    """The waits of one step under way."""

    def __init__(self, step: Step):
        self._step = step
        self._trial = step.view(only_tries=True)
        self._aside: list[tuple[Any, Call]] = []
        self._running = 0
        self._ended: SimpleQueue[tuple[Any, Any, BaseException | None]] = SimpleQueue()
        self._cancellation = step.cancellation

    def __enter__(self) -> Waits:
        return self

    def __exit__(self, failure: type[BaseException] | None, *_: Any) -> None:
        self.close()
        if failure is not None:
            release_locks(self._step.resources)

    def __bool__(self) -> bool:
        return bool(self._aside or self._running)

    def attempt(self, key: Any, call: Call) -> tuple[Any] | None:
        """The call's result in a tuple, or None where it has to wait; `key` will tell it apart."""
        try:
            return (call(self._trial),)
        except MustWait:
            self.put_aside(key, call)
            return None

    def put_aside(self, key: Any, call: Call) -> None:
        """Takes a call that is not to be tried: what it does before it waits is done once."""
        self._aside.append((key, call))

    def next(self) -> tuple[Any, Any]:
        """Waits until one of the calls has ended; its key and its result."""
        if len(self._aside) == 1 and not self._running:
            key, call = self._aside.pop()
            return key, call(self._step)
        for key, call in self._aside:
            self._start(key, call)
        self._aside.clear()
        key, result, error = taken(self._ended)
        self._running -= 1
        if error is not None:
            raise error
        return key, result

    def _start(self, key: Any, call: Call) -> None:
        if self._cancellation is self._step.cancellation:
            self._cancellation = self._step.cancellation.child()
        step = self._step.view(cancellation=self._cancellation)

        def run() -> None:
            try:
                self._ended.put((key, call(step), None))
            except BaseException as error:  # raised again in the step's thread
                self._ended.put((key, None, error))

        self._running += 1
        threading.Thread(target=run, name="penstock-wait", daemon=True).start()

    def close(self) -> None:
        """Ends what still waits: the step has failed, or its results are there."""
        if self._cancellation is self._step.cancellation:
            return
        if self._running:
            self._cancellation.cancel()
        while self._running:
            self._ended.get()
            self._running -= 1
        self._cancellation.close()
