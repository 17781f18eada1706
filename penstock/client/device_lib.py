"""The devices of this process: `tensorflow.python.client.device_lib`."""

from __future__ import annotations

from typing import Any

from penstock import proto
from penstock.client.session import Session
from penstock.ir.graph import Graph

__all__ = ["list_local_devices"]


def list_local_devices(session_config: Any = None) -> list[Any]:
    """The devices of this process, as `DeviceAttributes` messages.

    Args:
      session_config: a `ConfigProto`; its `device_count` counts.
    """
    with Session(graph=Graph(), config=session_config) as session:
        devices = session.list_devices()
    found = []
    for device in devices:
        message = proto.DeviceAttributes(
            name="/device:" + device.name.partition("/device:")[2],
            device_type=device.device_type,
            memory_limit=device.memory_limit_bytes,
            incarnation=device.incarnation,
        )
        message.locality.SetInParent()
        found.append(message)
    return found
