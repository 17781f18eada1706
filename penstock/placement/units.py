"""What is placed as one, and which of it may be moved from the place that it has by default.

1. A group (`groups.py`) is never taken apart, and its constraints always hold.
2. A choice is one among devices of the type, and the task, of the default.
3. State stays where the default puts it, and so does everything that looks at a reference after the
   step has changed what is behind it: on another device it would see the value of before.
4. A loop is placed as one: values that cross devices in every iteration would cost more than they
   bring.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from penstock.ir.registry import ALIASES
from penstock.ir.step_graph import Node, StepGraph, is_back_edge
from penstock.passes.order import accesses, live_variable
from penstock.placement.groups import Candidate, Group
from penstock.placement.work import takes_no_time

Frame = tuple[str, ...]

_ENTER = ("Enter", "RefEnter")
_EXIT = ("Exit", "RefExit")


@dataclass
class Units:
    """Which nodes are placed as one, and where that may be.

    `of` has the number of its unit for each node of the step, `choices` the devices of each unit
    by index, first the one that it has if nothing is gained by another. `loops` says how many
    loops each node is inside of.
    """

    of: list[int]
    choices: list[list[int]]
    loops: list[int]


def units_of(
    step: StepGraph,
    groups: Sequence[Group],
    devices: Sequence[Candidate],
    *,
    spread_cpus: bool = True,
) -> Units:
    """The units of a step: groups, and loops of several groups.

    Without `spread_cpus` what is on a CPU stays there: such devices share the cores of a task.
    """
    index = {device.name: i for i, device in enumerate(devices)}
    position = {node: i for i, node in enumerate(step.nodes)}
    frames = frames_of(step)
    fixed = _fixed_nodes(step)
    of = [0] * len(step.nodes)
    choices: list[list[int]] = []
    for bundle in _bundles(groups, frames, position):
        nodes = [node for group in bundle for node in group.nodes]
        stays = not is_open(bundle[0], spread_cpus=spread_cpus) or any(n in fixed for n in nodes)
        shared = [] if stays else _shared(bundle, index)
        for group in bundle:
            if not shared or group is bundle[0]:
                choices.append(shared or [index[group.devices[0].name]])
            for node in group.nodes:
                of[position[node]] = len(choices) - 1
    return Units(of, choices, [len(frame) for frame in frames])


def is_open(group: Group, *, spread_cpus: bool) -> bool:
    """Whether a group could be on another device like the one that it has by default."""
    first, *others = group.devices
    if first.spec.device_type == "CPU" and not spread_cpus:
        return False
    return any(_is_alike(device, first) for device in others)


def _bundles(
    groups: Sequence[Group], frames: Sequence[Frame], position: dict[Node, int]
) -> list[list[Group]]:
    """Groups that are placed as one: those of a loop together, the others each alone."""
    loops: dict[str, list[Group]] = {}
    found: list[list[Group]] = []
    for group in groups:
        inside = [frame[0] for node in group.nodes if (frame := frames[position[node]])]
        if not inside:
            found.append([group])
        elif inside[0] in loops:
            loops[inside[0]].append(group)
        else:
            loops[inside[0]] = [group]
            found.append(loops[inside[0]])
    return found


def _shared(groups: Sequence[Group], index: dict[str, int]) -> list[int]:
    """The devices that all groups may use, if they are at one place by default."""
    first = groups[0].devices[0]
    if any(group.devices[0].name != first.name for group in groups):
        return []
    allowed = [{device.name for device in group.devices} for group in groups]
    return [
        index[device.name]
        for device in groups[0].devices
        if _is_alike(device, first) and all(device.name in names for names in allowed)
    ]


def _is_alike(device: Candidate, other: Candidate) -> bool:
    a, b = device.spec, other.spec
    return (a.device_type, a.job, a.replica, a.task) == (b.device_type, b.job, b.replica, b.task)


def _fixed_nodes(step: StepGraph) -> set[Node]:
    """The nodes that stay where they are by default."""
    touched = {node: accesses(node) for node in step.nodes}
    # Iterations come again: what is written in a loop is written before anything in it is read.
    written: set[Hashable] = set()
    if step.has_control_flow:
        written = {state for access in touched.values() for state in access.writes}
    found = set()
    for node in step.nodes:
        access = touched[node]
        passes_on = ALIASES in node.spec.traits and live_variable(node.inputs[0]) is not None
        if node.spec.is_stateful or access.writes or access.reads & written or passes_on:
            found.add(node)
        written |= access.writes
    return found


def eager_order(step: StepGraph) -> list[Node]:
    """The nodes of a step, those that take no time as early as their inputs allow.

    A device sends what others wait for, the value of a variable for example, in the order of its
    nodes: behind work that has nothing to do with it, it would come late. Where control flow
    decides what runs, the order stays: not all of it is written into the edges.
    """
    if step.has_control_flow:
        return step.nodes
    behind: dict[Node, int] = {}
    keys: dict[Node, tuple[int, bool, int]] = {}
    for i, node in enumerate(step.nodes):
        early = takes_no_time(node)
        last = max((behind[producer] for producer in node.producers()), default=-1)
        behind[node] = last if early else i
        keys[node] = behind[node], early, i
    return sorted(step.nodes, key=keys.__getitem__)


def frames_of(step: StepGraph) -> list[Frame]:
    """The loops that each node is inside of, outermost first; an Exit counts as inside."""
    found: dict[Node, Frame] = {}
    for node in step.nodes:
        outer: Frame = ()
        for producer in node.producers():
            if is_back_edge(producer, node):
                continue
            frame = found[producer]
            if producer.type in _EXIT:
                frame = frame[:-1]
            if len(frame) > len(outer):
                outer = frame
        found[node] = (*outer, node.attrs["frame_name"]) if node.type in _ENTER else outer
    return list(found.values())
