"""How a master follows one step over its tasks: events in, actions out, no sockets, no clocks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from penstock import errors

Fields = dict[str, Any]


class Call(NamedTuple):
    """Ask a task something; the event `Answered` tells what it says, or why it can't."""

    task: str
    fields: Fields
    values: Sequence[Any] = ()


class Note(NamedTuple):
    """Tell a task something; if it can't be reached, its call is answered with that."""

    task: str
    fields: Fields


class Answered(NamedTuple):
    task: str
    fields: Fields
    values: Sequence[Any]
    error: BaseException | None = None


class Stop(NamedTuple):
    """The client gives up, or its session is closed."""

    error: BaseException
    reason: str


class Broken(NamedTuple):
    """A task can't be reached, or says that it has lost another one, its so many-eth loss."""

    task: str
    other: str | None = None
    losses: int = 0


class Tick(NamedTuple):
    """Time has passed."""


Event = Answered | Stop | Broken | Tick


@dataclass(frozen=True)
class KnownStep:
    """A step that its tasks have a part of each: which of its feeds and fetches each takes."""

    key: str
    taken: Mapping[str, tuple[list[int], list[int]]]


class StepRun:
    """One run of a step.

    1. The first error decides what the client is told, but for one that only says that the step
       was ended because of another.
    2. When it comes, the tasks that still run are told to stop, once; the step is over when all
       have answered.
    3. What a task has sent may be lost with a connection even after its part has ended well. So a
       step that still runs elsewhere fails with the loss of any of its tasks, and with that of a
       connection between one whose part had ended before and one that still runs.

    Args:
      step: what is run.
      number: the step's number, in all tasks.
      count: the number of fetches.
      deadline: when the time of the step is over.
      traced: whether the tasks are to tell what they did.
    """

    def __init__(
        self,
        step: KnownStep,
        number: int,
        count: int,
        deadline: float | None = None,
        *,
        traced: bool = False,
    ):
        self.number = number
        self.deadline = deadline
        self.values: list[Any] = [None] * count
        self.stats: list[bytes] = []
        self.error: BaseException | None = None
        self._step = step
        self._broken: list[Broken] = []  # connections between the step's tasks
        self._losses: dict[str, int] = {}  # of the tasks that have answered, at that time
        self._traced = traced
        self._running = set(step.taken)
        self._stopped = False

    @property
    def is_over(self) -> bool:
        return not self._running

    def begin(self, feeds: Sequence[Any]) -> list[Call]:
        """The orders to all tasks."""
        order = {"do": "run", "step_key": self._step.key, "step": self.number}
        if self._traced:
            order["traced"] = True
        return [
            Call(task, order, [feeds[i] for i in taken] if taken else [])
            for task, (taken, _) in self._step.taken.items()
        ]

    @property
    def tasks(self) -> Collection[str]:
        return self._step.taken.keys()

    def handle(self, event: Event, now: float) -> list[Note]:
        if isinstance(event, Answered):
            return self._answered(event)
        if isinstance(event, Broken):
            return self._find_broken(event)
        if isinstance(event, Stop):
            return self._stop(event.error, event.reason)
        if self.deadline is None or now < self.deadline:
            return []
        self.deadline = None  # the tasks are told once, and then waited for
        late = errors.DeadlineExceededError(
            None, None, "the step did not end within its timeout_in_ms"
        )
        return self._stop(late, "its time is over")

    def _answered(self, event: Answered) -> list[Note]:
        task, fields, values, error = event
        self._running.discard(task)
        self._losses[task] = fields.get("losses", 0)
        if error is not None:
            if isinstance(self.error, errors.AbortedError) and not _is_echo(error):
                self.error = error
            return self._stop(error, f"{task} has failed: {error}")
        if self._traced:
            *values, stats = values
            self.stats.append(stats)
        for i, value in zip(self._step.taken[task][1], values, strict=True):
            self.values[i] = value
        return self._stop_if_broken() if self._broken else []

    def _find_broken(self, event: Broken) -> list[Note]:
        task = event.task
        if event.other is not None:
            self._broken.append(event)
            return self._stop_if_broken()
        if task not in self.tasks or self.is_over:
            return []
        text = f"{task} can't be reached, which has a part in the step"
        return self._stop(errors.UnavailableError(None, None, text), text)

    def _stop_if_broken(self) -> list[Note]:
        for task, other, losses in self._broken:
            ended_before = task not in self._running and self._losses[task] < losses
            if ended_before and other in self._running:
                text = f"{task} has lost its connection to {other} during a step"
                return self._stop(errors.UnavailableError(None, None, text), text)
        return []

    def _stop(self, error: BaseException, reason: str) -> list[Note]:
        if self.error is None:
            self.error = error
        if self._stopped:
            return []
        self._stopped = True
        text = f"Step {self.number} was ended: {reason}"
        fields = {"do": "abort", "step": self.number, "message": text}
        return [Note(task, fields) for task in sorted(self._running)]


def _is_echo(error: BaseException) -> bool:
    return isinstance(error, (errors.AbortedError, errors.CancelledError))
