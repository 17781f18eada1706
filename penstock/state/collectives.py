"""Where collective ops meet: the members of a group, within a step, and in other tasks.

1. A member's part in an instance waits until all members that this task has have theirs in; who
   comes last computes the result of the task (`merge`).
2. If the group has members in other tasks, that result is handed to the `Exchange`, which brings
   back the one of all tasks.
3. Each member takes its result once. A step that ends without it takes its part back.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from penstock import errors
from penstock.state.gates import closed_gate, passed
from penstock.state.turns import aside
from penstock.state.waiting import MustWait, Waiter


@dataclass(frozen=True)
class Instance:
    """What the members of a group have to agree on.

    Attributes:
      group_key, group_size, key: the group, and the number of this instance in it.
      kind: what is done, "Add" or "gather" for example.
      dtype, shape: of a member's value; the shape of a broadcast's receiver is the declared one.
    """

    group_key: Any
    group_size: int
    key: Any
    kind: str
    dtype: str
    shape: tuple[int, ...]


@dataclass(eq=False)
class Part:
    """What one member brings: its value, None for the receiver of a broadcast."""

    device: str
    node: str
    instance: Instance
    value: Any
    merge: Merge
    ended: bool = False
    result: Any = None
    error: BaseException | None = None
    gate: threading.Lock = field(default_factory=closed_gate)
    round: Round | None = None  # that it is in, while other tasks take part

    def end(self, result: Any = None, error: BaseException | None = None) -> None:
        if not self.ended:
            self.ended, self.result, self.error = True, result, error
            self.gate.release()

    def wake(self) -> None:
        if not self.ended and self.gate.locked():
            self.gate.release()


class Merge(Protocol):
    """How the values of members become one, and what each of them gets in the end."""

    def local(self, parts: Sequence[Part]) -> Any:
        """The value of this task's members, in the order of their devices."""

    def final(self, value: Any, part: Part) -> Any:
        """What a member gets of the value of all."""


class Round:
    """An instance for which all members of this task have come."""

    def __init__(self, parts: Sequence[Part]):
        self.parts = sorted(parts, key=lambda part: device_order(part.device))
        self.instance = parts[0].instance

    @property
    def has_source(self) -> bool:
        """Whether a member of this task sends the value of a broadcast."""
        return any(part.value is not None for part in self.parts)

    def local_value(self) -> Any:
        return self.parts[0].merge.local(self.parts)

    def end(self, value: Any) -> None:
        """Gives the members their results."""
        try:
            results = [part.merge.final(value, part) for part in self.parts]
        except Exception as error:
            self.fail(error)
            return
        for part, result in zip(self.parts, results, strict=True):
            part.end(result)

    def fail(self, error: BaseException) -> None:
        for part in self.parts:
            part.end(error=error)


class Exchange(Protocol):
    """The members of groups in other tasks."""

    def members_here(self, part: Part, changed: Callable[[], None]) -> int | None:
        """How many members of a group this task has; None while it is unknown.

        `changed` is called when it is known, or when forming the group has failed.
        """

    def exchange(self, round: Round) -> None:
        """Has a round end, now or later, with the value of all tasks."""

    def withdraw(self, round: Round, reason: str) -> None:
        """A member has given up: the round can't end any more, in any task."""


def device_order(name: str) -> tuple[Any, ...]:
    """Devices in the order of their numbers: 10 comes after 9."""
    pieces: list[Any] = []
    for piece in name.split("/"):
        head, _, number = piece.rpartition(":")
        pieces.append((head, int(number)) if number.isdigit() else (piece, 0))
    return tuple(pieces)


Meeting = tuple[Any, ...]  # the step, its loops' iterations, the group, the instance


