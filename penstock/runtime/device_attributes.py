"""What is told of a device to others: its DeviceAttributes message."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from typing import Any

from penstock import proto
from penstock.runtime.device import Device

# What TensorFlow says of a CPU, whose memory it doesn't limit.
_CPU_MEMORY = 256 << 20


@cache
def _incarnation(name: str) -> int:
    """A number that tells this process's device from one of the same name in another process."""
    return random.SystemRandom().getrandbits(63) | 1


def device_attributes(devices: Sequence[Device]) -> list[Any]:
    """The DeviceAttributes messages of a runtime's devices."""
    found = []
    for device in devices:
        message = proto.DeviceAttributes(
            name=device.name,
            device_type=device.device_type,
            memory_limit=_CPU_MEMORY,
            incarnation=_incarnation(device.name),
        )
        message.locality.SetInParent()
        found.append(message)
    return found
