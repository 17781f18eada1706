"""Operations that run as they are made, without a step around them: what eager execution calls.

A kernel is specialised once for an op type, its attrs and the types of its inputs, and is kept: it
must not know the values or the shapes of one call. So a kept random op goes on where its last call
stopped, as TensorFlow's does.

A value that was read from a variable shares the variable's memory until the variable changes: then
the variable, if someone still has such a value, takes new memory first.
"""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from penstock import dtypes, errors
from penstock.dtypes import DType
from penstock.ir.attr_codec import Function as FunctionName
from penstock.ir.operation import Operation
from penstock.ir.registry import READS
from penstock.ir.step_graph import FEED, Edge, Node
from penstock.kernels.values import from_array, to_array
from penstock.partition.split import RECV, SEND
from penstock.runtime.binding import BoundNode, bind, has_kernel
from penstock.runtime.device import Device
from penstock.runtime.diagnosis import Failure, cause
from penstock.runtime.local import LocalRuntime, visible_gpus
from penstock.runtime.rendezvous import Rendezvous
from penstock.runtime.step import Step
from penstock.state.variable import VariableState
from penstock.state.waiting import Cancellation

_MOST_KEPT = 16384  # kernels: a seed of its own in each call would fill the memory
_MEETINGS = frozenset({SEND.name, RECV.name})  # ops that meet others of their kind
_ALONE = 2  # who knows the memory of a tensor that nobody shares: itself, and the one who asks


class _Process:
    """The devices of this process, and where what one of them sends waits to be received."""

    def __init__(self, cpus: int, gpus: int | None, visible: str):
        self.runtime = LocalRuntime(cpus, gpus=visible_gpus(gpus, visible))
        self.rendezvous = Rendezvous()


_process = functools.cache(_Process)  # one for each way to divide the machine into devices


class Immediate:
    """The devices of this process, and the kernels that one eager graph keeps.

    Args:
      cpus: how many devices the CPU counts as.
      gpus: how many GPUs to use at most, of those that are `visible` ("1,0"; "": all).
    """

    def __init__(self, cpus: int = 1, gpus: int | None = None, visible: str = "") -> None:
        process = _process(cpus, gpus, visible)
        runtime = process.runtime
        self._rendezvous = process.rendezvous
        self._devices = {device.name: device for device in runtime.devices}
        self._host = runtime.host
        self._first_gpu = next((d for d in self._devices.values() if d.device_type == "GPU"), None)
        self._kernels: dict[Any, BoundNode] = {}
        self._numbers = itertools.count()
        self._local = threading.local()

    @property
    def device_names(self) -> list[str]:
        return list(self._devices)

    @property
    def host_name(self) -> str:
        return self._host.name

    def forget_kernels(self) -> None:
        """Lets random ops start anew, for a new seed of the program."""
        self._kernels.clear()

    def run(
        self, op: Operation, types: Sequence[DType], values: Sequence[Any], device_name: str
    ) -> tuple[list[Any], str]:
        """The values of an operation's outputs, and the name of the device that they are on."""
        attrs = op.attrs
        if op.spec.name == "Const":
            device = self._host if not device_name else self._devices[device_name]
            return [device.to_device(from_array(attrs["value"]))], device.name
        device = self._device_for(op, types, values, device_name)
        bound = self._bound(op, types, device)
        if bound.is_constant:
            return [self._own(bound.constant, op)], device.name
        given = [_placed(value, device) for value in values]
        if op.spec.is_stateful and READS not in op.spec.traits:
            keep_what_was_read(given)
        assert bound.function is not None
        try:
            result = (
                bound.function(self._step(op.spec.name), *given)
                if bound.takes_step
                else bound.function(*given)
            )
        except Exception as error:
            raise _failed(op, types, given, error) from error
        count = len(bound.node.dtypes)
        results = [result] if count == 1 else list(result) if count else []
        if op.spec.is_stateful:
            results = [self._own(value, op) for value in results]
        return results, device.name

    def _step(self, op_type: str) -> Step:
        cancellation = getattr(self._local, "cancellation", None)
        step = Step() if cancellation is None else Step(None, cancellation)
        if op_type in _MEETINGS:
            step.rendezvous = self._rendezvous
        return step

    @contextmanager
    def cancelled_by(self, cancellation: Cancellation) -> Iterator[None]:
        """A block of this thread whose operations end where they wait, once it is cancelled."""
        if cancellation.is_cancelled:
            raise errors.CancelledError(None, None, "The function was cancelled before it began")
        before = getattr(self._local, "cancellation", None)
        self._local.cancellation = cancellation
        try:
            yield
        finally:
            self._local.cancellation = before

    def _device_for(
        self, op: Operation, types: Sequence[DType], values: Sequence[Any], device_name: str
    ) -> Device:
        if self._first_gpu is None:
            return self._devices[device_name] if device_name else self._host
        wanted = self._devices[device_name] if device_name else self._first_gpu
        if wanted.device_type == "CPU":
            return wanted
        states = [value for value in values if isinstance(value, VariableState)]
        if any(_is_on_host(state) for state in states) or _is_of_sizes(op, types):
            return self._host
        node = _node(op, types)
        return wanted if has_kernel(node, wanted.device_type) else self._host

    def _bound(self, op: Operation, types: Sequence[DType], device: Device) -> BoundNode:
        outputs = [dtype for arg in op.spec.outputs for dtype in arg.types(op.attrs)]
        if dtypes.resource in outputs or dtypes.variant in outputs:
            node = _node(op, types)
            node.name = f"{node.name}_{next(self._numbers)}"  # state of its own, of no other call
            return _bind(node, device)
        key = (op.spec, device, tuple(types), _frozen(op.attrs))
        bound = self._kernels.get(key)
        if bound is None:
            if len(self._kernels) >= _MOST_KEPT:
                self._kernels.clear()
            bound = self._kernels[key] = _bind(_node(op, types), device)
        return bound

    def _own(self, value: Any, op: Operation) -> Any:
        """A result as the caller may keep it: in a tensor of its own, state known to it alone."""
        if isinstance(value, torch.Tensor):
            return value.detach()
        if op.spec.name == "VarHandleOp" or not op.attrs.get("shared_name"):
            self._host.resources.disown(value)
        return value

    def to_array(self, value: Any) -> np.ndarray:
        """A value as NumPy has it, sharing memory where it can."""
        return to_array(value)

    def moved(self, value: Any, device_name: str) -> Any:
        """A value in the memory of a device."""
        return self._devices[device_name].to_device(value)


