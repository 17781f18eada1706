"""Placing the nodes of a step on the devices that a session has."""

from __future__ import annotations

from collections.abc import Sequence

from penstock import errors
from penstock.devices import DeviceSpec
from penstock.ir.operation import describe
from penstock.ir.step_graph import Node, StepGraph


def place(step: StepGraph, devices: Sequence[str]) -> None:
    """Gives every node the first device that its device string allows."""
    specs = [(name, DeviceSpec.from_string(name)) for name in devices]
    chosen: dict[str, str] = {}
    for node in step.nodes:
        wanted = node.device
        if wanted not in chosen:
            chosen[wanted] = _choose(node, wanted, specs)
        node.device = chosen[wanted]


def _choose(node: Node, wanted: str, devices: list[tuple[str, DeviceSpec]]) -> str:
    if not wanted:
        return devices[0][0]
    spec = DeviceSpec.from_string(wanted)
    for name, device in devices:
        if all(
            asked is None or asked == has
            for asked, has in (
                (spec.job, device.job),
                (spec.replica, device.replica),
                (spec.task, device.task),
                (spec.device_type, device.device_type),
                (spec.device_index, device.device_index),
            )
        ):
            return name
    named = describe(node.origin) if node.origin is not None else repr(node)
    raise errors.InvalidArgumentError(
        node.origin and node.origin.node_def,
        node.origin,
        f"Cannot assign a device for operation {named}: it was explicitly assigned to {wanted} "
        f"but available devices are [ {', '.join(name for name, _ in devices)} ]. Make sure the "
        "device specification refers to a valid device.",
    )
