"""What a worker decides: events in, actions out, no sockets, no threads, no clocks.

`worker.py` drives it from sockets and runs kernels; `simulation/` drives it in virtual time.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

from penstock import errors
from penstock.distributed.departures import Departures

Fields = dict[str, Any]

_REMEMBERED = 4096  # steps that are over: what comes late for them is dropped
PATIENCE_SECONDS = 600.0  # with values of steps that nobody orders, and parts whose master is gone


class Link(Protocol):
    """A connection to another task, which messages come from and answers go to."""

    @property
    def task(self) -> str: ...

    def __hash__(self) -> int: ...


class Part(Protocol):
    """What a task has compiled of a step: the machine only knows whom it concerns."""

    @property
    def tasks(self) -> Sequence[str]: ...  # that have a part of the step, this one among them

    @property
    def feeds(self) -> list[int]: ...

    @property
    def fetches(self) -> list[int]: ...


def taking(step: int, keys: Sequence[Any]) -> Fields:
    """The message that brings values of a step, by their keys."""
    return {"do": "take", "step": step, "keys": keys}


# Events ---------------------------------------------------------------------------------------


class Message(NamedTuple):
    """A request or a note of another task, or of the own task's master."""

    link: Link
    fields: Fields
    values: Sequence[Any]


def parted(keys: Sequence[Any], values: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    """The values of a message itself, and those for a step that have come with it."""
    count = len(values) - len(keys)
    return values[:count], values[count:]


def deliver(meeting: Any, keys: Sequence[Any], values: Sequence[Any]) -> None:
    """Leaves values where the parts of their step meet."""
    for (name, device, frame), value in zip(keys, values, strict=True):
        meeting.deliver((name, device, tuple(frame)), value)


class Compiled(NamedTuple):
    """What an action `Compile` led to: a part or an error."""

    message: Message
    part: Part | None
    error: Exception | None = None


class Executed(NamedTuple):
    """What an action `Execute` led to; the last values are not fetched, they go to other parts."""

    message: Message
    values: Sequence[Any]
    error: BaseException | None = None
    keys: Sequence[Any] = ()  # of those for parts in the master's task


class Lost(NamedTuple):
    """A connection is broken."""

    link: Link


class Tick(NamedTuple):
    """Time has passed."""


Event = Message | Compiled | Executed | Lost | Tick


# Actions --------------------------------------------------------------------------------------


class Answer(NamedTuple):
    message: Message
    fields: Fields
    values: Sequence[Any] = ()


class Introduce(NamedTuple):
    """Answer with these fields, and with the devices of this task."""

    message: Message
    fields: Fields


class Refuse(NamedTuple):
    message: Message
    error: BaseException


class Tell(NamedTuple):
    """Send a note, if the connection still is there."""

    link: Link
    fields: Fields


class Compile(NamedTuple):
    """Make the part that a message describes; the event `Compiled` tells how it went."""

    message: Message


class Execute(NamedTuple):
    """Run a part of a step on the values of a message; `Executed` tells how it went."""

    message: Message
    part: Any
    meeting: Any


class Deliver(NamedTuple):
    """Leave values where the parts of their step meet; see `deliver`."""

    meeting: Any
    keys: Sequence[Any]
    values: Sequence[Any]


class End(NamedTuple):
    """Have those who wait for values of a step give up."""

    meeting: Any
    error: Exception


class Clear(NamedTuple):
    """Clear containers of state."""

    message: Message


class EndJob(NamedTuple):
    """Nobody will need this task any more."""


Action = Answer | Introduce | Refuse | Tell | Compile | Execute | Deliver | End | Clear | EndJob


class _StepRecord:
    """A step that values have come for, or that runs."""

    __slots__ = ("lost", "meeting", "since", "tasks")

    def __init__(self, meeting: Any, now: float):
        self.meeting = meeting
        self.since = now
        self.tasks: frozenset[str] | None = None  # that it needs, while it runs
        self.lost: Exception | None = None


class _Registered(NamedTuple):
    """A part of a step, the master that may order it, and the other tasks that it then needs."""

    part: Any
    task: str
    incarnation: str | None
    others: frozenset[str]


class WorkerMachine:
    """The decisions of one worker.

    1. A step has one number in all tasks. Its meeting is made by whatever comes first, a value or
       the order to run; it is over when its part has ended, or when a master has said so. What
       comes for it after that is dropped.
    2. A step that runs ends when one of its tasks, or the master that ordered it, is lost. What a
       step has sent that ran here before may be lost, too: masters are told of every loss.
    3. A part is known until its session is closed, or its master has left, was started again, or
       can't be reached for long.

    Args:
      task: the worker's name.
      incarnation: tells it from the worker that had its name before a restart.
      departures: who uses this task.
      make_meeting: makes the place where the values of a step meet.
    """

    def __init__(
        self,
        task: str,
        incarnation: str,
        departures: Departures,
        make_meeting: Callable[[int], Any],
    ):
        self.task = task
        self.incarnation = incarnation
        self._departures = departures
        self._make_meeting = make_meeting
        self._parts: dict[str, _Registered] = {}
        self._compiling: dict[str, Message] = {}
        self._steps: dict[int, _StepRecord] = {}
        self._over: OrderedDict[int, None] = OrderedDict()
        # Tasks that run steps here, with the connections that they have, the newest last.
        self._masters: dict[str, dict[Link, None]] = {}
        self._losses = 0  # of connections, so far
        self._away: dict[str, float] = {}  # masters that can't be reached, since when

    @property
    def steps(self) -> list[int]:
        """The numbers of the steps that are not over here."""
        return list(self._steps)

    @property
    def keys(self) -> list[str]:
        """The parts that are known here."""
        return [*self._parts, *self._compiling]

    def handle(self, event: Event, now: float) -> list[Action]:
        """Takes one event at a time; the actions are to be done in their order."""
        if type(event) is Message:
            handler = self._MESSAGES.get(event.fields.get("do", ""))
            if handler is not None:
                return handler(self, event, now)
            text = f"no such request: {event.fields.get('do')!r}"
            return [Refuse(event, errors.UnimplementedError(None, None, text))]
        return self._EVENTS[type(event)](self, event, now)

    # Steps ------------------------------------------------------------------------------------

    def meeting(self, number: int, now: float) -> Any:
        """Where values of a step meet; None if it is over, and what comes for it is dropped."""
        record = self._record(number, now)
        return None if record is None else record.meeting

    def _run(self, message: Message, now: float) -> list[Action]:
        fields = message.fields
        number, registered = fields["step"], self._parts.get(fields["step_key"])
        self._saw(message.link)
        if registered is None:
            return [*self._end(number), Refuse(message, self._restarted(fields["step_key"]))]
        part = registered.part
        record = self._record(number, now)
        if record is None or record.tasks is not None:
            text = f"step {number} was ended before it began"
            return [Refuse(message, errors.AbortedError(None, None, text))]
        record.tasks = registered.others
        keys = fields.get("keys")
        if not keys:
            return [Execute(message, part, record.meeting)]
        fed, sent = parted(keys, message.values)
        order = Execute(Message(message.link, fields, fed), part, record.meeting)
        return [Deliver(record.meeting, keys, sent), order]

    def _executed(self, event: Executed, now: float) -> list[Action]:
        message, values, error, keys = event
        number = message.fields["step"]
        record = self._steps.pop(number)
        self._remember(number)
        if error is not None:
            return [Refuse(message, error if record.lost is None else record.lost)]
        # By which a master tells whether what was lost later may have been this step's.
        fields: Fields = {"losses": self._losses} if self._losses else {}
        if keys:
            fields["keys"] = keys
        return [Answer(message, fields, values)]

    def _abort(self, message: Message, now: float) -> list[Action]:
        text = message.fields["message"]
        return self._end(message.fields["step"], errors.AbortedError(None, None, text))

    def _record(self, number: int, now: float) -> _StepRecord | None:
        """What is known of a step that is not over."""
        if number in self._over:
            return None
        record = self._steps.get(number)
        if record is None:
            record = self._steps[number] = _StepRecord(self._make_meeting(number), now)
        return record

    def _end(self, number: int, error: Exception | None = None) -> list[Action]:
        """A step is over, for others at least: if it runs, its record stays until it has ended."""
        self._remember(number)
        record = self._steps.get(number)
        if record is None:
            return []
        if record.tasks is None:
            del self._steps[number]
        return [] if error is None else [End(record.meeting, error)]

    def _remember(self, number: int) -> None:
        self._over[number] = None
        if len(self._over) > _REMEMBERED:
            self._over.popitem(last=False)

    # Parts ------------------------------------------------------------------------------------

    def _register(self, message: Message, now: float) -> list[Action]:
        fields = message.fields
        self._saw(message.link)
        if fields.get("incarnation", self.incarnation) != self.incarnation:
            return [Refuse(message, self._restarted("this session"))]
        if message.link.task != self.task:
            self._forget_former(message.link.task, fields.get("master"))
        self._compiling[fields["step_key"]] = message
        return [Compile(message)]

    def _compiled(self, event: Compiled, now: float) -> list[Action]:
        message, part, error = event
        key = message.fields["step_key"]
        if self._compiling.pop(key, None) is None:
            text = f"the session of the step {key} was closed"
            return [Refuse(message, errors.AbortedError(None, None, text))]
        if error is not None or part is None:
            return [Refuse(message, error or self._restarted(key))]
        master, task = message.fields.get("master"), message.link.task
        others = frozenset((*part.tasks, task)) - {self.task}
        self._parts[key] = _Registered(part, task, master, others)
        return [Answer(message, {"feeds": part.feeds, "fetches": part.fetches})]

    def _forget(self, message: Message, now: float) -> list[Action]:
        prefix = message.fields["prefix"]
        self._drop(lambda key, task, master: key.startswith(prefix))
        return [Answer(message, {})]

    def _forget_former(self, task: str, incarnation: str | None) -> None:
        """Drops the parts of a master that was started again since."""
        self._drop(lambda key, owner, master: owner == task and master != incarnation)

    def _drop(self, dropped: Callable[[str, str, str | None], bool]) -> None:
        for key, (_, task, master, _) in list(self._parts.items()):
            if dropped(key, task, master):
                del self._parts[key]
        for key, message in list(self._compiling.items()):
            if dropped(key, message.link.task, message.fields.get("master")):
                del self._compiling[key]

    def _restarted(self, what: str) -> errors.AbortedError:
        return errors.AbortedError(
            None,
            None,
            f"{self.task} does not know {what}: it may have been restarted, and its state lost. "
            "Make a new session, and restore the state.",
        )

    # Tasks that come and go -------------------------------------------------------------------

    def _status(self, message: Message, now: float) -> list[Action]:
        link = message.link
        self._departures.opened(link.task, link)
        self._forget_former(link.task, message.fields.get("master"))
        return [Introduce(message, {"incarnation": self.incarnation})]

    def _saw(self, link: Link) -> None:
        """A master has said something; late, perhaps, over a connection that it has replaced."""
        task = link.task
        known = self._masters.get(task)
        if known is not None and link in known:
            return
        self._masters.setdefault(task, {})[link] = None
        self._away.pop(task, None)
        self._departures.seen(task, link)

    def _leave(self, message: Message, now: float) -> list[Action]:
        task = message.link.task
        self._drop(lambda key, owner, master: owner == task)
        self._masters.pop(task, None)
        is_over = self._departures.left(task, now, message.fields["used"])
        answer = Answer(message, {})
        return [answer, EndJob()] if is_over else [answer]

    def _lose(self, event: Lost, now: float) -> list[Action]:
        link = event.link
        task = link.task
        self._losses += 1
        self._departures.lost(task, now, link)
        self._lose_master(task, link, now)
        actions: list[Action] = []
        for number, record in list(self._steps.items()):
            if record.tasks is not None and task in record.tasks:
                actions += self._lose_step(number, record, task)
        # A step that has ended here may have sent values over it which never came.
        note = {"do": "lost", "task": task, "losses": self._losses}
        return actions + [Tell(each, note) for known in self._masters.values() for each in known]

    def _lose_master(self, task: str, link: Link, now: float) -> None:
        """A master may have another connection than the one that is lost."""
        known = self._masters.get(task, {})
        if link not in known:
            return
        del known[link]
        if known:
            self._departures.seen(task, next(reversed(known)))
        else:
            del self._masters[task]
            self._away[task] = now

    def _lose_step(self, number: int, record: _StepRecord, task: str) -> list[Action]:
        """Ends a step that waits for a task in vain."""
        if record.lost is not None:
            return []
        text = f"{self.task} has lost its connection to {task} during a step"
        record.lost = errors.UnavailableError(None, None, text)
        return self._end(number, record.lost)

    def _tick(self, event: Tick, now: float) -> list[Action]:
        for number, record in list(self._steps.items()):
            if record.tasks is None and now - record.since > PATIENCE_SECONDS:
                self._end(number)
        for task, since in list(self._away.items()):
            if now - since > PATIENCE_SECONDS:
                del self._away[task]
                self._drop(lambda key, owner, master, gone=task: owner == gone)  # type: ignore[misc]
        return [EndJob()] if self._departures.look(now) else []

    def _reset(self, message: Message, now: float) -> list[Action]:
        return [Clear(message)]

    _MESSAGES: ClassVar[dict[str, Callable[[WorkerMachine, Message, float], list[Action]]]] = {
        "run": _run,
        "abort": _abort,
        "register": _register,
        "forget": _forget,
        "status": _status,
        "leave": _leave,
        "reset": _reset,
    }
    _EVENTS: ClassVar[dict[type, Callable[[WorkerMachine, Any, float], list[Action]]]] = {
        Compiled: _compiled,
        Executed: _executed,
        Lost: _lose,
        Tick: _tick,
    }
