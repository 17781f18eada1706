"""Steps that wait, for tests: in threads of their own, with what they return or raise."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from penstock import errors
from penstock.state.waiting import Cancellation

WAIT_SECONDS = 10


class Background(threading.Thread):
    """A call in a thread; `result()` gives what it returned or raises what it raised."""

    def __init__(self, function: Callable[..., Any], *args: Any):
        super().__init__()
        self._function, self._arguments = function, args
        self._value: Any = None
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            self._value = self._function(*self._arguments)
        except BaseException as error:
            self._error = error

    def result(self) -> Any:
        self.join(WAIT_SECONDS)
        assert not self.is_alive(), "the call still waits"
        if self._error is not None:
            raise self._error
        return self._value

    def assert_waits(self) -> None:
        self.join(0.1)
        assert self.is_alive(), "the call did not wait"


class Impatient:
    """A step whose time is over as soon as it has to wait."""

    only_tries = False
    gate = None
    parked = None
    trace = None

    def __init__(self) -> None:
        self.deadline: float | None = time.monotonic()
        self.cancellation = Cancellation()

    def check(self) -> None:
        raise errors.DeadlineExceededError(None, None, "it would have to wait")


class Patient:
    """A step that waits for as long as it takes."""

    deadline: float | None = None
    only_tries = False
    gate = None
    parked = None
    trace = None

    def __init__(self, cancellation: Cancellation | None = None) -> None:
        self.cancellation = cancellation or Cancellation()

    def check(self) -> None:
        pass
