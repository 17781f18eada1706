"""How the tasks of a collective group find each other and agree on what to do next.

The logic of the task that leads, without sockets and clocks: what others tell it goes in, what it
tells others comes out.

1. Devices join a group by its key. When as many have joined as the group is large, it is formed:
   its tasks learn who the members are, and a generation, by which messages of an earlier life of
   the group are told apart.
2. A task whose members have all come to an instance is ready. When all tasks are, the instance
   gets the next number of the group, and all tasks exchange their values in the order of numbers.
   So none waits inside of an exchange for another's computation, and they never meet at different
   instances.
3. A task that takes back what it was ready for fails that instance for all.
4. A group that has lost a task is broken: its tasks forget it, and may join it anew.
5. A group that does not come together may lack a task that is not there: the leader is told when
   to look for it, and breaks the group if there is one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock import errors
from penstock.devices import DeviceSpec
from penstock.distributed.step_spec import task_of
from penstock.state.collectives import Instance, device_order, disagreement

Message = dict[str, Any]
Outgoing = tuple[str, Message]  # a task, and what it is told

_JOBS_THAT_TRAIN = ("chief", "master", "worker")  # together, so any of them may be waited for


@dataclass
class _Group:
    key: int
    size: int
    members: dict[str, str] = field(default_factory=dict)  # GPU of each device, "" for none
    generation: str = ""  # once it is formed
    count: int = 0  # of instances so far
    ready: dict[int, dict[str, deque[Message]]] = field(default_factory=dict)
    waits_since: float | None = None  # that it was first seen, or last looked into, unformed

    @property
    def tasks(self) -> list[str]:
        ordered = sorted(self.members, key=device_order)
        return list(dict.fromkeys(task_of(device) for device in ordered))


class GroupLeader:
    """The groups of a cluster.

    Args:
      make_generation: gives a new name each time.
      make_store: opens the place where the tasks of a group exchange addresses, for a generation,
        and says where it is.
    """

    def __init__(
        self, make_generation: Callable[[], str], make_store: Callable[[str], Sequence[Any]]
    ):
        self._make_generation = make_generation
        self._make_store = make_store
        self._groups: dict[int, _Group] = {}

    def tell(self, task: str, message: Message) -> list[Outgoing]:
        """Takes a message of a task."""
        group = self._groups.get(message["group"])
        if message["say"] == "join":
            return self._join(task, group, message)
        if group is None or group.generation != message["generation"]:
            return []  # of an earlier life of the group: it was told that it is over
        if message["say"] == "ready":
            return self._ready(task, group, message)
        if message["say"] == "withdraw":
            return self._withdrawn(task, group, message)
        return self._break(group, message["code"], message["reason"])

    def lost(self, task: str, reason: str) -> list[Outgoing]:
        """A task is gone: its groups are broken, and it has joined none."""
        told: list[Outgoing] = []
        for group in list(self._groups.values()):
            if task not in group.tasks:
                continue
            if group.generation:
                told += self._break(group, errors.UNAVAILABLE, reason)
            else:
                for device in [each for each in group.members if task_of(each) == task]:
                    del group.members[device]
        return told

    def overdue(self, now: float, patience: float) -> list[int]:
        """The groups that some have joined, but not all, for so many seconds: once in that time."""
        late = []
        for group in self._groups.values():
            if group.generation or not group.members:
                continue
            if group.waits_since is None:
                group.waits_since = now
            elif now - group.waits_since >= patience:
                group.waits_since = now
                late.append(group.key)
        return late

    def lacking(self, key: int, tasks: Iterable[str]) -> list[str]:
        """Those of the tasks of a cluster that a group may be waiting for."""
        group = self._groups.get(key)
        if group is None or group.generation:
            return []
        joined = group.tasks
        jobs = {DeviceSpec.from_string(task).job for task in joined} | set(_JOBS_THAT_TRAIN)
        return [t for t in tasks if t not in joined and DeviceSpec.from_string(t).job in jobs]

    def missing(self, key: int, tasks: Sequence[str]) -> list[Outgoing]:
        """Some of those tasks are not there, so the group will not come together."""
        absent = self.lacking(key, tasks)
        if not absent:
            return []  # they have come meanwhile
        group = self._groups[key]
        reason = (
            f"group {key} lacks {group.size - len(group.members)} of its {group.size} members, "
            f"and {', '.join(absent)} can't be reached. Start what is missing, and run the step "
            "again."
        )
        return self._break(group, errors.UNAVAILABLE, reason)

    def _join(self, task: str, group: _Group | None, message: Message) -> list[Outgoing]:
        told: list[Outgoing] = []
        if group is not None and group.generation:
            # Who joins a group that is formed has lost it, by a restart for example.
            reason = f"{task} has joined group {group.key} again"
            told = self._break(group, errors.ABORTED, reason, but=task)
            group = None
        if group is None:
            group = self._groups[message["group"]] = _Group(message["group"], message["size"])
        if group.size != message["size"]:
            reason = (
                f"{message['device']} joins group {group.key} with group_size {message['size']}, "
                f"but that group has size {group.size}"
            )
            return [*told, (task, _broken(group, errors.INTERNAL, reason))]
        group.members[message["device"]] = message["gpu"]
        return told + self._formed(group) if len(group.members) == group.size else told

    def _formed(self, group: _Group) -> list[Outgoing]:
        group.generation = self._make_generation()
        tasks = group.tasks
        gpus = list(group.members.values())
        message: Message = {
            "hear": "formed",
            "group": group.key,
            "generation": group.generation,
            "members": sorted(group.members, key=device_order),
            "store": list(self._make_store(group.generation)) if len(tasks) > 1 else [],
            "backend": "nccl" if all(gpus) and len(set(gpus)) == len(gpus) else "gloo",
        }
        return [(task, message) for task in tasks]

    def _ready(self, task: str, group: _Group, message: Message) -> list[Outgoing]:
        key = message["instance"]
        lines = group.ready.setdefault(key, {each: deque() for each in group.tasks})
        lines[task].append(message)
        if not all(lines.values()):
            return []
        heads = {each: line.popleft() for each, line in lines.items()}
        if not any(lines.values()):
            del group.ready[key]
        problem = _problem(group, heads)
        if problem is not None:
            failed = _failed(group, key, problem.error_code, problem.message)
            return [(each, failed) for each in heads]
        sources = [i for i, each in enumerate(heads) if heads[each]["source"]]
        group.count += 1
        go: Message = {
            "hear": "go",
            "group": group.key,
            "generation": group.generation,
            "instance": key,
            "number": group.count,
            "source": sources[0] if sources else 0,
        }
        return [(each, go) for each in heads]

    def _withdrawn(self, task: str, group: _Group, message: Message) -> list[Outgoing]:
        lines = group.ready.get(message["instance"], {})
        if not lines.get(task):
            return []  # it has a number already
        reason = f"{task} has left instance {message['instance']}: {message['reason']}"
        failed = _failed(group, message["instance"], errors.ABORTED, reason)
        told = [(each, failed) for each, line in lines.items() if line and each != task]
        del group.ready[message["instance"]]
        return told

    def _break(
        self, group: _Group, code: int, reason: str, but: str | None = None
    ) -> list[Outgoing]:
        del self._groups[group.key]
        return [(task, _broken(group, code, reason)) for task in group.tasks if task != but]


def _broken(group: _Group, code: int, reason: str) -> Message:
    return {
        "hear": "broken",
        "group": group.key,
        "generation": group.generation,
        "code": int(code),
        "reason": reason,
    }


def _failed(group: _Group, instance: int, code: int | None, reason: str) -> Message:
    return {
        "hear": "failed",
        "group": group.key,
        "generation": group.generation,
        "instance": instance,
        "code": int(code or errors.INTERNAL),
        "reason": reason,
    }


def _problem(group: _Group, heads: dict[str, Message]) -> errors.OpError | None:
    """Why the tasks can't do an instance together, if they can't."""
    described = {
        task: Instance(
            group.key, group.size, m["instance"], m["kind"], m["dtype"], tuple(m["shape"])
        )
        for task, m in heads.items()
    }
    first, *others = described
    for other in others:
        problem = disagreement(described[first], described[other], first, other)
        if problem is not None:
            return problem
    sources = [task for task, message in heads.items() if message["source"]]
    if heads[first]["kind"] == "broadcast" and len(sources) != 1:
        found = "no source" if not sources else f"sources in {', '.join(sources)}"
        return errors.InternalError(
            None, None, f"Instance {heads[first]['instance']} found {found} for broadcast"
        )
    return None
