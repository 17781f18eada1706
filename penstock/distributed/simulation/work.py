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
Order = Callable[[list[Any], list[Any]], None]  # has a task run its part, with keys and values


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
      with_orders: the tasks that the master's own part sends something to before it waits, which
        goes with their orders.
      compile_seconds: how long a task takes to make its part.
      name: for those who look at it.
    """

    programs: Mapping[str, PartProgram]
    fetches: Mapping[str, list[int]] = field(default_factory=dict)
    with_orders: frozenset[str] = frozenset()
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
      master: the task of the step's master.
      orders: those of the own task's master that wait for what this part sends first.

    Attributes:
      kept: keys and values for the master's task, which go with the answer.
    """

    def __init__(
        self,
        task: SimulatedTask,
        meeting: Meeting,
        step: int,
        master: str,
        orders: dict[str, Order],
    ):
        self.task = task
        self.step = step
        self.kept: tuple[list[Any], list[Any]] = ([], [])
        self._meeting = meeting
        self._master = master
        self._orders = orders  # each is given once, by this part or when it has ended

    @property
    def state(self) -> dict[str, Any]:
        """What the steps of all sessions share in this task."""
        return self.task.state

    def compute(self, seconds: float) -> Wait:
        return self.task.computing(seconds)

    def send(self, task: str, name: str, size: int, *, last: bool = False) -> None:
        """Sends a value to another part of the step.

        It goes with the order to that task, if that has waited for it; one that the part sends
        `last`, to the task of its master, goes with its answer.
        """
        key, value = [name, task, []], Value(size, self.step)
        order = self._orders.pop(task, None)
        if order is not None:
            order([key], [value])
        elif last and task == self._master:
            self.kept[0].append(key)
            self.kept[1].append(value)
        else:
            self.task.connect(task).note(taking(self.step, [key]), [value])

    def _give_orders(self) -> None:
        """Gives the orders that have waited for nothing."""
        while self._orders:
            _, order = self._orders.popitem()
            order([], [])

    def receive(self, name: str) -> Wait:
        """The value that another part has sent under that name."""
        self._give_orders()
        return self._meeting.receiving((name, self.task.name, ()))
