"""What a session says of its devices, and whether the nodes of its graph can run there."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from typing import Any

from penstock import devices
from penstock.ir.graph import Graph
from penstock.placement.placer import check_placeable

# What TensorFlow says of a CPU, whose memory it doesn't limit.
_CPU_MEMORY = 256 << 20


@cache
def _incarnation(name: str) -> int:
    """A number that tells this process's device from one of the same name in another process."""
    return random.SystemRandom().getrandbits(63) | 1


class DeviceAttributes:
    """A device that steps of a session may use; see `tf.Session.list_devices`."""

    def __init__(self, name: str, device_type: str, memory_limit_bytes: int, incarnation: int):
        self._name = devices.canonical_name(name)
        self._device_type = device_type
        self._memory_limit_bytes = memory_limit_bytes
        self._incarnation = incarnation

    @property
    def name(self) -> str:
        return self._name

    @property
    def device_type(self) -> str:
        return self._device_type

    @property
    def memory_limit_bytes(self) -> int:
        return self._memory_limit_bytes

    @property
    def incarnation(self) -> int:
        return self._incarnation

    def __repr__(self) -> str:
        entries = self.name, self.device_type, self.memory_limit_bytes, self.incarnation
        return f"_DeviceAttributes({', '.join(map(str, entries))})"


def attributes_of(runtime_devices: Sequence[Any]) -> list[DeviceAttributes]:
    """The descriptions of a runtime's devices."""
    return [
        DeviceAttributes(device.name, device.device_type, _CPU_MEMORY, _incarnation(device.name))
        for device in runtime_devices
    ]


class WholeGraphCheck:
    """Refuses a graph in which some node asks for a device that the session does not have.

    A session places the whole graph before its first step, as TensorFlow does, so that a wrong
    device is found even at nodes that no step needs. Each node is looked at once.
    """

    def __init__(self, names: Sequence[str], *, soft: bool):
        self._names = list(names)
        self._soft = soft
        self._seen = 0
        self._possible = {""}

    def check(self, graph: Graph) -> None:
        """Looks at the nodes that were added since the last time."""
        added = graph.get_operations()[self._seen :]
        for op in added:
            if op.device not in self._possible:
                check_placeable(op, self._names, soft=self._soft)
                self._possible.add(op.device)
        self._seen += len(added)
