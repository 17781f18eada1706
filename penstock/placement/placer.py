"""Placing the nodes of a step on the devices that a session has."""

from __future__ import annotations

from collections.abc import Sequence

from penstock import errors
from penstock.devices import DeviceSpec
from penstock.ir.operation import describe
from penstock.ir.step_graph import Node, StepGraph


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
            chosen[wanted] = _choose(node, wanted, specs, soft)
        node.device = chosen[wanted]


_TASK = ("job", "replica", "task")


def _choose(node: Node, wanted: str, devices: list[tuple[str, DeviceSpec]], soft: bool) -> str:
    if not wanted:
        return devices[0][0]
    spec = DeviceSpec.from_string(wanted)
    fields = [(*_TASK, "device_type", "device_index")] + ([_TASK] if soft else [])
    for considered in fields:
        for name, device in devices:
            asked = ((getattr(spec, field), getattr(device, field)) for field in considered)
            if all(want is None or want == has for want, has in asked):
                return name
    named = describe(node.origin) if node.origin is not None else repr(node)
    raise errors.InvalidArgumentError(
        node.origin and node.origin.node_def,
        node.origin,
        f"Cannot assign a device for operation {named}: it was explicitly assigned to {wanted} "
        f"but available devices are [ {', '.join(name for name, _ in devices)} ]. Make sure the "
        "device specification refers to a valid device, or set allow_soft_placement.",
    )
