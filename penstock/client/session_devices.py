"""What a session says of its devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import devices


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


def attributes_of(messages: Sequence[Any]) -> list[DeviceAttributes]:
    """The descriptions of devices from their DeviceAttributes messages."""
    return [
        DeviceAttributes(each.name, each.device_type, each.memory_limit, each.incarnation)
        for each in messages
    ]
