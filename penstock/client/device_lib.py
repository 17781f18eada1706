"""The devices of this process: `tensorflow.python.client.device_lib`."""

from __future__ import annotations

from typing import Any

from penstock.client.session import Session
from penstock.ir.graph import Graph

__all__ = ["list_local_devices"]


def list_local_devices(session_config: Any = None) -> list[Any]:
    """The devices of this process, as `DeviceAttributes` messages.

    Args:
      session_config: a `ConfigProto`; its `device_count` counts.
    """
    with Session(graph=Graph(), config=session_config) as session:
        found: list[Any] = session._runtime.device_attributes()
    for message in found:
        message.name = "/device:" + message.name.partition("/device:")[2]
    return found
