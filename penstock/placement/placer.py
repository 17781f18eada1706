"""Placing the nodes of a step on the devices that a session has."""

from __future__ import annotations

from collections.abc import Sequence

from penstock import errors
from penstock.devices import DeviceSpec
from penstock.ir.operation import Operation, describe
from penstock.ir.step_graph import StepGraph


def place(step: StepGraph, devices: Sequence[str], *, soft: bool = False) -> None:
    """Gives every node the first device that its device string allows.

    `soft` (ConfigProto.allow_soft_placement) lets a node that asks for a device type or number
    which is not there run on another device of the same task.
    """
    specs = [(name, DeviceSpec.from_string(name)) for name in devices]
    chosen: dict[str, str] = {}
    for node in step.nodes:
        wanted = node.device
        if wanted not in chosen:
            found = _choose(wanted, specs, soft)
            if found is None:
                raise _no_device(node.origin, repr(node), wanted, devices)
            chosen[wanted] = found
        node.device = chosen[wanted]


def check_placeable(op: Operation, devices: Sequence[str], *, soft: bool = False) -> None:
    """Raises InvalidArgumentError where no device is what the operation asks for."""
    specs = [(name, DeviceSpec.from_string(name)) for name in devices]
    if _choose(op.device, specs, soft) is None:
        raise _no_device(op, repr(op), op.device, devices)


_TASK = ("job", "replica", "task")


def _choose(wanted: str, devices: list[tuple[str, DeviceSpec]], soft: bool) -> str | None:
    if not wanted:
        return devices[0][0]
    spec = DeviceSpec.from_string(wanted)
    fields = [(*_TASK, "device_type", "device_index")] + ([_TASK] if soft else [])
    for considered in fields:
        for name, device in devices:
            asked = ((getattr(spec, field), getattr(device, field)) for field in considered)
            if all(want is None or want == has for want, has in asked):
                return name
    return None


def _no_device(
    op: Operation | None, text: str, wanted: str, devices: Sequence[str]
) -> errors.InvalidArgumentError:
    named = describe(op) if op is not None else text
    return errors.InvalidArgumentError(
        op and op.node_def,
        op,
        f"Cannot assign a device for operation {named}: it was explicitly assigned to {wanted} "
        f"but available devices are [ {', '.join(devices)} ]. Make sure the "
        "device specification refers to a valid device, or set allow_soft_placement.",
    )
