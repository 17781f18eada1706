"""`tensorflow.python.distribute.device_util`: full names of devices."""

from __future__ import annotations

from penstock.devices import DeviceSpec
from penstock.distribute.device_names import host_of as get_host_for_device
from penstock.distribute.device_names import local_job
from penstock.ir.defaults import get_default_graph

__all__ = [
    "canonicalize",
    "current",
    "get_host_for_device",
    "local_devices_from_num_gpus",
    "resolve",
]


def canonicalize(d: str, default: str | None = None) -> str:
    """The full name of a device; what it leaves out is that of `default`, or of the first CPU."""
    named = DeviceSpec.from_string(d)
    if named.device_type is not None and named.device_type != named.device_type.upper():
        raise AssertionError(f"Device type '{named.device_type}' must be all-caps.")
    full = DeviceSpec(job=local_job(), replica=0, task=0, device_type="CPU", device_index=0)
    if default:
        full = full.make_merged_spec(DeviceSpec.from_string(default))
    return full.make_merged_spec(named).to_string()


class _Placed:
    """Takes the device that a node would get."""

    device = ""

    def _set_device(self, device: str) -> None:
        self.device = device


def current() -> str:
    """The device that a node which is made now is on."""
    graph = get_default_graph()
    if graph.is_eager:
        return str(graph._current_device())  # type: ignore[attr-defined]
    placed = _Placed()
    graph._apply_device_functions(placed)
    return placed.device


def resolve(d: str) -> str:
    """The full name of a device, with what the `tf.device` blocks around say."""
    return canonicalize(d, default=current())


def local_devices_from_num_gpus(num_gpus: int) -> tuple[str, ...]:
    """The names of so many GPUs, or that of the CPU."""
    return tuple(f"/device:GPU:{i}" for i in range(num_gpus)) or ("/device:CPU:0",)
