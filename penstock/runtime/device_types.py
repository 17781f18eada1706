"""Device types that a user adds: what their memory holds, and how values get there and back.

A type needs a class for the values in its memory, two functions that copy, and kernels that are
registered for it: `@kernel("MatMul", devices=("TOY",))`. Sessions that are made afterwards have its
devices. What always holds:
1. Kernels of the type get values of its class, but for sizes, axes and integers, which the host
   keeps; what they return is of its class.
2. Nodes go there that ask for it, and those that only it has kernels for; with `preferred`, all
   that it has kernels for.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.kernels import registry

_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
_BUILT_IN = ("CPU", "GPU")

#: Ops whose kernels look at no values: every device type has them.
_ANYWHERE = (
    "Const Identity StopGradient PreventGradient NoOp ControlTrigger Switch Merge Enter Exit "
    "NextIteration LoopCond"
).split()


@dataclass(frozen=True)
class DeviceType:
    """A type of devices with a memory of its own.

    Attributes:
      name: as in `tf.device("/device:TOY:0")`, in capitals.
      value_type: the class of the values in its memory.
      to_device: `to_device(tensor, index)` copies a torch tensor of the host to device `index`.
      to_host: `to_host(value)` gives the torch tensor back.
      count: how many devices a session has; `ConfigProto.device_count` may say otherwise.
      preferred: whether nodes go there that ask for no device.
      memory_limit: what `list_devices` says of the memory, in bytes.
    """

    name: str
    value_type: type
    to_device: Callable[[Any, int], Any]
    to_host: Callable[[Any], Any]
    count: int = 1
    preferred: bool = False
    memory_limit: int = 0


_types: dict[str, DeviceType] = {}


def register(kind: DeviceType) -> None:
    """Adds a device type for the sessions to come."""
    if not _NAME.fullmatch(kind.name) or kind.name in _BUILT_IN:
        raise ValueError(
            f"a device type has a name of its own in capitals, not {kind.name!r} "
            f"(taken: {', '.join((*_BUILT_IN, *_types))})"
        )
    if kind.name in _types:
        raise ValueError(f"device type {kind.name!r} is registered already")
    if kind.count < 1:
        raise ValueError(f"a device type has at least one device, got count={kind.count}")
    registry.share(_ANYWHERE, "CPU", kind.name)
    _types[kind.name] = kind


def unregister(name: str) -> None:
    """Takes a device type away again; sessions that have its devices keep them."""
    if name not in _types:
        raise ValueError(f"there is no device type {name!r} (added: {', '.join(_types) or 'none'})")
    del _types[name]


def registered() -> list[DeviceType]:
    """The device types that users have added."""
    return list(_types.values())


def on_host(value: Any, kinds: list[DeviceType]) -> Any:
    """A value as the host has it; what is in no user's memory stays as it is."""
    for kind in kinds:
        if isinstance(value, kind.value_type):
            return kind.to_host(value)
    return value
