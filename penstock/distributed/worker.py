"""A worker: keeps its parts of registered steps, runs them, and receives what others send.

What it decides is in `worker_machine.py`; here are the threads, kernels and connections.
"""

from __future__ import annotations

import itertools
import secrets
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from penstock import errors
from penstock.distributed.connection import Answer as TakeAnswer
from penstock.distributed.connection import Connection
from penstock.distributed.departures import Departures
from penstock.distributed.frames import Fields, Value
from penstock.distributed.large_constants import TakenConstants
from penstock.distributed.master_machine import MasterMachine
from penstock.distributed.meeting import Connect, Known, Meeting, Order
from penstock.distributed.part_run import ResumedRun, run_part, step_of
from penstock.distributed.reading import Leading
from penstock.distributed.step_part import StepPart
from penstock.distributed.step_run import Answered, Broken, Call
from penstock.distributed.step_spec import StepSpec
from penstock.distributed.watched_part import step_part
from penstock.distributed.worker_machine import (
    Action,
    Answer,
    Clear,
    Compile,
    Compiled,
    Deliver,
    End,
    EndJob,
    Event,
    Execute,
    Introduce,
    Lost,
    Message,
    Refuse,
    Tell,
    Tick,
    WorkerMachine,
    deliver,
    parted,
)
from penstock.runtime.local import LocalRuntime

# What is answered once it is done, in another thread perhaps: as a note it is no message of a task.
_ANSWERED = frozenset(("run", "register", "forget", "status", "leave", "reset"))


class OwnLink:
    """How the master of a task reaches the worker of the same task: as any other, but at once."""

    def __init__(self, worker: Worker):
        self.task = worker.task
        self._worker = worker
        self._numbers = itertools.count(1)
        self._waiting: dict[int, TakeAnswer] = {}

    def call(self, fields: Fields, values: Sequence[Value], answer: TakeAnswer) -> None:
        number = next(self._numbers)
        self._waiting[number] = answer
        self._worker.handle(self, {**fields, "call": number}, values)

    def note(self, fields: Fields, values: Sequence[Value] = ()) -> None:
        self._worker.handle(self, fields, values)

    def reply(self, to: Fields, fields: Fields, values: Sequence[Value] = ()) -> None:
        self._waiting.pop(to["call"])(fields, list(values), None)

    def refuse(self, to: Fields, error: Any) -> None:
        self._waiting.pop(to["call"])({}, [], error)


