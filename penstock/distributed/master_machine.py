"""What the master of a task decides: events in, actions out, no sockets, no threads, no clocks.

`cluster_task.py` and `cluster_runtime.py` drive it from sockets, `simulation/` in virtual time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from penstock import errors
from penstock.distributed.step_run import Answered, Broken, Call, Fields, KnownStep, StepRun, Tick

_AGAIN_SECONDS = 0.1


Post = Callable[[Broken], None]


class RollCall:
    """The tasks that a new session may use are asked who they are.

    One that can't be reached is asked again until the time is over; then all that are missing are
    named, not the first of them alone.

    Args:
      tasks: whom to ask.
      now: the time at the beginning.
      question: the fields of the message.
      patience: how many seconds the tasks have to answer.

    Attributes:
      found: what each task has answered: fields and values.
      limit: when the time is over.
    """

    def __init__(
        self,
        tasks: Iterable[str],
        now: float,
        question: Fields,
        patience: float,
    ):
        self.found: dict[str, Answered] = {}
        self.limit = now + patience
        self._question = question
        self._due = dict.fromkeys(tasks, now)  # when to ask each
        self._asked: set[str] = set()
        self._problems: dict[str, str] = {}

    def handle(self, event: Answered | Tick, now: float) -> list[Call]:
        """Whom to ask now; every question has to be answered, if only with an error."""
        if isinstance(event, Answered):
            self._answered(event, now)
        due = [task for task, when in self._due.items() if when <= now]
        for task in due:
            del self._due[task]
        self._asked.update(due)
        return [Call(task, self._question) for task in due]

    def _answered(self, event: Answered, now: float) -> None:
        self._asked.discard(event.task)
        error = event.error
        if error is None:
            self.found[event.task] = event
        elif now < self.limit:
            self._due[event.task] = now + _AGAIN_SECONDS
        else:
            is_ours = isinstance(error, errors.OpError)
            self._problems[event.task] = error.message if is_ours else str(error)  # type: ignore[attr-defined]

    @property
    def next_time(self) -> float | None:
        """When somebody is to be asked again."""
        return min(self._due.values(), default=None)

    @property
    def is_over(self) -> bool:
        return not self._due and not self._asked

    @property
    def error(self) -> errors.UnavailableError | None:
        if not self._problems:
            return None
        return errors.UnavailableError(None, None, "\n".join(self._problems.values()))


class Registration:
    """The tasks of a step compile their parts: it is known when all have, failed when one can't."""

    def __init__(self, session: SessionMachine, key: str, tasks: Sequence[str]):
        self.error: BaseException | None = None
        self._session = session
        self._key = key
        self._waiting = set(tasks)
        self._taken: dict[str, tuple[list[int], list[int]]] = {}

    def handle(self, event: Answered, now: float) -> list[Call]:
        self._waiting.discard(event.task)
        if event.error is not None:
            self.error = self.error or event.error
            return []
        self._taken[event.task] = event.fields["feeds"], event.fields["fetches"]
        # A session that was closed meanwhile had nothing to be forgotten there then.
        return self._session.close() if self._session.is_closed else []

    @property
    def is_over(self) -> bool:
        return not self._waiting or self.error is not None

    @property
    def step(self) -> KnownStep:
        return KnownStep(self._key, self._taken)


class SessionMachine:
    """One session of a master over several tasks.

    A step is registered with its tasks once, under a key of the session's own; every run of it has
    a number that no other step has.

    Args:
      master: that of the task.
      prefix: what the keys of the session begin with.
      incarnations: which worker each task had when the session was made. One that has another
        since then has lost the session's state.
    """

    def __init__(self, master: MasterMachine, prefix: str, incarnations: Mapping[str, str]):
        self.prefix = prefix
        self.incarnations = incarnations
        self._master = master
        self._numbers = itertools.count()
        self._tasks: set[str] = set()
        self.is_closed = False

    def register(
        self, tasks: Sequence[str], fields: Fields, values: Sequence[Any] = ()
    ) -> tuple[Registration, list[Call]]:
        """Has all tasks with a part of a step compile it; `fields` describe the step."""
        key = f"{self.prefix}{next(self._numbers)}"
        self._tasks.update(tasks)
        self._master.used.update(tasks)
        question = {"do": "register", "step_key": key, "master": self._master.incarnation, **fields}
        calls = [
            Call(task, {**question, "incarnation": self.incarnations[task]}, values)
            for task in tasks
        ]
        return Registration(self, key, tasks), calls

    def close(self) -> list[Call]:
        """Has all tasks forget the session's steps."""
        self.is_closed = True
        return self._master.release(self._tasks, self.prefix)


class MasterMachine:
    """The master of a task: what it knows of other tasks, and what it still has to tell them.

    Args:
      incarnation: that of the task's worker.

    Attributes:
      used: the tasks that have had parts of steps of this master.
    """

    def __init__(self, incarnation: str):
        self.incarnation = incarnation
        self.used: set[str] = set()
        self._runs: dict[StepRun, Post] = {}
        self._unreleased: dict[str, set[str]] = {}  # prefixes that tasks are yet to forget

    def roll_call(self, tasks: Iterable[str], now: float, patience: float) -> RollCall:
        """The question of a new session to all tasks that it may use."""
        return RollCall(tasks, now, {"do": "status", "master": self.incarnation}, patience)

    def session(self, prefix: str, incarnations: Mapping[str, str]) -> SessionMachine:
        return SessionMachine(self, prefix, incarnations)

    def began(self, run: StepRun, post: Post) -> None:
        """A step is under way; `post` takes events for it."""
        self._runs[run] = post

    def ended(self, run: StepRun) -> None:
        self._runs.pop(run, None)

    def concerned(self, task: str) -> list[Post]:
        """Who wants to know that a task is lost, or has lost another."""
        return [post for run, post in list(self._runs.items()) if task in run.tasks]

    def release(self, tasks: Iterable[str], prefix: str) -> list[Call]:
        """Tasks are to forget what they know of a session; `released` takes their answers."""
        calls = []
        for task in sorted(tasks):
            self._unreleased.setdefault(task, set()).add(prefix)
            calls.append(_forgetting(task, prefix))
        return calls

    def released(self, task: str, prefix: str, error: BaseException | None) -> None:
        """A task has forgotten a session; one that can't be reached is told later."""
        prefixes = self._unreleased.get(task)
        if error is None and prefixes is not None:
            prefixes.discard(prefix)
            if not prefixes:
                del self._unreleased[task]

    def tick(self) -> list[Call]:
        """What tasks have to be told once more."""
        return [
            _forgetting(task, prefix)
            for task, prefixes in sorted(self._unreleased.items())
            for prefix in sorted(prefixes)
        ]


def _forgetting(task: str, prefix: str) -> Call:
    return Call(task, {"do": "forget", "prefix": prefix})
