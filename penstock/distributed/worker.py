"""A worker: keeps its parts of registered steps, runs them, and receives what others send.

A step has one number in all tasks. Values for it may come before the order to run it, so its
rendezvous is made by whichever is first.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar

from penstock import errors
from penstock.distributed.connection import Connection
from penstock.distributed.departures import Departures
from penstock.distributed.frames import Fields, Value
from penstock.distributed.step_spec import StepSpec, parts_of, task_of
from penstock.runtime.binding import bind_all, evaluator
from penstock.runtime.compiled import settle_memory
from penstock.runtime.local import LocalRuntime
from penstock.runtime.partitioned import PartitionedPlan
from penstock.runtime.rendezvous import Key, Rendezvous
from penstock.runtime.step import Step
from penstock.runtime.tracing import Trace
from penstock.state.waiting import Cancellation

Connect = Callable[[str], Connection]  # a kept connection to a task

_REMEMBERED = 4096  # steps that are over: what comes late for them is dropped
_UNCLAIMED_SECONDS = 600.0  # values for a step that nobody orders to run: its master is gone


class StepPart:
    """What this task runs of one registered step."""

    def __init__(self, spec: StepSpec, runtime: LocalRuntime, task: str):
        step, parts = parts_of(spec, evaluator(runtime.host))
        devices = {device.name: device for device in runtime.devices}
        own = [part for part in parts if task_of(part.device) == task]
        for part in own:
            settle_memory(part.graph, devices[part.device])
        self._bound = [(part, bind_all(part.graph, devices)) for part in own]
        self.feeds = sorted({i for part in own for i in part.feeds})
        self.fetches = sorted({i for part in own for i in part.fetches})
        self.tasks = list(dict.fromkeys(task_of(part.device) for part in parts))
        self.graphs = [part.graph for part in parts]  # of all tasks
        self._make_plan = partial(PartitionedPlan, step, self._bound, runtime.crew, inner=True)
        self._feed_count = len(step.feeds)
        self._plan = self._make_plan()
        self._traced: PartitionedPlan | None = None  # made for the first run that is traced

    def run(self, step: Step, feeds: Sequence[Any]) -> list[Any]:
        """Runs on the values of `self.feeds`; gives those of `self.fetches`."""
        given: list[Any] = [None] * self._feed_count
        for i, value in zip(self.feeds, feeds, strict=True):
            given[i] = value
        plan = self._plan
        if step.trace is not None:
            plan = self._traced = self._traced or self._make_plan(traced=True)
        results = plan.run(step, given)
        return [results[i] for i in self.fetches]

    def step_stats(self, trace: Trace, feeds: Sequence[Any]) -> Any:
        """What a traced run of this part did."""
        values = dict(zip(self.feeds, feeds, strict=True))
        for part, entries in self._bound:
            trace.add_silent(part.graph, entries, [values[i] for i in part.feeds])
        return trace.step_stats()


class _Meeting(Rendezvous):
    """The rendezvous of one step in one task: what is for another task is sent there."""

    def __init__(self, worker: Worker, number: int):
        super().__init__()
        self._worker = worker
        self._number = number
        self.cancellation = Cancellation()
        self.made = time.monotonic()
        self.tasks: set[str] = set()  # whose part it needs, once it is ordered to run
        self.lost: errors.UnavailableError | None = None

    def send(self, key: Key, value: Any) -> None:
        name, device, frame = key
        task = task_of(device)
        if task == self._worker.task:
            super().send(key, value)
            return
        fields = {"do": "take", "step": self._number, "key": [name, device, list(frame)]}
        self._worker.connect(task).note(fields, [value])

    def deliver(self, key: Key, value: Any) -> None:
        super().send(key, value)

    def abort(self, error: BaseException) -> None:
        super().abort(error)
        self.cancellation.cancel()

    def lose(self, task: str) -> None:
        """Ends the step: a task that has a part in it can't be reached."""
        self.lost = errors.UnavailableError(
            None, None, f"{self._worker.task} has lost its connection to {task} during a step"
        )
        self.abort(self.lost)