def _bind(node: Node, device: Device) -> BoundNode:
    try:
        return bind(node, device)
    except errors.OpError as error:
        told = error.__cause__ if isinstance(error.__cause__, errors.OpError) else error
        message = f"{told.message} [Op:{node.type}]"
        raise type(error)(None, None, message) from error  # type: ignore[call-arg]


def _node(op: Operation, types: Sequence[DType]) -> Node:
    """The operation as a node of a step that knows nothing of its inputs but their types."""
    outputs = [dtype for arg in op.spec.outputs for dtype in arg.types(op.attrs)]
    node = Node(op.spec, op.name, op.attrs, outputs, [None] * len(outputs), origin=op)
    node.inputs = [
        Edge(Node(FEED, f"_feed_{i}", {"dtype": dtype}, [dtype], [None]), 0)
        for i, dtype in enumerate(types)
    ]
    return node


def _frozen(value: Any) -> Any:
    """An attr, or all of them, as a part of a key."""
    if isinstance(value, dict):
        return tuple([(key, _frozen(entry)) for key, entry in value.items()])
    if isinstance(value, list):
        return tuple([_frozen(entry) for entry in value])
    if isinstance(value, FunctionName):
        return value.name, _frozen(value.attrs)
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes() if value.dtype != object else tuple(value.flat)
    return value


def _is_on_host(state: VariableState) -> bool:
    return isinstance(state.value, np.ndarray) or (
        isinstance(state.value, torch.Tensor) and state.value.device.type == "cpu"
    )


def _is_of_sizes(op: Operation, types: Sequence[DType]) -> bool:
    """Whether all that an operation takes or gives are small integers or the host's values."""
    outputs = [dtype for arg in op.spec.outputs for dtype in arg.types(op.attrs)]
    return all(dtype in (dtypes.int32, dtypes.string) for dtype in [*types, *outputs])


def _placed(value: Any, device: Device) -> Any:
    if isinstance(value, torch.Tensor) and value.device != device.torch_device:
        return device.to_device(value)
    return value


def keep_what_was_read(given: Sequence[Any]) -> None:
    """Gives variables that may change other memory where values that were read are still held."""
    for state in given:
        if isinstance(state, VariableState) and isinstance(state.value, torch.Tensor):
            storage = state.value.untyped_storage()
            if torch._C._storage_Use_Count(storage._cdata) > _ALONE:
                state.value = state.value.clone()


def _failed(
    op: Operation, types: Sequence[DType], values: Sequence[Any], error: Exception
) -> Exception:
    """The error that eager execution raises for one of a kernel."""
    if isinstance(error, errors.OpError) and error.op is not None:
        return error  # of a node inside a function
    error_class, message = cause(Failure(_node(op, types), list(values)), error)
    named = f" name: {op.name}/" if op.name and op.name != op.spec.name else ""
    return error_class(None, None, f"{message} [Op:{op.spec.name}]{named}")  # type: ignore[call-arg]
