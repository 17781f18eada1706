"""A client's session in virtual time: what it asks of the master of its task, and waits for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from penstock import errors
from penstock.distributed.master_machine import Registration, RollCall, SessionMachine
from penstock.distributed.simulation.scheduler import Resume, Wait
from penstock.distributed.simulation.task import SimulatedTask
from penstock.distributed.simulation.work import Order, SimulatedStep
from penstock.distributed.step_run import Answered, Call, Event, KnownStep, StepRun, Tick

Result = TypeVar("Result")
Waiting = Generator[Wait, Any, Result]

_START_SECONDS = 30.0
_FAREWELL_SECONDS = 0.5


class Session:
    """A session of a client in a task, over the tasks that it names.

    Its methods are parts of programs: `yield from session.run(step)`.

    Args:
      task: whose master it asks.
      machine: that of the session.
    """

    def __init__(self, task: SimulatedTask, machine: SessionMachine):
        self._task = task
        self.machine = machine
        self._known: dict[int, KnownStep] = {}  # by the identity of its step

    @classmethod
    def open(cls, task: SimulatedTask, others: Sequence[str]) -> Waiting[Session]:
        """Asks all tasks who they are, and raises if one is missing for long."""
        now = task.scheduler.now
        roll = task.master.roll_call(others, now, _START_SECONDS)
        yield lambda resume: _RollCalling(task, roll, resume).begin()
        if roll.error is not None:
            raise roll.error
        incarnations = {task.name: task.incarnation}
        for name, answer in roll.found.items():
            incarnations[name] = answer.fields["incarnation"]
        prefix = f"{task.scheduler.random.getrandbits(62):x}/"
        return cls(task, task.master.session(prefix, incarnations))

    def run(self, step: SimulatedStep, timeout: float | None = None) -> Waiting[StepRun]:
        """Runs a step once, and registers it before where that was not done yet."""
        known = self._known.get(id(step))
        if known is None:
            known = self._known[id(step)] = yield from self._register(step)
        now = self._task.scheduler.now
        number = self._task.scheduler.random.getrandbits(62)
        count = sum(len(fetches) for _, fetches in known.taken.values())
        deadline = None if timeout is None else now + timeout
        run = StepRun(known, number, count, deadline)
        yield lambda resume: _Following(self._task, run, step.with_orders, resume).begin()
        if run.error is not None:
            raise run.error
        return run

    def _register(self, step: SimulatedStep) -> Waiting[KnownStep]:
        fields = {"spec": step}
        registration, calls = self.machine.register(list(step.programs), fields)
        yield lambda resume: self._ask(registration, calls, resume)
        if registration.error is not None:
            raise registration.error
        return registration.step

    def _ask(self, registration: Registration, calls: Sequence[Call], resume: Resume) -> None:
        def answered(event: Answered) -> None:
            for late in registration.handle(event, self._task.scheduler.now):
                self._task.release(late)
            if registration.is_over:
                resume(None, None)

        for call in calls:
            self._task.call(call, answered)

    def close(self) -> None:
        for call in self.machine.close():
            self._task.release(call)


class _RollCalling:
    """Follows a `RollCall` to its end."""

    def __init__(self, task: SimulatedTask, roll: RollCall, resume: Resume):
        self._task, self._roll, self._resume = task, roll, resume

    @property
    def _goes_on(self) -> bool:
        return self._task.is_alive and not self._roll.is_over

    def begin(self) -> None:
        self._take(Tick())

    def _take(self, event: Answered | Tick) -> None:
        if not self._goes_on:
            return
        now = self._task.scheduler.now
        for call in self._roll.handle(event, now):
            self._task.call(call, lambda answer: self._task.scheduler.at(0, _taking(self, answer)))
        if self._roll.is_over:
            self._resume(None, None)
        elif self._roll.next_time is not None:
            self._task.scheduler.at(self._roll.next_time, lambda: self._take(Tick()))


def _taking(calling: _RollCalling, answer: Answered) -> Callable[[], None]:
    return lambda: calling._take(answer)


class _Following:
    """Follows a `StepRun` to its end."""

    def __init__(
        self, task: SimulatedTask, run: StepRun, late: Collection[str], resume: Resume
    ) -> None:
        self._task, self._run, self._resume = task, run, resume
        self._late = late  # tasks whose orders wait for what the own part sends with them
        self._orders: dict[str, Order] = {}  # those that wait
        self._links: dict[str, Any] = {}
        self._early: list[Event] | None = []  # while some tasks have not got their orders

    @property
    def _goes_on(self) -> bool:
        return self._task.is_alive and not self._run.is_over

    def begin(self) -> None:
        if self._run.deadline is not None:
            self._task.scheduler.at(self._run.deadline, lambda: self._take(Tick()))
        own = self._task.name
        calls = self._run.begin(())
        if self._late:  # the own part comes last: it gives orders
            calls.sort(key=lambda call: call.task == own)
        for call in calls:
            if call.task == own:
                fields = {**call.fields, "orders": self._orders}
                self._links[own] = self._task.call(Call(own, fields), self._own_part_ended)
            elif call.task in self._late and self._reach(call.task):
                self._orders[call.task] = partial(self._order, call)
            else:
                self._order(call, [], [])
        self._task.master.began(self._run, self._post)
        early, self._early = self._early or [], None
        for event in early:
            self._take(event)

    def _reach(self, task: str) -> bool:
        """Connects to a task that gets its order later, and perhaps a word before it."""
        with suppress(errors.UnavailableError):
            self._links[task] = self._task.connect(task)
        return task in self._links

    def _own_part_ended(self, event: Answered) -> None:
        """It may have failed before it gave all orders."""
        while self._orders:
            _, order = self._orders.popitem()
            order([], [])
        self._post(event)

    def _order(self, call: Call, keys: list[Any], values: list[Any]) -> None:
        """Has a task run its part, on what the own part has sent there so far."""
        if keys:
            call = Call(call.task, {**call.fields, "keys": keys}, values)
        self._links[call.task] = self._task.call(call, self._post)

    def _post(self, event: Event) -> None:
        if self._early is None:
            self._take(event)
        else:
            self._early.append(event)

    def _take(self, event: Event) -> None:
        if not self._goes_on:
            return
        for note in self._run.handle(event, self._task.scheduler.now):
            link = self._links[note.task]
            with suppress(errors.UnavailableError):  # its call was answered with that
                if link is not None:
                    link.note(note.fields)
            self._task.between_actions()
        if self._run.is_over:
            self._task.master.ended(self._run)
            self._resume(None, None)


def leaving(task: SimulatedTask) -> Waiting[None]:
    """Says goodbye to the tasks that this one was connected to, for half a second at most."""
    waiting: set[str] = set()

    def begin(resume: Resume) -> None:
        def answered(event: Answered) -> None:
            waiting.discard(event.task)
            if not waiting:
                resume(None, None)

        task.scheduler.after(_FAREWELL_SECONDS, lambda: resume(None, None))
        calls = task.farewell()
        waiting.update(call.task for call in calls)
        for call in calls:
            task.call(call, answered)

    yield begin
