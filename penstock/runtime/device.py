"""A device of this process: a name, the memory that its tensors live in, and its state."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from penstock.ir.step_graph import Node
from penstock.kernels.values import from_array
from penstock.runtime import device_types
from penstock.runtime.device_types import DeviceType
from penstock.state.containers import ResourceManager


class Device:
    """A CPU, a GPU or a device of a user's type; its `resources` keep variables and queues."""

    def __init__(
        self,
        name: str,
        device_type: str,
        torch_device: torch.device,
        host: Device | None = None,
        kind: DeviceType | None = None,
    ):
        self.name = name
        self.host = host or self  # the CPU that launches its kernels and keeps sizes and strings
        self.device_type = device_type
        self.torch_device = torch_device
        self.kind = kind  # of a type that a user has added
        self._index = 0 if kind is None else int(name.rpartition(":")[2])
        self._kinds = device_types.registered()
        self.resources = ResourceManager()
        self.generator = torch.Generator(device=torch_device)
        self.generator.seed()

    def __repr__(self) -> str:
        return f"<device {self.name}>"

    @property
    def is_host(self) -> bool:
        """Whether its memory is the process's own."""
        return self.kind is None and self.torch_device.type == "cpu"

    def to_device(self, value: Any) -> Any:
        """A runtime value in this device's memory; host values (strings, handles) stay."""
        if self._kinds:
            value = self._out_of_other_memory(value)
        if not isinstance(value, torch.Tensor):
            return value
        if value.device != self.torch_device:
            value = _moved(value, self.torch_device)
        return value if self.kind is None else self.kind.to_device(value, self._index)

    def _out_of_other_memory(self, value: Any) -> Any:
        """A value of another device type that a user has added, as the host has it."""
        others = [kind for kind in self._kinds if kind is not self.kind]
        return device_types.on_host(value, others)


class _Refusal(threading.local):
    active = False


_refusal = _Refusal()


@contextmanager
def refused_copies() -> Iterator[None]:
    """A block in which this thread may not copy from the host to a GPU: what is recorded there
    would read the host's memory again in each replay, whatever is in it by then."""
    _refusal.active = True
    try:
        yield
    finally:
        _refusal.active = False


_WORTH_PINNING = 1 << 16  # bytes: a smaller copy is over before its pages are locked


def _moved(value: torch.Tensor, target: torch.device) -> torch.Tensor:
    """A tensor in another memory; to a GPU through locked pages, so that the host can go on."""
    if target.type == "cuda" and value.device.type == "cpu":
        if _refusal.active:
            raise RuntimeError("a value of the host is copied in each step")
        if value.numel() * value.element_size() >= _WORTH_PINNING:
            value = value.pin_memory()
        return value.to(target, non_blocking=True)
    return value.to(target)


class KernelEnv:
    """What a kernel factory may ask for besides its node."""

    def __init__(self, device: Device):
        self.device = device
        self.resources = device.resources
        self.torch_device = device.torch_device
        self.generator = device.generator
        self.to_device = device.to_device

    @staticmethod
    def constant(node: Node, index: int) -> Any:
        """The value of input `index` if it is a constant of this step, else None."""
        producer = node.inputs[index].node
        if producer.type != "Const":
            return None
        value = producer.attrs["value"]
        return value if isinstance(value, torch.Tensor) else from_array(value)

    def function(self, node: Node, name: str, attrs: dict[str, Any]) -> Any:
        """A function of the node's graph: `call(step, values)` runs it and returns its results."""
        from penstock.runtime.functions import function_call

        return function_call(self.device, node, name, attrs)

    def body_function(self, body: Any) -> Any:
        """The same for a body that a kernel makes, which has no name."""
        from penstock.runtime.functions import body_call

        return body_call(self.device, body)

    def shared_function(self, node: Node, name: str, attrs: dict[str, Any]) -> Any:
        """The same, whose random ops go on where another node's call of it has left them."""
        from penstock.runtime.functions import shared_call

        return shared_call(self.device, node, name, attrs)

    def tensor_reader(self, tensor: Any) -> Any:
        """`read(step)` computes a tensor of a graph that does not depend on feeds."""
        from penstock.runtime.functions import tensor_reader

        return tensor_reader(self.device, tensor)

    def gradient_function(self, node: Node, name: str, attrs: dict[str, Any]) -> Any:
        """The same for the function's gradient."""
        from penstock.runtime.functions import gradient_call

        return gradient_call(self.device, node, name, attrs)
