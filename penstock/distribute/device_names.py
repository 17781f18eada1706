"""Names of devices as strategies have them: complete, but for the job of a local one."""

from __future__ import annotations

from penstock.devices import DeviceSpec
from penstock.execution_modes import executing_eagerly_outside_functions


def local_job() -> str | None:
    """The job of the devices of this process: it has a name in eager mode."""
    return "localhost" if executing_eagerly_outside_functions() else None


def resolve(device: str) -> str:
    """The full name of a device."""
    spec = DeviceSpec.from_string(device)
    return spec.replace(
        job=spec.job or local_job(),
        replica=spec.replica or 0,
        task=spec.task or 0,
        device_type=spec.device_type or "CPU",
        device_index=spec.device_index or 0,
    ).to_string()


def host_of(device: str) -> str:
    """The first CPU of the task that a device belongs to."""
    spec = DeviceSpec.from_string(device)
    return spec.replace(device_type="CPU", device_index=0).to_string()


def is_local(device: str) -> bool:
    """Whether a device is of this process: of no job, or of the one without a cluster."""
    return DeviceSpec.from_string(device).job in (None, "localhost")


def local_devices(gpus: int | None = None) -> list[str]:
    """The GPUs of this machine, or the first so many; the CPU if there are none."""
    if gpus is None:
        from penstock.client.device_lib import list_local_devices

        gpus = sum(each.device_type == "GPU" for each in list_local_devices())
    return [resolve(f"/device:GPU:{i}") for i in range(gpus)] or [resolve("/device:CPU:0")]
