"""One run of a task's part of a step: in one thread, or in stretches between its waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from penstock.distributed.reading import Leading
from penstock.distributed.worker_machine import Execute, Executed
from penstock.runtime.resumable import Stretches
from penstock.runtime.step import Step
from penstock.runtime.tracing import Trace
from penstock.state.waiting import end_of_hold, hold_wakes

Done = Callable[[Executed], None]


class Work(Protocol):
    """Has a thread do something; see `Readers.work`."""

    def __call__(self, job: Callable[[], None], *, instant: bool = False) -> None: ...


def step_of(action: Execute) -> Step:
    """The step that a part runs in."""
    message, _, meeting = action
    step = Step(None, meeting.cancellation)
    step.rendezvous = meeting
    step.trace = Trace() if "traced" in message.fields else None
    meeting.ordered_by(message.link)
    return step


def run_part(action: Execute, leading: Leading | None = None) -> Executed:
    """Runs a part in the calling thread, which waits for what the part waits for.

    Its master in this task may lead already.
    """
    message, part, meeting = action
    step = step_of(action)
    meeting.leading = leading
    if leading is None and part.may_lead:
        meeting.may_lead_from = part.senders
    began = time.monotonic()
    if part.wakes_late:
        hold_wakes()
    try:
        done = _executed(action, step, part.run(step, message.values))
    except BaseException as error:  # whatever it is, the step is over here
        done = Executed(message, [], error)
    finally:
        if part.wakes_late:
            end_of_hold()
    part.seconds = time.monotonic() - began
    if meeting.leading is not None and meeting.leading is not leading:
        meeting.leading.end()
    return done


def _executed(action: Execute, step: Step, given: Sequence[Any]) -> Executed:
    """What a part has given, with what it sends to its master's own part."""
    message, part, meeting = action
    if step.trace is not None:
        told = part.step_stats(step.trace, message.values)
        given = [*given, told.SerializeToString()]
    meeting.flush(but=message.link.task)
    keys, kept = meeting.taken_back(message.link.task)
    return Executed(message, [*given, *kept], keys=keys)


class ResumedRun:
    """A run that takes no thread while it waits: a gate to those that it waits for.

    It computes in one thread at a time. A wait may be over before its thread has left the run: then
    that thread goes on.

    Args:
      action: what the worker has decided.
      step: the step, and the part's `stretches` in it.
      work: has a thread go on when a wait is over.
      done: is told of the end.
    """

    def __init__(self, action: Execute, step: Step, stretches: Stretches, work: Work, done: Done):
        self._action = action
        self._step = step
        self._stretches = stretches
        self._work = work
        self._done = done
        self._lock = threading.Lock()
        self._is_parked = False
        self._is_released = False  # before it was parked
        self._seconds = 0.0  # that it has computed
        step.resumption = self

    def release(self) -> None:
        """Has the run go on."""
        with self._lock:
            if not self._is_parked:
                self._is_released = True
                return
            self._is_parked = False
        self._work(self.go_on, instant=self._action.part.is_brief)

    def go_on(self) -> None:
        """Runs up to the next wait, or to the end."""
        part = self._action.part
        if part.wakes_late:
            hold_wakes()
        try:
            done = self._stretch(time.monotonic())
        finally:
            if part.wakes_late:
                end_of_hold()
        if done is not None:
            part.seconds = self._seconds
            self._step.resumption = None  # a circle would be left to the garbage collector
            self._done(done)

    def _stretch(self, began: float) -> Executed | None:
        try:
            while True:
                next(self._stretches)
                with self._lock:
                    if not self._is_released:
                        self._seconds += time.monotonic() - began
                        self._is_parked = True
                        return None
                    self._is_released = False
        except StopIteration as end:
            given = end.value
        except BaseException as error:  # whatever it is, the step is over here
            return Executed(self._action.message, [], error)
        self._seconds += time.monotonic() - began
        try:
            return _executed(self._action, self._step, given)
        except BaseException as error:  # a value that can't travel
            return Executed(self._action.message, [], error)
