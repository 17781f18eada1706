"""Where the parts of one step meet in one task, and what one of them sends to other tasks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from penstock.distributed.connection import Connection
from penstock.distributed.frames import Value
from penstock.distributed.readers import leave_turn
from penstock.distributed.reading import Leading
from penstock.distributed.step_spec import task_of
from penstock.distributed.worker_machine import taking
from penstock.runtime.mailbox import Key
from penstock.runtime.rendezvous import Rendezvous
from penstock.runtime.step import Step
from penstock.runtime.value_bytes import copied, is_plain
from penstock.state.waiting import Cancellation, Gate, end_of_hold, hold_wakes

Connect = Callable[[str], Connection]  # a kept connection to a task
Known = Callable[[str], Sequence[Connection]]  # those with a task that are open already
Order = Callable[[list[Any], list[Value]], None]  # has a task run its part, with keys and values

_MOST_COPIED = 1 << 16  # bytes of a value that waits for others as a copy


class Meeting(Rendezvous):
    """The rendezvous of one step in one task: what is for another task is sent there.

    Values that may go soon instead of at once, small ones and such as last until then, wait for
    others to the same task, for one that may not wait, for the time when this part waits itself, or
    for the answer that ends it: one message for all of them. An order to another task, too, may
    wait for what this part has to send there first.

    Args:
      task: the own task.
      connect: gives connections to others.
      known: gives those that are open already, whichever side has opened them.
      number: the step's, in all tasks.

    Attributes:
      leading: of a thread that reads by itself what the other tasks of its step send.
      may_lead_from: the tasks that send something to this part, if its thread may begin to lead
        when it first waits.
      orders: those of the own master that wait, by task.
    """

    leading: Leading | None = None
    may_lead_from: Sequence[str] = ()
    orders: dict[str, Order] = {}  # noqa: RUF012 - not changed where there are none

    def __init__(self, task: str, connect: Connect, known: Known, number: int):
        super().__init__()
        self._task = task
        self._connect = connect
        self._known = known
        self._number = number
        self._links: dict[str, Any] = {}
        self._kept: dict[str, tuple[list[Any], list[Value]]] = {}  # keys and values for tasks
        self.cancellation = Cancellation()

    def ordered_by(self, link: Any) -> None:
        """What is for the step's master goes back where the order has come from."""
        if link.task != self._task:
            self._links[link.task] = link

    # Sending ------------------------------------------------------------------------------------

    def send(self, key: Key, value: Any, *, soon: bool = False, lasts: bool = False) -> None:
        name, device, frame = key
        task = task_of(device)
        if task == self._task:
            self.deliver(key, value)
            return
        waits = soon
        if soon and not (lasts and is_plain(value)):
            copy = copied(value, _MOST_COPIED)
            waits, value = copy is not None, value if copy is None else copy
        with self._lock:
            keys, values = self._kept.setdefault(task, ([], []))
            keys.append([name, device, list(frame)])
            values.append(value)
        if not soon:
            self.flush()
        elif not waits:
            self._send_kept(task)

    def _send_kept(self, task: str) -> None:
        keys, values = self.taken_back(task)
        order = self.orders.pop(task, None) if self.orders else None
        if order is not None:
            order(keys, values)
        elif keys:
            link = self._links.get(task)
            if link is None:
                link = self._links[task] = self._connect(task)
            link.note(taking(self._number, keys), values)

    def taken_back(self, task: str) -> tuple[list[Any], list[Value]]:
        """The keys and values that wait to be sent to a task."""
        if not self._kept:
            return [], []
        with self._lock:
            return self._kept.pop(task, ([], []))

    def flush(self, but: str = "") -> None:
        """Sends what has waited for more to come, but to a task that gets an answer anyway."""
        for kept in self.orders, self._kept:
            for task in [*kept] if kept else ():
                if task != but:
                    self._send_kept(task)

    # Receiving ----------------------------------------------------------------------------------

    def deliver(self, key: Key, value: Any) -> None:
        super().send(key, value)
        if self.leading is not None:
            self.leading.wake()

    def recv(self, key: Key, step: Step) -> Any:
        if self._kept or self.orders:
            self.flush()
        return super().recv(key, step)

    def taken(self, key: Key, gate: Gate) -> Any:
        if self._kept or self.orders:
            self.flush()
        return super().taken(key, gate)

    def _wait(self, gate: threading.Lock, step: Step) -> None:
        holds = end_of_hold()  # a thread that leads may have to wake others for other steps
        try:
            if self.may_lead_from:
                self._begin_to_lead()
            if self.leading is None or not self.leading.wait(partial(gate.acquire, False)):
                self._wait_long(gate, step)
        finally:
            if holds:
                hold_wakes()

    def _begin_to_lead(self) -> None:
        links = {each for task in self.may_lead_from for each in self._known(task)}
        self.may_lead_from = ()
        self.leading = Leading(list(links))

    def _wait_long(self, gate: threading.Lock, step: Step) -> None:
        if self.leading is not None:
            self.leading.end()
        leave_turn()
        super()._wait(gate, step)

    def abort(self, error: BaseException) -> None:
        super().abort(error)
        self.cancellation.cancel()
        if self.leading is not None:
            self.leading.wake()