class Worker:
    """The service of one task to masters and to other workers.

    Args:
      task: its name, /job:ps/replica:0/task:0.
      runtime: its devices and state.
      connect: gives a connection to another task.
      departures: knows which tasks come and go.
      on_job_over: called when nobody needs this task any more.
      make_runtime: makes the runtime of a session, with the task's state or with one for itself.
      known: gives the open connections with another task.

    Attributes:
      incarnation: tells this worker from the one that had its name before a restart.
      master: what the master of this task decides.
      own_link: how that master reaches this worker.
    """

    def __init__(
        self,
        task: str,
        runtime: LocalRuntime,
        connect: Connect,
        departures: Departures | None = None,
        on_job_over: Callable[[], None] = lambda: None,
        make_runtime: Callable[[bool], LocalRuntime] | None = None,
        known: Known = lambda task: (),
    ):
        self.task = task
        self.incarnation = secrets.token_hex(8)
        self.runtime = runtime
        self.master = MasterMachine(self.incarnation)
        self.own_link = OwnLink(self)
        self._connect = connect
        self._links: dict[str, Connection] = {}  # those that were used last
        self._on_job_over = on_job_over
        self._make_runtime = make_runtime or self._simple_runtime
        # The parts of a session's steps keep its runtime; when they are forgotten, so is the state
        # that is the session's own.
        self._sessions: weakref.WeakValueDictionary[str, LocalRuntime] = (
            weakref.WeakValueDictionary()
        )
        self._constants: weakref.WeakKeyDictionary[LocalRuntime, TakenConstants] = (
            weakref.WeakKeyDictionary()
        )
        self._lock = threading.Lock()
        self._machine = WorkerMachine(
            task,
            self.incarnation,
            departures or Departures((), None),
            partial(Meeting, task, connect, known),
        )

    @property
    def steps(self) -> list[int]:
        """The numbers of the steps that are not over here."""
        with self._lock:
            return self._machine.steps

    def connect(self, task: str) -> Any:
        """A connection to a task, this one too."""
        link = self._links.get(task)
        if link is None or link.is_lost:
            if task == self.task:
                return self.own_link
            link = self._links[task] = self._connect(task)
        return link

    def release(self, call: Call) -> None:
        """Has a task forget a session; one that can't be reached now is told later."""

        def answered(event: Answered) -> None:
            self.master.released(call.task, call.fields["prefix"], event.error)

        self.ask(self._links.get(call.task, self.own_link), call, answered)

    def ask(self, link: Any, call: Call, answer: Callable[[Answered], None]) -> None:
        """Asks what a master wants to know; a link that is lost answers with that, at once."""

        def answered(fields: Fields, values: list[Value], error: BaseException | None) -> None:
            given: Sequence[Value] = values
            if "keys" in fields:
                given, sent = parted(fields["keys"], values)
                self._deliver(call.fields["step"], fields["keys"], sent)
            answer(Answered(call.task, fields, given, error))

        link.call(call.fields, call.values, answered)

    # Events -----------------------------------------------------------------------------------

    def handle(self, link: Any, fields: Fields, values: Sequence[Value]) -> None:
        """Takes a message in the thread that read it; what takes time goes to another thread."""
        kind = fields.get("do")
        if kind == "take":
            self._deliver(fields["step"], fields["keys"], values)
        elif kind == "lost":
            self._broken(Broken(link.task, fields["task"], fields["losses"]))
        elif kind in _ANSWERED and "call" not in fields:
            raise ValueError(f"{kind!r} is to be answered, and came without the number of a call")
        else:
            self._take(Message(link, fields, values))

    def lost(self, connection: Connection) -> None:
        """Ends the steps in which a task has a part that can't be reached any more."""
        self._take(Lost(connection))
        self._broken(Broken(connection.task))

    def _broken(self, event: Broken) -> None:
        for post in self.master.concerned(event.task):
            post(event)

    def tidy(self, now: float) -> None:
        """Forgets tasks that do not come back, and values for steps that nobody orders to run."""
        self._take(Tick())
        for call in self.master.tick():
            self.release(call)

    def _deliver(self, step: int, keys: Sequence[Any], values: Sequence[Value]) -> None:
        with self._lock:
            meeting = self._machine.meeting(step, time.monotonic())
        if meeting is not None:
            deliver(meeting, keys, values)

    def _take(self, event: Event) -> None:
        with self._lock:
            actions = self._machine.handle(event, time.monotonic())
        for action in actions:
            self._do(action)

    # Actions ----------------------------------------------------------------------------------

    def _do(self, action: Action) -> None:
        if isinstance(action, Deliver):
            deliver(*action)
        elif isinstance(action, Execute):
            self._start(action)
        elif isinstance(action, Answer):
            self._answer(action.message, action.fields, action.values)
        elif isinstance(action, Refuse):
            self._refuse(action.message, action.error)
        elif isinstance(action, End):
            action.meeting.abort(action.error)
        elif isinstance(action, Tell):
            with suppress(errors.UnavailableError):
                action.link.note(action.fields)  # type: ignore[attr-defined]
        elif isinstance(action, Compile):
            self.runtime.crew.start(partial(self._compile, action.message))
        elif isinstance(action, Introduce):
            devices = [each.SerializeToString() for each in self.runtime.device_attributes()]
            self._answer(action.message, action.fields, devices)
        elif isinstance(action, Clear):
            self.runtime.crew.start(partial(self._clear, action.message))
        elif isinstance(action, EndJob):
            self._on_job_over()

    def _answer(self, message: Message, fields: Fields, values: Sequence[Value]) -> None:
        try:
            message.link.reply(message.fields, fields, values)  # type: ignore[attr-defined]
        except errors.UnavailableError:
            pass  # who asked is gone
        except errors.OpError as error:  # a value that can't travel
            self._refuse(message, error)

    def _refuse(self, message: Message, error: BaseException) -> None:
        with suppress(errors.UnavailableError):
            message.link.refuse(message.fields, error)  # type: ignore[attr-defined]

    def _start(self, action: Execute) -> None:
        """Runs a part in the thread that has the order to, where the thread has time for it."""
        link = action.message.link
        if not isinstance(link, Connection) or self.runtime.limits_threads:
            self.runtime.crew.start(partial(self._execute, action))
            return
        if action.part.is_instant(len(action.message.fields.get("keys", ()))):
            link.work(partial(self._execute, action), instant=True)
            return
        step = step_of(action)
        stretches = action.part.stretches(step, action.message.values)
        if stretches is None:
            link.work(partial(self._execute, action))
        else:
            run = ResumedRun(action, step, stretches, link.work, self._take)
            link.work(run.go_on, instant=action.part.is_brief)

    def _execute(self, action: Execute) -> None:
        self._take(run_part(action))

    def run_own(self, call: Call, leading: Leading | None, orders: dict[str, Order]) -> Answered:
        """Runs the part of this task for its own master, in the thread that asks.

        `orders` to other tasks wait for what the part sends there first.
        """
        action = self._decided(Message(self.own_link, call.fields, call.values))
        if isinstance(action, Execute):
            action.meeting.orders = orders
            action = self._decided(run_part(action, leading))
        for order in list(orders.values()):  # the part has failed before it could give them
            order([], [])
        if isinstance(action, Answer):
            return Answered(self.task, action.fields, action.values)
        assert isinstance(action, Refuse)
        return Answered(self.task, {}, [], action.error)

    def _decided(self, event: Event) -> Action:
        with self._lock:
            return self._machine.handle(event, time.monotonic())[-1]

    def _compile(self, message: Message) -> None:
        part = message.fields.get("part")  # that the master of this very task has compiled
        try:
            if part is None:
                part = self._part_of(message.fields, *message.values)
            done = Compiled(message, part)
        except Exception as error:
            done = Compiled(message, None, error)
        self._take(done)

    def _part_of(self, fields: Fields, nodes: bytes, *constants: Value) -> StepPart:
        """The part of a step that a master describes; its session's constants are kept."""
        runtime = self._runtime_for(fields)
        with self._lock:
            taken = self._constants.setdefault(runtime, TakenConstants())
        taken.take(fields.get("given", ()), constants)
        return step_part(StepSpec.from_json(fields["spec"], nodes, taken), runtime, self.task)

    def _runtime_for(self, fields: Fields) -> LocalRuntime:
        """The runtime of a session here."""
        session = fields["session"]
        with self._lock:
            found = self._sessions.get(session)
            if found is None:
                found = self._sessions[session] = self._make_runtime(fields["isolated"])
                found.crew = self.runtime.crew
                weakref.finalize(found, found.state.own.clear).atexit = False
            return found

    def _simple_runtime(self, isolated: bool) -> LocalRuntime:
        state = None if isolated else self.runtime.state
        return LocalRuntime(task_name=self.task, resources=state)

    def _clear(self, message: Message) -> None:
        try:
            self.runtime.reset(message.fields["containers"])
        except Exception as error:
            self._refuse(message, error)
        else:
            self._answer(message, {}, [])