class Collectives:
    """The collective ops under way in one task."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: dict[Meeting, dict[str, deque[Part]]] = {}
        self._open: dict[tuple[Meeting, str], Part] = {}  # tried, and to be waited for
        self.exchange: Exchange | None = None  # of a task in a cluster

    def take_part(self, part: Part, step: Any, timeout: float) -> Any:
        """The result for a member, when all have come."""
        instance = part.instance
        meeting = (step.id, step.frame, instance.group_key, instance.key)
        mine = (meeting, part.device)
        with self._lock:
            known = self._open.pop(mine, None)
            if known is None:
                self._lines.setdefault(meeting, {}).setdefault(part.device, deque()).append(part)
        if known is None:
            self._advance(meeting)
        else:
            _check_node(part, known)
            part = known
        if not part.ended and step.only_tries:
            with self._lock:
                self._open[mine] = part
            raise MustWait
        if not part.ended:
            self._wait(meeting, part, step, timeout)
        if part.error is not None:
            raise part.error
        return part.result

    def _advance(self, meeting: Meeting) -> None:
        """Starts the rounds of a meeting whose members have all come."""
        while (round := self._next_round(meeting)) is not None:
            if self.exchange is None or len(round.parts) == round.instance.group_size:
                _end_locally(round)
                continue
            for part in round.parts:
                part.round = round
            self.exchange.exchange(round)

    def _next_round(self, meeting: Meeting) -> Round | None:
        with self._lock:
            lines = self._lines.get(meeting)
            if lines is None:
                return None
            heads = [line[0] for line in lines.values()]
            problem = _disagreement(heads)
            if problem is None:
                counts = [self._members_here(meeting, part) for part in heads]
                if counts[0] is None or len(heads) < counts[0]:
                    return None
            for device in list(lines):
                lines[device].popleft()
                if not lines[device]:
                    del lines[device]
            if not lines:
                del self._lines[meeting]
        round = Round(heads)
        if problem is not None:
            round.fail(problem)
        return round

    def _members_here(self, meeting: Meeting, part: Part) -> int | None:
        if self.exchange is None:
            return part.instance.group_size
        return self.exchange.members_here(part, lambda: self._advance(meeting))

    def _wait(self, meeting: Meeting, part: Part, step: Waiter, timeout: float) -> None:
        deadline = step.deadline
        if timeout > 0:
            limit = time.monotonic() + timeout
            deadline = limit if deadline is None else min(limit, deadline)
        step.cancellation.add(part, part.wake)
        try:
            with aside():
                passed(part.gate, deadline)
        finally:
            step.cancellation.discard(part)
            if not part.ended:
                self._withdraw(meeting, part)
        if part.ended:
            return
        rendezvous = getattr(step, "rendezvous", None)
        if rendezvous is not None:
            rendezvous.check()  # where another part of the step has failed, that is the reason
        step.check()
        raise errors.DeadlineExceededError(None, None, _timed_out(part, timeout))

    def _withdraw(self, meeting: Meeting, part: Part) -> None:
        with self._lock:
            line = self._lines.get(meeting, {}).get(part.device)
            if line is not None and part in line:
                line.remove(part)
                if not line:
                    del self._lines[meeting][part.device]
                if not self._lines[meeting]:
                    del self._lines[meeting]
        if part.round is not None and self.exchange is not None:
            self.exchange.withdraw(part.round, f"{part.node} on {part.device} was cancelled")

    def fail(self, error: BaseException, concerns: Callable[[Instance], bool]) -> None:
        """Ends the waits for groups that can't come together."""
        with self._lock:
            ended = []
            for meeting, lines in list(self._lines.items()):
                parts = [part for line in lines.values() for part in line]
                if concerns(parts[0].instance):
                    del self._lines[meeting]
                    ended += parts
        for part in ended:
            part.end(error=error)


def _end_locally(round: Round) -> None:
    if round.parts[0].ended:  # the members disagree
        return
    try:
        value = round.local_value()
    except Exception as error:
        round.fail(error)
        return
    round.end(value)


def _check_node(part: Part, known: Part) -> None:
    if part.node != known.node:
        raise errors.InternalError(
            None,
            None,
            f"{part.node} and {known.node} are both on {part.device} and have the same group key "
            f"{part.instance.group_key} and instance key {part.instance.key}",
        )


def _timed_out(part: Part, timeout: float) -> str:
    return (
        f"Collective has timed out after {timeout:g} seconds: not all of the "
        f"{part.instance.group_size} members of group {part.instance.group_key} came to instance "
        f"{part.instance.key}"
    )


def _disagreement(parts: Sequence[Part]) -> errors.OpError | None:
    first = parts[0]
    for other in parts[1:]:
        problem = disagreement(
            first.instance, other.instance, first.device, f"{other.node} on {other.device}"
        )
        if problem is not None:
            return problem
    return None


def disagreement(
    one: Instance, other: Instance, one_place: str, other_place: str
) -> errors.OpError | None:
    """What is wrong with two members of one instance, if anything is."""
    if one.group_size != other.group_size:
        return errors.InternalError(
            None,
            None,
            f"{other_place} is in group {one.group_key} with group_size {other.group_size}, but "
            f"that group has size {one.group_size} on {one_place}",
        )
    if one.kind != other.kind:
        return errors.InternalError(
            None,
            None,
            f"the members of instance {one.key} do different things: {one.kind} on {one_place}, "
            f"{other.kind} in {other_place}",
        )
    if one.dtype != other.dtype:
        return errors.InternalError(
            None,
            None,
            f"Data type mismatch in the collective instance {one.key}: {one.dtype} on {one_place}, "
            f"{other.dtype} in {other_place}",
        )
    if one.shape != other.shape:
        return errors.InvalidArgumentError(
            None,
            None,
            f"Shape mismatch in the collective instance {one.key}: {list(one.shape)} on "
            f"{one_place}, {list(other.shape)} in {other_place}. All members need inputs of one "
            "shape.",
        )
    return None
