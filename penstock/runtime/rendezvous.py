"""Where the parts of one step meet: a Send leaves a value under its key, a Recv waits for it."""

from __future__ import annotations

import threading
import time
from typing import Any

from penstock import errors
from penstock.ir.step_graph import Node
from penstock.partition.memory import in_device_memory
from penstock.runtime.step import Step
from penstock.state.turns import aside

Key = tuple[Any, ...]  # the name of the value, the device it goes to, the iterations it is from


class Rendezvous:
    """The values on their way between the parts of one step, in one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: dict[Key, Any] = {}
        self._waiting: dict[Key, threading.Lock] = {}
        self._error: BaseException | None = None

    def send(self, key: Key, value: Any) -> None:
        with self._lock:
            self._values[key] = value
            gate = self._waiting.pop(key, None)
        if gate is not None:
            gate.release()

    def recv(self, key: Key, step: Step) -> Any:
        """The value, when it has come; each is taken once."""
        with self._lock:
            if key in self._values:
                return self._values.pop(key)
            self._raise_if_aborted()
            gate = self._waiting[key] = threading.Lock()
            gate.acquire()
        self._wait(gate, step)
        with self._lock:
            if key not in self._values:
                self._raise_if_aborted()
            return self._values.pop(key)

    def _wait(self, gate: threading.Lock, step: Step) -> None:
        left = -1.0 if step.deadline is None else max(0.0, step.deadline - time.monotonic())
        with aside():
            came = gate.acquire(timeout=left)
        if not came:
            step.check()

    def _raise_if_aborted(self) -> None:
        if self._error is not None:
            raise Aborted from self._error

    def abort(self, error: BaseException) -> None:
        """Ends all waits, those to come too: a part of the step has failed."""
        with self._lock:
            if self._error is None:
                self._error = error
            waiting, self._waiting = self._waiting, {}
        for gate in waiting.values():
            gate.release()


class Aborted(errors.AbortedError):
    """What ends the other parts of a step in which one has failed."""

    def __init__(self) -> None:
        super().__init__(None, None, "another part of the step has failed")


def send_function(node: Node, device: Any) -> Any:
    name, target = node.attrs["tensor_name"], node.attrs["recv_device"]

    def send(step: Step, value: Any) -> None:
        step.rendezvous.send((name, target, step.frame), value)

    return send


def recv_function(node: Node, device: Any) -> Any:
    """A Recv brings what it gets into the memory that its device has values of its type in."""
    name, target = node.attrs["tensor_name"], node.attrs["recv_device"]
    place = device if in_device_memory(node.dtypes[0]) else device.host

    def recv(step: Step) -> Any:
        value = step.rendezvous.recv((name, target, step.frame), step)
        return place.to_device(value)

    return recv


def copy_function(node: Node, device: Any) -> Any:
    """Brings a value into the memory of its device."""
    return device.to_device
