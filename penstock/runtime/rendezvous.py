"""Where the parts of one step meet: a Send leaves a value under its key, a Recv waits for it."""

from __future__ import annotations

import threading
from typing import Any

from penstock import errors
from penstock.ir.step_graph import Node
from penstock.partition.memory import in_device_memory
from penstock.runtime.mailbox import ABSENT, Key, Mailbox
from penstock.runtime.resumable import Stretches
from penstock.runtime.step import Step
from penstock.state.gates import closed_gate, passed
from penstock.state.turns import aside
from penstock.state.waiting import Gate


class Rendezvous:
    """A `Mailbox` for one process: a thread that waits for a value sleeps at a gate."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._mail: Mailbox[Gate] = Mailbox()

    def send(self, key: Key, value: Any, *, soon: bool = False, lasts: bool = False) -> None:
        """Leaves a value.

        `soon`: nothing is lost if it goes together with what follows; `lasts`: nor does the part
        change it until then.
        """
        with self._lock:
            gate = self._mail.put(key, value)
        if gate is not None:
            gate.release()

    def flush(self) -> None:
        """Lets go of what waits for more: a part has come to its end before the others of its task.

        Here nothing does.
        """

    def recv(self, key: Key, step: Step) -> Any:
        """The value, when it has come; each is taken once."""
        with self._lock:
            value = self._mail.take(key)
            if value is not ABSENT:
                return value
            if self._mail.error is not None:
                self.check()
            gate = closed_gate()
            self._mail.wait(key, gate)
        self._wait(gate, step)
        with self._lock:
            value = self._mail.take(key)
            if value is ABSENT:
                self.check()
                raise KeyError(key)
            return value

    def taken(self, key: Key, gate: Gate) -> Any:
        """The value; ABSENT if it has not come, and then the gate is opened when it has."""
        with self._lock:
            value = self._mail.take(key)
            if value is ABSENT:
                if self._mail.error is not None:
                    self.check()
                self._mail.wait(key, gate)
            return value

    def _wait(self, gate: threading.Lock, step: Step) -> None:
        with aside():
            came = passed(gate, step.deadline)
        if not came:
            step.check()

    def check(self) -> None:
        """Raises where a part of the step has failed."""
        if self._mail.error is not None:
            raise Aborted from self._mail.error

    def abort(self, error: BaseException) -> None:
        """Ends all waits, those to come too: a part of the step has failed."""
        with self._lock:
            waiting = self._mail.abort(error)
        for gate in waiting:
            gate.release()


class Aborted(errors.AbortedError):
    """What ends the other parts of a step in which one has failed."""

    def __init__(
        self,
        node_def: Any = None,
        op: Any = None,
        message: str = "another part of the step has failed",
    ) -> None:
        super().__init__(node_def, op, message)


def send_function(node: Node, device: Any) -> Any:
    name, target = node.attrs["tensor_name"], node.attrs["recv_device"]
    soon, lasts = bool(node.attrs.get("soon")), bool(node.attrs.get("lasts"))

    def send(step: Step, value: Any) -> None:
        step.rendezvous.send((name, target, step.frame), value, soon=soon, lasts=lasts)

    return send


def recv_function(node: Node, device: Any) -> Any:
    """A Recv brings what it gets into the memory that its device has values of its type in."""
    name, target = node.attrs["tensor_name"], node.attrs["recv_device"]
    place = device if in_device_memory(node.dtypes[0]) else device.host

    def recv(step: Step) -> Any:
        value = step.rendezvous.recv((name, target, step.frame), step)
        return place.to_device(value)

    def recv_in_stretches(step: Step) -> Stretches:
        if step.resumption is None:
            return recv(step)
        key = (name, target, step.frame)
        while (value := step.rendezvous.taken(key, step.resumption)) is ABSENT:
            yield
        return place.to_device(value)

    recv.in_stretches = recv_in_stretches  # type: ignore[attr-defined]
    return recv


def copy_function(node: Node, device: Any) -> Any:
    """Brings a value into the memory of its device."""
    return device.to_device