class Worker:
    """The service of one task to masters and to other workers.

    Args:
      task: its name, /job:ps/replica:0/task:0.
      runtime: its devices and state.
      connect: gives a connection to another task.
      departures: is told which tasks come and go.

    Attributes:
      incarnation: tells this worker from the one that had its name before a restart.
      used: the tasks that masters of this task have run parts of steps on.
    """

    def __init__(
        self,
        task: str,
        runtime: LocalRuntime,
        connect: Connect,
        departures: Departures | None = None,
    ):
        self.task = task
        self.incarnation = secrets.token_hex(8)
        self.used: set[str] = set()
        self._departures = departures or Departures((), None, lambda: None)
        self.runtime = runtime
        self.connect = connect
        self._lock = threading.Lock()
        self._parts: dict[str, StepPart] = {}
        self._meetings: dict[int, _Meeting] = {}
        self._over: OrderedDict[int, None] = OrderedDict()

    # What others ask for ----------------------------------------------------------------------

    def handle(self, connection: Connection, fields: Fields, values: list[Value]) -> None:
        """Takes a message in the thread that read it; what takes time goes to another thread."""
        kind = fields.get("do")
        if kind == "take":
            name, device, frame = fields["key"]
            meeting = self._meeting(fields["step"])
            if meeting is not None:
                meeting.deliver((name, device, tuple(frame)), values[0])
        elif kind == "abort":
            self.abort(fields["step"], fields["message"])
        elif kind in self._SLOW:
            method = self._SLOW[kind]
            fields["from"] = connection.task
            self.runtime.crew.start(lambda: self._answer(method, connection, fields, values))
        elif kind == "status":
            self._departures.opened(connection.task)
            devices = [each.SerializeToString() for each in self.runtime.device_attributes()]
            connection.reply(fields, {"incarnation": self.incarnation}, devices)
        elif kind == "leave":
            connection.reply(fields, {})
            self._departures.left(connection.task, time.monotonic(), fields["used"])
        else:
            unknown = errors.UnimplementedError(None, None, f"no such request: {kind!r}")
            connection.refuse(fields, unknown)

    def _answer(
        self,
        method: Callable[[Worker, Fields, list[Value]], tuple[Fields, list[Value]]],
        connection: Connection,
        fields: Fields,
        values: list[Value],
    ) -> None:
        try:
            reply, given = method(self, fields, values)
        except Exception as error:
            with suppress(errors.UnavailableError):  # who asked is gone
                connection.refuse(fields, error)
            return
        try:
            connection.reply(fields, reply, given)
        except errors.UnavailableError:
            pass
        except errors.OpError as error:  # a value that can't travel
            connection.refuse(fields, error)

    def lost(self, connection: Connection) -> None:
        """Ends the steps in which a task has a part that can't be reached any more."""
        self._departures.lost(connection.task, time.monotonic())
        with self._lock:
            ended = [
                (number, meeting)
                for number, meeting in self._meetings.items()
                if connection.task in meeting.tasks
            ]
        for number, meeting in ended:
            meeting.lose(connection.task)
            self._end(number)

    def tidy(self, now: float) -> None:
        """Forgets tasks that do not come back, and values for steps that nobody orders to run."""
        self._departures.look(now)
        with self._lock:
            unclaimed = [
                number
                for number, meeting in self._meetings.items()
                if not meeting.tasks and now - meeting.made > _UNCLAIMED_SECONDS
            ]
        for number in unclaimed:
            self._end(number)

    def _register(self, fields: Fields, values: list[Value]) -> tuple[Fields, list[Value]]:
        if fields.get("incarnation", self.incarnation) != self.incarnation:
            raise self._restarted("this session")
        part = self.register(fields["step_key"], StepSpec.from_json(fields["spec"], values[0]))
        return {"feeds": part.feeds, "fetches": part.fetches}, []

    def _run(self, fields: Fields, values: list[Value]) -> tuple[Fields, list[Value]]:
        key, number, traced = fields["step_key"], fields["step"], fields["traced"]
        given, stats = self.run(key, number, values, [fields["from"]], traced=traced)
        return {}, given if stats is None else [*given, stats.SerializeToString()]

    def _forget(self, fields: Fields, values: list[Value]) -> tuple[Fields, list[Value]]:
        self.forget(fields["prefix"])
        return {}, []

    def _reset(self, fields: Fields, values: list[Value]) -> tuple[Fields, list[Value]]:
        self.runtime.reset(fields["containers"])
        return {}, []

    _SLOW: ClassVar[dict[str, Any]] = {
        "register": _register,
        "run": _run,
        "forget": _forget,
        "reset": _reset,
    }

    # Doing it ---------------------------------------------------------------------------------

    def register(self, key: str, spec: StepSpec) -> StepPart:
        """Compiles this task's part of a step; `key` names it from then on."""
        part = self._parts.get(key)
        if part is None:
            part = StepPart(spec, self.runtime, self.task)
            with self._lock:
                self._parts[key] = part
        return part

    def adopt(self, key: str, part: StepPart) -> None:
        """Keeps a part that the master of this very task has compiled."""
        with self._lock:
            self._parts[key] = part

    def run(
        self,
        key: str,
        number: int,
        feeds: Sequence[Any],
        masters: Iterable[str] = (),
        *,
        traced: bool = False,
    ) -> tuple[list[Any], Any]:
        """Runs this task's part of step `number`, which ends when a master of it is lost.

        Returns the values of its fetches, and the StepStats of a `traced` run.
        """
        part = self._parts.get(key)
        if part is None:
            self._end(number)
            raise self._restarted(f"the step {key}")
        meeting = self._meeting(number)
        if meeting is None:
            raise errors.AbortedError(None, None, f"step {number} was ended before it began")
        meeting.tasks = {*part.tasks, *masters} - {self.task}
        step = Step(None, meeting.cancellation)
        step.rendezvous = meeting
        step.trace = Trace() if traced else None
        try:
            given = part.run(step, feeds)
            return given, part.step_stats(step.trace, feeds) if traced else None
        except Exception as error:
            if meeting.lost is not None:  # which says more than what it led to
                raise meeting.lost from error
            raise
        finally:
            self._end(number)

    def _restarted(self, what: str) -> errors.AbortedError:
        return errors.AbortedError(
            None,
            None,
            f"{self.task} does not know {what}: it may have been restarted, and its state lost. "
            "Make a new session, and restore the state.",
        )

    def abort(self, number: int, message: str) -> None:
        """Ends a step that has failed elsewhere, begun or not."""
        with self._lock:
            meeting = self._meetings.get(number)
        if meeting is not None:
            meeting.abort(errors.AbortedError(None, None, message))
        self._end(number)

    def _meeting(self, number: int) -> _Meeting | None:
        with self._lock:
            if number in self._over:
                return None
            if number not in self._meetings:
                self._meetings[number] = _Meeting(self, number)
            return self._meetings[number]

    def _end(self, number: int) -> None:
        with self._lock:
            self._meetings.pop(number, None)
            self._over[number] = None
            while len(self._over) > _REMEMBERED:
                self._over.popitem(last=False)

    def forget(self, prefix: str) -> None:
        """Drops the steps of a session that is closed."""
        with self._lock:
            for key in [key for key in self._parts if key.startswith(prefix)]:
                del self._parts[key]
