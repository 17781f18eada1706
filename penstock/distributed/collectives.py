"""Collective ops over tasks: this task's end of the groups that it has members of.

Who is in a group and what comes next is settled over the road, with the task that leads
(`collective_groups`); the values go through a process group of torch.distributed.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from penstock import errors
from penstock.distributed.collective_groups import GroupLeader, Message, Outgoing
from penstock.distributed.connection import Connection
from penstock.distributed.credentials import is_loopback
from penstock.distributed.departures import chief_of
from penstock.distributed.step_spec import task_of
from penstock.dtypes import as_dtype
from penstock.kernels.values import torch_type
from penstock.runtime.collectives import AddressStore, ProcessGroup, gpu_identity
from penstock.runtime.device import Device
from penstock.state.collectives import Collectives, Part, Round

Connect = Callable[[str, float], Connection]  # a task, and how many seconds it has to answer

#: Lets tasks exchange values over a network, where anybody who listens can read them.
PLAIN_VARIABLE = "PENSTOCK_PLAIN_COLLECTIVES"
_START_SECONDS = 30.0  # that the leader has to come up
_ANSWER_SECONDS = 2.0  # that a task has to show that it is not the one which is lost
_JOINING_SECONDS = 20.0  # that members may be late before somebody looks whether they are there


class _Group:
    """A group that this task has members of.

    A thread of its own makes the exchanges, in the order of their numbers; the first thing that
    it does is to connect the tasks.
    """

    def __init__(self, key: int):
        self.key = key
        self.generation = ""
        self.members: list[str] = []
        self.joined: set[str] = set()
        self.changed: list[Callable[[], None]] = []
        self.waiting: dict[int, deque[Round]] = defaultdict(deque)  # for their number
        self.going: SimpleQueue[tuple[Round, int] | None] = SimpleQueue()

    @property
    def tasks(self) -> list[str]:
        return list(dict.fromkeys(map(task_of, self.members)))

    def members_of(self, task: str) -> int:
        return sum(task_of(device) == task for device in self.members)


class TaskCollectives:
    """The `Exchange` of one task.

    Args:
      task: its name.
      addresses: those of all tasks, this one too.
      connect: gives a connection to another task, which has so many seconds to answer.
      collectives: those of the task's devices.
      devices: those of the task.
    """

    def __init__(
        self,
        task: str,
        addresses: dict[str, str],
        connect: Connect,
        collectives: Collectives,
        devices: Iterable[Device],
    ):
        self._task = task
        self._hosts = {name: host_of(address) for name, address in addresses.items()}
        self._leader = chief_of(addresses) or min(addresses)
        self._connect = connect
        self._collectives = collectives
        self._places = {device.name: device.torch_device for device in devices}
        self._lock = threading.RLock()
        self._groups: dict[int, _Group] = {}
        self._stores: dict[str, AddressStore] = {}
        self._lead: GroupLeader | None = None
        if task == self._leader:
            self._lead = GroupLeader(lambda: secrets.token_hex(8), self._open_store)
        self._callers: dict[str, Connection] = {}  # by which each task has spoken to the leader
        self._outgoing: deque[Outgoing] = deque()
        self._delivering = threading.Lock()
        self._mail: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._closed = False
        threading.Thread(target=self._post, name="penstock-collectives", daemon=True).start()
        collectives.exchange = self

    def _open_store(self, generation: str) -> tuple[str, int]:
        host = self._hosts[self._task]
        store = self._stores[generation] = AddressStore(host)
        return host, store.port

    # What the ops of this task ask for ----------------------------------------------------------

    def members_here(self, part: Part, changed: Callable[[], None]) -> int | None:
        instance = part.instance
        if not isinstance(instance.group_key, int):
            return instance.group_size  # NCCL ops name devices of one process
        with self._lock:
            group = self._groups.setdefault(instance.group_key, _Group(instance.group_key))
            if group.generation and part.device in group.members:
                return group.members_of(self._task)
            group.changed.append(changed)
            if part.device not in group.joined:
                group.joined.add(part.device)
                message = {
                    "say": "join",
                    "group": instance.group_key,
                    "size": instance.group_size,
                    "device": part.device,
                    "gpu": gpu_identity(self._places.get(part.device)),
                }
                self._mail.put(lambda: self._say(message))
        return None

    def exchange(self, round: Round) -> None:
        instance = round.instance
        with self._lock:
            group = self._groups.get(instance.group_key)
            if group is not None:
                group.waiting[instance.key].append(round)
        if group is None:
            round.fail(_aborted(f"group {instance.group_key} was broken"))
            return
        self._say_of(
            group,
            {
                "say": "ready",
                "instance": instance.key,
                "kind": instance.kind,
                "dtype": instance.dtype,
                "shape": list(instance.shape),
                "source": round.has_source,
            },
        )

    def withdraw(self, round: Round, reason: str) -> None:
        instance = round.instance
        with self._lock:
            group = self._groups.get(instance.group_key)
            if group is None or round not in group.waiting[instance.key]:
                return
            group.waiting[instance.key].remove(round)
        self._say_of(group, {"say": "withdraw", "instance": instance.key, "reason": reason})

    # Messages -----------------------------------------------------------------------------------

    def _say_of(self, group: _Group, message: Message) -> None:
        self._say({**message, "group": group.key, "generation": group.generation})

    def _say(self, message: Message) -> None:
        """Tells the leader; where that fails, what the message was about has failed."""
        if self._lead is not None:
            self._led(self._task, message)
            return
        # Who joins may have been started before the leader.
        patience = _START_SECONDS if message["say"] == "join" else 0.0
        try:
            self._connect(self._leader, patience).note({**message, "do": "collective"})
        except errors.OpError as error:
            self._break(message["group"], error)

    def handle(self, connection: Connection, message: Message) -> None:
        """Takes what another task says; in the thread that reads, so it must not wait."""
        if "say" in message:
            self._callers[connection.task] = connection
            self._mail.put(lambda: self._led(connection.task, message))
        else:
            self._hear(message)

    def _led(self, task: str, message: Message) -> None:
        if self._lead is None:  # the other task takes this one for the leader
            return
        with self._lock:
            self._outgoing += self._lead.tell(task, message)
        self._deliver()

    def _deliver(self) -> None:
        """Tells the tasks what the leader has decided: all of them in the order of decisions.

        One thread at a time does so; others leave it what they have to tell.
        """
        while self._outgoing and self._delivering.acquire(blocking=False):
            try:
                while self._outgoing:
                    self._tell(*self._outgoing.popleft())
            finally:
                self._delivering.release()

    def _tell(self, task: str, message: Message) -> None:
        if task == self._task:
            self._hear(message)
            return
        # By the connection that the task has made: a new one to its front door may take longer
        # than anybody waits. Whoever is lost is told of by `lost`.
        with suppress(errors.UnavailableError):
            self._callers[task].note({**message, "do": "collective"})

    def _hear(self, message: Message) -> None:
        if message["hear"] == "formed":
            self._formed(message)
            return
        with self._lock:
            group = self._groups.get(message["group"])
            if group is None or group.generation != message["generation"]:
                return
        if message["hear"] == "broken":
            self._break(group.key, _error_of(message))
            return
        with self._lock:
            waiting = group.waiting[message["instance"]]
            round = waiting.popleft() if waiting else None
        if message["hear"] == "failed":
            if round is not None:
                round.fail(_error_of(message))
        elif round is not None:
            group.going.put((round, message["source"]))
        else:  # its step has ended meanwhile, but the others count on this task
            ended = _aborted(f"a step of {self._task} ended when an exchange began")
            self._break(group.key, ended, tell=True)

    def _formed(self, message: Message) -> None:
        with self._lock:
            group = self._groups.get(message["group"])
            if group is None:
                return
            group.generation = message["generation"]
            group.members = message["members"]
            changed, group.changed = group.changed, []
        if len(group.tasks) > 1:
            threading.Thread(
                target=self._serve, args=(group, message), name="penstock-exchange", daemon=True
            ).start()
        for call in dict.fromkeys(changed):
            self._mail.put(call)

    def _post(self) -> None:
        while (job := self._mail.get()) is not None:
            job()

    # Exchanges ----------------------------------------------------------------------------------

    def _serve(self, group: _Group, formed: Message) -> None:
        """Makes the exchanges of a group until it is broken."""
        round: Round | None = None
        joined: ProcessGroup | None = None
        try:
            self._check_privacy(group)
            joined = ProcessGroup(
                formed["backend"],
                tuple(formed["store"]),
                group.generation,
                group.tasks.index(self._task),
                len(group.tasks),
                self._hosts[self._task],
                self._place_in(group),
            )
            while (next_one := group.going.get()) is not None:
                round, source = next_one
                round.end(self._exchanged(joined, group, round, source))
        except Exception as error:
            cause = error if isinstance(error, errors.OpError) else self._cause(group, error)
            if round is not None:
                round.fail(cause)
            self._break(group.key, cause, tell=True, generation=group.generation)
        finally:
            if joined is not None:
                joined.close()

    def _place_in(self, group: _Group) -> Any:
        """Where this task's first member has its values; None for a device that is not known."""
        own = next(device for device in group.members if task_of(device) == self._task)
        return self._places.get(own)

    def _exchanged(self, joined: ProcessGroup, group: _Group, round: Round, source: int) -> Any:
        instance = round.instance
        value = round.local_value()
        if instance.kind == "gather":
            rows = [group.members_of(task) * instance.shape[0] for task in group.tasks]
            return joined.gather(value, rows)
        if instance.kind == "broadcast":
            like = (instance.shape, torch_type(as_dtype(instance.dtype)))
            return joined.broadcast(value, like, source)
        return joined.reduce(value, instance.kind.partition(",")[0])

    def _check_privacy(self, group: _Group) -> None:
        far = [task for task in group.tasks if not is_loopback(self._hosts[task])]
        if far and os.environ.get(PLAIN_VARIABLE) != "1":
            raise errors.FailedPreconditionError(
                None,
                None,
                f"collective ops of {', '.join(far)} would send their values over the network, "
                f"neither encrypted nor with the cluster's token. Set {PLAIN_VARIABLE}=1 in all "
                "tasks if everybody in that network may read and change them.",
            )

    def _cause(self, group: _Group, error: Exception) -> errors.OpError:
        """The error of an exchange that has broken: it names the tasks that don't answer."""
        silent = self._silent(group.tasks)
        if silent:
            return errors.UnavailableError(
                None, None, f"{self._task} has lost {', '.join(silent)} during a collective op"
            )
        return _aborted(f"the exchange with {', '.join(group.tasks)} has failed: {error}")

    def _silent(self, tasks: Iterable[str]) -> list[str]:
        """Those of the tasks that don't answer."""
        silent = []
        for task in tasks:
            if task != self._task:
                try:
                    self._connect(task, 0.0).ask({"do": "status"}, timeout=_ANSWER_SECONDS)
                except errors.OpError:
                    silent.append(task)
        return silent

    def look_for_missing(self, now: float) -> None:
        """Finds out, from time to time, whether a group waits for a task that is not there."""
        if self._lead is not None:
            with self._lock:
                late = self._lead.overdue(now, _JOINING_SECONDS)
            for key in late:
                threading.Thread(target=self._search, args=(self._lead, key), daemon=True).start()

    def _search(self, lead: GroupLeader, key: int) -> None:
        with self._lock:
            wanted = lead.lacking(key, self._hosts)
        silent = self._silent(wanted)
        with self._lock:
            self._outgoing += lead.missing(key, silent)
        self._deliver()

    # Losing -------------------------------------------------------------------------------------

    def lost(self, task: str) -> None:
        """A task can't be reached any more, or has come to its end."""
        reason = f"{self._task} has lost its connection to {task} during a collective op"
        if self._lead is not None:
            with self._lock:
                self._outgoing += self._lead.lost(task, reason)
            self._mail.put(self._deliver)
        with self._lock:
            concerned = [
                key
                for key, group in self._groups.items()
                if task in group.tasks or (task == self._leader and not group.generation)
            ]
        for key in concerned:
            self._break(key, errors.UnavailableError(None, None, reason), tell=True)

    def _break(
        self, key: int, error: errors.OpError, *, tell: bool = False, generation: str | None = None
    ) -> None:
        """Forgets a group: what waits for it fails, and the next op joins it anew."""
        with self._lock:
            group = self._groups.get(key)
            if group is None or generation not in (None, group.generation):
                return
            del self._groups[key]
            self._stores.pop(group.generation, None)
            rounds = [round for line in group.waiting.values() for round in line]
        group.going.put(None)
        if tell and group.generation:
            report = {"say": "broken", "code": int(error.error_code or errors.ABORTED)}
            report.update(reason=error.message, group=key, generation=group.generation)
            self._mail.put(lambda: self._say(report))
        for round in rounds:
            round.fail(error)
        self._collectives.fail(error, lambda instance: instance.group_key == key)

    def close(self) -> None:
        with self._lock:
            keys = list(self._groups)
        for key in keys:
            self._break(key, _aborted(f"{self._task} was stopped"))
        self._mail.put(None)


def host_of(address: str) -> str:
    """The host of a task's address, as sockets take it."""
    return address.rpartition(":")[0].strip("[]")


def _aborted(reason: str) -> errors.AbortedError:
    return errors.AbortedError(None, None, reason)


def _error_of(message: Message) -> errors.OpError:
    kind: Any = errors.exception_type_from_error_code(message["code"])
    made: errors.OpError = kind(None, None, message["reason"])
    return made
