"""The devices of this process: `tensorflow.python.client.device_lib`."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

from penstock import proto
from penstock.client.session import Session
from penstock.ir.graph import Graph

__all__ = ["list_local_devices"]

# What TensorFlow says of a CPU, whose memory it doesn't limit.
_CPU_MEMORY_LIMIT = 256 << 20


@cache
def _incarnation(name: str) -> int:
    """A number that tells this process's device from one of the same name in another process."""
    return random.SystemRandom().getrandbits(63) | 1


def list_local_devices(session_config: Any = None) -> list[Any]:
    """The devices of this process, as `DeviceAttributes` messages.

    Args:
      session_config: a `ConfigProto`; its `device_count` counts.
    """
    with Session(graph=Graph(), config=session_config) as session:
        devices = session.list_devices()
    found = []
    for device in devices:
        name = "/device:" + device.name.partition("/device:")[2]
        message = proto.DeviceAttributes(
            name=name,
            device_type=device.device_type,
            memory_limit=device.memory_limit or _CPU_MEMORY_LIMIT,
            incarnation=_incarnation(name),
            physical_device_desc=device.physical_device_desc,
        )
        message.locality.SetInParent()
        found.append(message)
    return found
