"""`tf.config.register_device_type`: devices of a type that Penstock does not know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["register_device_type", "unregister_device_type"]


def register_device_type(
    name: str,
    value_type: type,
    to_device: Callable[[Any, int], Any],
    to_host: Callable[[Any], Any],
    *,
    count: int = 1,
    preferred: bool = False,
    memory_limit: int = 0,
) -> None:
    """Adds a device type: sessions that are made afterwards have its devices.

    Its kernels are registered with `penstock.kernels.registry.kernel(op, devices=(name,))`;
    docs/devices.md has an example.

    Args:
      name: as in `tf.device("/device:TOY:0")`, in capitals.
      value_type: the class of the values in its memory.
      to_device: `to_device(tensor, index)` copies a torch tensor of the host to device `index`.
      to_host: `to_host(value)` gives the torch tensor back.
      count: how many devices a session has; `ConfigProto.device_count[name]` may say otherwise.
      preferred: whether nodes that ask for no device go there where it has a kernel.
      memory_limit: what `Session.list_devices` says of the memory, in bytes.
    """
    from penstock.runtime import device_types

    device_types.register(
        device_types.DeviceType(
            name, value_type, to_device, to_host, count, preferred, memory_limit
        )
    )


def unregister_device_type(name: str) -> None:
    """Takes a device type away again; sessions that have its devices keep them."""
    from penstock.runtime import device_types

    device_types.unregister(name)
