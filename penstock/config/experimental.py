"""`tf.config.experimental`: the devices of this process, and which of them new sessions use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from penstock.client.session_defaults import (
    check_change,
    forgotten_with_settings,
    session_defaults,
)
from penstock.eager import settings
from penstock.eager.settings import eager_settings

__all__ = [
    "VirtualDeviceConfiguration",
    "get_device_policy",
    "get_memory_growth",
    "get_synchronous_execution",
    "get_virtual_device_configuration",
    "get_visible_devices",
    "list_logical_devices",
    "list_physical_devices",
    "set_device_policy",
    "set_memory_growth",
    "set_synchronous_execution",
    "set_virtual_device_configuration",
    "set_visible_devices",
]


class PhysicalDevice(NamedTuple):
    """A device of the machine."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device of sessions."""

    name: str
    device_type: str


class VirtualDeviceConfiguration(NamedTuple):
    """A part of a device; `memory_limit` is in megabytes, for GPUs."""

    memory_limit: int | None = None


_parts: dict[PhysicalDevice, list[VirtualDeviceConfiguration]] = {}
forgotten_with_settings(_parts.clear)


def _of_type(devices: Sequence[Any], device_type: str | None) -> list[Any]:
    return [each for each in devices if device_type in (None, each.device_type)]


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of the machine: its CPU and its GPUs."""
    from penstock import proto
    from penstock.client.device_lib import list_local_devices

    found = [
        PhysicalDevice(device.name.replace("/device:", "/physical_device:"), device.device_type)
        for device in list_local_devices(proto.ConfigProto())
    ]
    return _of_type(found, device_type)


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that a new session has."""
    from penstock.client.session import Session
    from penstock.ir.graph import Graph

    with Session(graph=Graph()) as session:
        found = [LogicalDevice(each.name, each.device_type) for each in session.list_devices()]
    visible = {device.device_type for device in get_visible_devices()}
    return _of_type([each for each in found if each.device_type in visible], device_type)


# Which of them to use ---------------------------------------------------------------------------


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of the machine that new sessions use."""
    defaults = session_defaults()
    found = []
    for device in list_physical_devices(device_type):
        index = device.name.rpartition(":")[2]
        chosen = defaults.gpu_options.visible_device_list
        hidden = defaults.device_count.get(device.device_type, 1) == 0
        if not hidden and (device.device_type != "GPU" or index in chosen.split(",") or not chosen):
            found.append(device)
    return found


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Lets new sessions use these GPUs only; the CPU is always there."""
    chosen = [devices] if isinstance(devices, PhysicalDevice) else list(devices or ())
    known = list_physical_devices()
    for device in chosen:
        if device not in known or device_type not in (None, device.device_type):
            raise ValueError(f"Unrecognized device: {device!r}")
    message = "Visible devices cannot be modified after being initialized"
    check_change(get_visible_devices(device_type), _of_type(chosen, device_type), message)
    if device_type not in (None, "GPU"):
        return
    indices = [each.name.rpartition(":")[2] for each in chosen if each.device_type == "GPU"]
    defaults = session_defaults()
    defaults.gpu_options.visible_device_list = ",".join(indices)
    if indices:
        defaults.device_count.pop("GPU", None)
    elif any(each.device_type == "GPU" for each in known):
        defaults.device_count["GPU"] = 0


def _checked(device: Any) -> Any:
    if device not in list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")
    return device


def get_memory_growth(device: Any) -> bool:
    """Whether a GPU's memory is taken as needed."""
    _checked(device)
    return bool(session_defaults().gpu_options.allow_growth)


def set_memory_growth(device: Any, enable: bool) -> None:
    """Says whether a GPU's memory is to be taken as needed, which Penstock always does."""
    if _checked(device).device_type != "GPU":
        raise ValueError("Cannot set memory growth on non-GPU devices")
    session_defaults().gpu_options.allow_growth = enable


def get_virtual_device_configuration(device: Any) -> Any:
    """The parts of a device that sessions see as devices; None if it is whole."""
    return _parts.get(_checked(device))


def set_virtual_device_configuration(device: Any, virtual_devices: Any) -> None:
    """Makes several devices of the CPU, for tests; a GPU stays whole."""
    parts = list(virtual_devices)
    if _checked(device).device_type != "CPU":
        raise RuntimeError("Penstock does not divide GPUs: give each session the whole device.")
    if any(part.memory_limit is not None for part in parts):
        raise ValueError("Setting memory limit on CPU virtual devices is currently not supported")
    message = "Virtual devices cannot be modified after being initialized"
    check_change(_parts.get(device), parts, message)
    _parts[device] = parts
    session_defaults().device_count["CPU"] = len(parts)


# Eager execution only ---------------------------------------------------------------------------


_POLICIES = {
    settings.DEVICE_PLACEMENT_SILENT: "silent",
    settings.DEVICE_PLACEMENT_SILENT_FOR_INT32: "silent_for_int32",
    settings.DEVICE_PLACEMENT_WARN: "warn",
    settings.DEVICE_PLACEMENT_EXPLICIT: "explicit",
}


def get_device_policy() -> str:
    """What was asked to happen to an input on another device; it is copied in any case."""
    return _POLICIES[eager_settings.device_policy]


def set_device_policy(device_policy: str | None) -> None:
    """Says what is to happen to an input on another device: "silent" (None) is what does."""
    numbers = {name: number for number, name in _POLICIES.items()}
    number = numbers.get(device_policy or "silent")
    if number is None:
        raise ValueError(f"Not a valid device policy: {device_policy!r}")
    eager_settings.device_policy = number


def get_synchronous_execution() -> bool:
    """Whether eager operations were asked to have run when they return; they have in any case."""
    return eager_settings.execution_mode == settings.SYNC


def set_synchronous_execution(enable: bool | None) -> None:
    """Says whether eager operations are to have run when they return, as they always have."""
    eager_settings.execution_mode = settings.ASYNC if enable is False else settings.SYNC
