"""Placing the nodes of a step on the devices that a session has.

1. Constraints come first: device strings, colocation, state (`groups.py`).
2. State stays where it was placed first, for as long as its session lives.
3. Where a choice is left, a node without inputs goes where its only consumer is, a node that only
   asks for a shape goes where its input is, and the others go to the first device of the list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from penstock.devices import DeviceSpec
from penstock.ir.operation import Operation
from penstock.ir.step_graph import Node, StepGraph
from penstock.placement.groups import Candidate, Group, Supports, grouped, matching, no_device

# Chooses among several devices for groups that constraints leave open, all at once.
Choose = Callable[[StepGraph, list[Group]], None]

_ASKS_FOR_SHAPE = ("Shape", "ShapeN", "Size", "Rank")
_TASK = ("job", "replica", "task")


def _supports_all(node: Node, device_type: str) -> bool:
    return True


def place(
    step: StepGraph,
    devices: Sequence[str],
    *,
    soft: bool = False,
    supports: Supports = _supports_all,
    sticky: dict[str, str] | None = None,
    choose: Choose | None = None,
) -> None:
    """Gives every node a device of the list, which begins with the ones to be used first.

    `soft` (ConfigProto.allow_soft_placement) lets a node that asks for a device type or number
    which is not there, or that has no kernel there, run on another device of the same task.
    `sticky` remembers by name where state is.
    """
    candidates = [Candidate.of(name) for name in devices]
    if len(candidates) == 1:
        _place_on(candidates[0], step, soft)
        return
    groups = grouped(step, candidates, supports, soft=soft)
    remembered = {} if sticky is None else sticky
    for group in groups:
        _prefer_remembered(group, remembered)
    if choose is not None:
        choose(step, groups)
    _follow_neighbours(step, groups)
    for group in groups:
        device = group.devices[0].name
        for node in group.nodes:
            node.device = device
            if node.spec.is_stateful:
                remembered.setdefault(node.name, device)


def _place_on(only: Candidate, step: StepGraph, soft: bool) -> None:
    """The quick way where there is one device: each distinct request is looked at once."""
    possible = {""}
    for node in step.nodes:
        if node.device not in possible:
            if _is_impossible(node.device, [only], soft):
                raise no_device(node.origin, repr(node), node.device, [only.name])
            possible.add(node.device)
        node.device = only.name


def _prefer_remembered(group: Group, remembered: dict[str, str]) -> None:
    places = {remembered[node.name] for node in group.nodes if node.name in remembered}
    group.devices.sort(key=lambda device: device.name not in places)


def _follow_neighbours(step: StepGraph, groups: list[Group]) -> None:
    """Puts sources beside their only consumer, and questions about shapes beside their input."""
    home = {node: group for group in groups for node in group.nodes}
    consumers = step.consumers()
    for group in groups:
        if len(group.nodes) != 1 or len(group.devices) == 1:
            continue
        (node,) = group.nodes
        if node.type in _ASKS_FOR_SHAPE:
            _move_beside(group, home[node.inputs[0].node])
        elif not node.inputs and len(node.dtypes) == 1 and not node.dtypes[0].is_ref_dtype:
            users = {id(home[user]): home[user] for user in consumers[node]}
            if len(users) == 1:
                _move_beside(group, next(iter(users.values())))


def _move_beside(group: Group, other: Group) -> None:
    if any(device.name == other.devices[0].name for device in group.devices):
        group.devices = [other.devices[0]]


def check_placeable(op: Operation, devices: Sequence[str], *, soft: bool = False) -> None:
    """Raises InvalidArgumentError where no device is what the operation asks for."""
    if _is_impossible(op.device, [Candidate.of(name) for name in devices], soft):
        raise no_device(op, repr(op), op.device, devices)


def _is_impossible(wanted: str, devices: Sequence[Candidate], soft: bool) -> bool:
    spec = DeviceSpec.from_string(wanted)
    return not (matching(spec, devices) or (soft and matching(spec, devices, _TASK)))
