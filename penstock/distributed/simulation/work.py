"""Steps in virtual time: what their parts compute, send and receive, and how long that takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.distributed.simulation.scheduler import Process, Program, Resume, Wait
from penstock.distributed.worker_machine import taking
from penstock.runtime.mailbox import ABSENT, Key, Mailbox

if TYPE_CHECKING:
    from penstock.distributed.simulation.task import SimulatedTask

PartProgram = Callable[["Context"], Program]


class Value(NamedTuple):
    """A tensor: its size in bytes, and the step that made it."""

    size: int
    step: int


@dataclass(frozen=True)
class SimulatedStep:
    """A step: a program for each of its tasks, which returns the values of the task's fetches.

    Attributes:
      programs: what each task runs.
      fetches: the fetches that each task has.
      compile_seconds: how long a task takes to make its part.
      name: for those who look at it.
    """

    programs: Mapping[str, PartProgram]
    fetches: Mapping[str, list[int]] = field(default_factory=dict)
    compile_seconds: float = 0.0
    name: str = ""


class SimulatedPart:
    """What a task has compiled of a step."""

    def __init__(self, step: SimulatedStep, task: str):
        self.tasks = list(step.programs)
        self.feeds: list[int] = []
        self.fetches = step.fetches.get(task, [])
        self.program = step.programs[task]


class Meeting:
    """Where the values of one step meet in one task."""

    def __init__(self, number: int):
        self.running: Process | None = None
        self._mail: Mailbox[tuple[Key, Resume]] = Mailbox()

    def deliver(self, key: Key, value: Any) -> None:
        waiter = self._mail.put(key, value)
        if waiter is not None:
            (key, resume) = waiter
            resume(self._mail.take(key), None)

    def receiving(self, key: Key) -> Wait:
        """A wait for a value."""

        def begin(resume: Resume) -> None:
            value = self._mail.take(key)
            if value is not ABSENT:
                resume(value, None)
            elif self._mail.error is not None:
                resume(None, self._mail.error)
            else:
                self._mail.wait(key, (key, resume))

        return begin

    def abort(self, error: BaseException) -> None:
        self._mail.abort(error)
        if self.running is not None:
            self.running.interrupt(error)


class Context:
    """What the program of a part may do; it waits for what these methods return.

    Args:
      task: where it runs.
      meeting: that of its step.
      step: the number of its step.
    """

    def __init__(self, task: SimulatedTask, meeting: Meeting, step: int):
        self.task = task
        self.step = step
        self._meeting = meeting

    @property
    def state(self) -> dict[str, Any]:
        """What the steps of all sessions share in this task."""
        return self.task.state

    def compute(self, seconds: float) -> Wait:
        return self.task.computing(seconds)

    def send(self, task: str, name: str, size: int) -> None:
        """Sends a value to another part of the step."""
        fields = taking(self.step, [[name, task, []]])
        self.task.connect(task).note(fields, [Value(size, self.step)])

    def receive(self, name: str) -> Wait:
        """The value that another part has sent under that name."""
        return self._meeting.receiving((name, self.task.name, ()))
