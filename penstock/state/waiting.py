"""Waiting for state to change: attempts that are repeated until they succeed, first come first
served, and what ends a wait early.

An attempt is a function that is called under the lock of its resource. It tries to do an
operation, now or when something has changed, by whichever thread changed it.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple, NoReturn, Protocol

from penstock import errors
from penstock.state.gates import closed_gate, passed
from penstock.state.turns import about_to_wait, aside


class Outcome(Enum):
    """How far an attempt came."""

    NOTHING = 0  # it has to wait
    SOME = 1  # it has to wait, but it changed something
    DONE = 2


NOTHING, SOME, DONE = Outcome.NOTHING, Outcome.SOME, Outcome.DONE


class Cancellation:
    """A flag that wakes those who wait: a session has one for all of its steps."""

    _parent: Cancellation | None = None
    is_cancelled = False

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wakers: dict[Any, Callable[[], None]] = {}

    def add(self, key: Any, wake: Callable[[], None]) -> None:
        """Has `wake` called on cancellation, at once where that has happened already."""
        with self._lock:
            if not self.is_cancelled:
                self._wakers[key] = wake
                return
        wake()

    def child(self) -> Cancellation:
        """A flag that is set with this one, and can be set alone; `close` it when it is done."""
        made = Cancellation()
        made._parent = self
        self.add(made, made.cancel)
        return made

    def close(self) -> None:
        if self._parent is not None:
            self._parent.discard(self)

    def discard(self, key: Any) -> None:
        with self._lock:
            self._wakers.pop(key, None)

    def cancel(self) -> None:
        with self._lock:
            self.is_cancelled = True
            wakers, self._wakers = self._wakers, {}
        for wake in wakers.values():
            wake()


class MustWait(BaseException):
    """Raised in the place of a wait where the waiter only tries; no kernel catches it."""


class Parked(BaseException):
    """Raised in the place of a wait that goes on without a thread; no kernel catches it.

    The kernel is called again when the gate of its step has been opened.
    """


class Gate(Protocol):
    """What is opened at the end of a wait: a lock that a thread waits for, for instance."""

    def release(self) -> None: ...


class Waiter(Protocol):
    """What a wait asks of the step that waits.

    Attributes:
      gate: what to open at the end of a wait without a thread; None if the thread is to wait.
      parked: the attempt of such a wait.
    """

    gate: Gate | None
    parked: Any

    @property
    def only_tries(self) -> bool: ...

    @property
    def deadline(self) -> float | None: ...

    @property
    def cancellation(self) -> Cancellation: ...

    @property
    def trace(self) -> Any: ...

    def check(self) -> None: ...


class Reminder(NamedTuple):
    """What to do once while a wait goes on, after so many seconds."""

    seconds: float
    call: Callable[[], None]


class _Thread(threading.local):
    held: list[Gate] | None = None  # that the thread opens later


_thread = _Thread()


def hold_wakes() -> None:
    """From now on the calling thread wakes others when it waits itself, and in `end_of_hold`.

    A thread that is woken at once runs against the one that has woken it, and mostly has to wait
    for the next thing that this one brings.
    """
    _thread.held = []


def wake_held() -> None:
    """Wakes those whom the calling thread has not woken yet: it is going to wait."""
    if _thread.held:
        held, _thread.held = _thread.held, []
        for gate in held:
            _open(gate)


def end_of_hold() -> bool:
    """Wakes those, and others at once from now on; whether the thread has held wakes."""
    if _thread.held is None:
        return False
    wake_held()
    _thread.held = None
    return True


def _open(gate: Gate) -> None:
    try:  # noqa: SIM105 - steps come along here
        gate.release()
    except RuntimeError:
        pass  # it is open already


class Attempt:
    """An operation that waits for its turn."""

    __slots__ = ("error", "gate", "give_back", "in_parts", "is_over", "is_waited_for", "run")

    def __init__(
        self,
        run: Callable[[], Outcome],
        give_back: Callable[[], None] | None = None,
        *,
        in_parts: bool = False,
    ):
        self.run = run
        self.in_parts = in_parts  # a part of it may be done, for good, while the rest waits
        self.give_back = give_back  # what undoes a part that was done, if the attempt is given up
        self.error: errors.OpError | None = None
        self.is_over = False
        self.is_waited_for = False
        self.gate: Gate | None = None

    def wait_for(self, gate: Gate) -> None:
        """Has the gate opened when the attempt is over; call it under the lock of its lines."""
        self.gate = gate
        self.is_waited_for = True

    def end(self, error: errors.OpError | None = None) -> None:
        self.error = error
        self.is_over = True
        if self.is_waited_for:
            self.wake()

    def wake(self) -> None:
        assert self.gate is not None
        if _thread.held is None:
            _open(self.gate)
        else:
            _thread.held.append(self.gate)


class Lines:
    """The lines of attempts that wait at one resource.

    1. All attempts run under `lock`. In a line, none runs before those in front of it are over,
       but in a line that is `unordered`, where an attempt waits for something of its own.
    2. After any change `flush` runs attempts until none of them comes further.
    """

    def __init__(self, count: int = 2, *, unordered: bool = False):
        self.lock = threading.Lock()
        self._lines: list[deque[Attempt]] = [deque() for _ in range(count)]
        self._unordered = unordered

    def __getitem__(self, line: int) -> deque[Attempt]:
        return self._lines[line]

    def run(
        self,
        line: int,
        attempt: Attempt,
        waiter: Waiter,
        what: str,
        reminder: Reminder | None = None,
    ) -> None:
        """Does an operation when its turn has come; `what` names it where it is cancelled."""
        if attempt.in_parts and waiter.only_tries:
            raise MustWait
        with self.lock:
            self._lines[line].append(attempt)
            self.flush()
            if not attempt.is_over and waiter.only_tries:
                self._withdraw(line, attempt)
                raise MustWait
            gate = closed_gate()
            if not attempt.is_over:
                attempt.wait_for(waiter.gate or gate)
        if attempt.is_waited_for:
            if waiter.gate is not None:
                self._park(attempt, waiter)
            self._wait(line, attempt, gate, waiter, what, reminder)
        self._raise_error_of(attempt, waiter, what)

    @staticmethod
    def _park(attempt: Attempt, waiter: Waiter) -> NoReturn:
        waiter.cancellation.add(attempt, attempt.wake)
        waiter.parked = attempt
        raise Parked

    def parked(self, line: int, waiter: Waiter, what: str) -> Any:
        """The attempt, now over, that a waiter has parked here; None if it has not."""
        attempt = waiter.parked
        if attempt is None:
            return None
        with self.lock:
            gave_up = not attempt.is_over
            if gave_up:
                if not waiter.cancellation.is_cancelled:
                    raise Parked  # it was called again for something else
                self._withdraw(line, attempt)
        waiter.parked = None
        waiter.cancellation.discard(attempt)
        if gave_up:
            self._refuse_if_cancelled(waiter, what)
        self._raise_error_of(attempt, waiter, what)
        return attempt

    def _raise_error_of(self, attempt: Attempt, waiter: Waiter, what: str) -> None:
        if attempt.error is not None:
            self._refuse_if_cancelled(waiter, what)  # a session that closes closes its queues, too
            raise attempt.error

    def flush(self) -> None:
        """Runs waiting attempts as far as they come; call it under the lock."""
        changed = True
        while changed:
            changed = False
            for line in self._lines:
                if line and self._advance(line):
                    changed = True

    def _advance(self, line: deque[Attempt]) -> bool:
        changed = False
        for attempt in list(line):
            try:
                outcome = attempt.run()
                error = None
            except errors.OpError as failure:
                outcome, error = DONE, failure
            if outcome is DONE:
                line.remove(attempt)
                attempt.end(error)
            changed = changed or outcome is not NOTHING
            if outcome is not DONE and not self._unordered:
                break
        return changed

    @staticmethod
    def _refuse_if_cancelled(waiter: Waiter, what: str) -> None:
        if waiter.cancellation.is_cancelled:
            raise errors.CancelledError(None, None, f"{what} operation was cancelled")

    def _withdraw(self, line: int, attempt: Attempt) -> None:
        """Takes an attempt out of its line, undoing the part that was done; under the lock."""
        self._lines[line].remove(attempt)
        if attempt.give_back is not None:
            attempt.give_back()
        self.flush()

    def _wait(
        self,
        line: int,
        attempt: Attempt,
        gate: threading.Lock,
        waiter: Waiter,
        what: str,
        reminder: Reminder | None,
    ) -> None:
        cancellation = waiter.cancellation
        cancellation.add(attempt, attempt.wake)
        about_to_wait()
        wake_held()  # its own attempt among them, where the step has been cancelled already
        began = time.perf_counter_ns()
        try:
            with aside():
                _pass(gate, waiter.deadline, reminder)
            if waiter.trace is not None:
                waiter.trace.wait(time.perf_counter_ns() - began)
        finally:  # Ctrl-C ends a wait too
            cancellation.discard(attempt)
            with self.lock:
                gave_up = not attempt.is_over
                if gave_up:
                    self._withdraw(line, attempt)
        if gave_up:
            self._refuse_if_cancelled(waiter, what)
            waiter.check()
            raise errors.DeadlineExceededError(None, None, f"{what} operation timed out")


def _pass(gate: threading.Lock, deadline: float | None, reminder: Reminder | None) -> None:
    """Waits until the gate is opened or the deadline is over."""
    if reminder is not None:
        soon = time.monotonic() + reminder.seconds
        if deadline is None or deadline > soon:
            if passed(gate, soon):
                return
            reminder.call()
    passed(gate, deadline)
