"""Which nodes must share a device, and which devices their constraints leave open.

Nodes belong together because the graph says so (`loc:@name`), or because one of them works on
another's state: a reference or a resource never leaves its device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from penstock import dtypes, errors
from penstock.devices import DeviceSpec
from penstock.ir.operation import Operation, describe
from penstock.ir.step_graph import Node, StepGraph

Supports = Callable[[Node, str], bool]  # whether there is a kernel for a node on a device type

_TASK = ("job", "replica", "task")
_FIELDS = (*_TASK, "device_type", "device_index")


class Candidate(NamedTuple):
    """A device that nodes may be placed on."""

    name: str
    spec: DeviceSpec

    @classmethod
    def of(cls, name: str) -> Candidate:
        return cls(name, DeviceSpec.from_string(name))


@dataclass
class Group:
    """Nodes that share a device: what they ask for together, and the devices that can give it."""

    nodes: list[Node] = field(default_factory=list)
    wanted: DeviceSpec = field(default_factory=DeviceSpec)
    devices: list[Candidate] = field(default_factory=list)


def grouped(
    step: StepGraph, devices: Sequence[Candidate], supports: Supports, *, soft: bool
) -> list[Group]:
    """The groups of a step in the order of their first nodes, each with the devices it may use."""
    groups = [group for nodes in _together(step.nodes) for group in _agreed(nodes, soft)]
    for group in groups:
        group.devices = _possible(group, devices, supports, soft)
    return groups


def _agreed(nodes: list[Node], soft: bool) -> list[Group]:
    """Nodes that belong together, and what they ask for.

    Where `soft`, those that are colocated but want to be in different tasks are not colocated;
    state stays with the nodes that work on it.
    """
    group = Group(nodes)
    try:
        group.wanted = _merged(group, soft)
    except errors.InvalidArgumentError:
        if not soft:
            raise
        groups = [Group(part) for part in _together(nodes, colocated=False)]
        for part in groups:
            part.wanted = _merged(part, soft, colocated=False)
        return groups
    return [group]


def _together(nodes: Sequence[Node], *, colocated: bool = True) -> Iterable[list[Node]]:
    """Unites nodes over references and resources, and over colocation classes."""
    leader: dict[object, object] = {}

    def find(key: object) -> object:
        root = key
        while leader.setdefault(root, root) is not root:
            root = leader[root]
        while leader[key] is not root:
            leader[key], key = root, leader[key]
        return root

    def unite(a: object, b: object) -> None:
        leader[find(b)] = find(a)

    for node in nodes:
        find(node)
        unite(f"loc:@{node.name}", node)
        for name in colocation_classes(node) if colocated else ():
            unite(name, node)
        for owner in _owners(node):
            unite(owner, node)
    members: dict[object, list[Node]] = {}
    for node in nodes:
        members.setdefault(find(node), []).append(node)
    return members.values()


def _owners(node: Node) -> list[Node]:
    """The nodes whose state a node works on."""
    return [
        edge.node
        for edge, takes_ref in zip(node.inputs, node.ref_inputs(), strict=True)
        if edge.dtype is dtypes.resource or (takes_ref and edge.dtype.is_ref_dtype)
    ]


def colocation_classes(node: Node) -> list[str]:
    """What a node's `_class` attr says, as `loc:@name` strings."""
    given = node.attrs.get("_class") or ()
    names = [name.decode() if isinstance(name, bytes) else str(name) for name in given]
    return [name for name in names if name.startswith("loc:@")]


def _requests(group: Group, colocated: bool) -> Iterable[tuple[str, DeviceSpec]]:
    """Who asks for which device: the group's nodes, and those outside the step they belong to."""
    inside = {node.name for node in group.nodes}
    outside: dict[str, Node] = {}
    for node in group.nodes:
        if node.device and not _owners(node):
            yield node.name, DeviceSpec.from_string(node.device)
        for name in colocation_classes(node) if colocated else ():
            if name[5:] not in inside:
                outside.setdefault(name[5:], node)
    for name, node in outside.items():
        found = node.origin and node.origin.graph._nodes_by_name.get(name)
        if found and found.device:
            yield name, DeviceSpec.from_string(found.device)


def _merged(group: Group, soft: bool, *, colocated: bool = True) -> DeviceSpec:
    """What all of a group ask for; a contradiction within one task is dropped where `soft`."""
    merged = DeviceSpec()
    source: dict[str, str] = {}
    for name, spec in _requests(group, colocated):
        for part in _FIELDS:
            want, have = getattr(spec, part), getattr(merged, part)
            if want is None:
                continue
            if have is not None and have != want:
                if soft and part not in _TASK:
                    continue
                raise _contradiction(group, source[part], merged, name, spec)
            setattr(merged, part, want)
            source[part] = name
    for node in group.nodes:
        if node.device and _owners(node):
            merged = _followed(merged, DeviceSpec.from_string(node.device))
    return merged


def _followed(owned: DeviceSpec, wanted: DeviceSpec) -> DeviceSpec:
    """What is asked for with a node that works on the state of others: it goes where that is."""
    pairs = [(getattr(owned, part), getattr(wanted, part)) for part in _FIELDS]
    if any(None not in pair and pair[0] != pair[1] for pair in pairs):
        return owned
    return owned.make_merged_spec(wanted)


def _contradiction(
    group: Group, first: str, has: DeviceSpec, second: str, wants: DeviceSpec
) -> errors.OpError:
    node = next((n for n in group.nodes if n.name == second), group.nodes[0])
    return errors.InvalidArgumentError(
        node.origin and node.origin.node_def,
        node.origin,
        f"Cannot colocate nodes {{{{colocation_node {second}}}}} and {{{{colocation_node {first}"
        f"}}}}: Cannot merge devices with incompatible ids: '{has.to_string()}' and "
        f"'{wants.to_string()}'. Nodes that share state or a colocation group run on one device: "
        "give both the same tf.device, or set allow_soft_placement."
        f"\n\t [[{{{{node {node.name}}}}}]]",
    )


def matching(
    spec: DeviceSpec, devices: Sequence[Candidate], parts: Sequence[str] = _FIELDS
) -> list[Candidate]:
    """The devices that have what a spec asks for in these parts of their names."""
    return [
        device
        for device in devices
        if all(getattr(spec, part) in (None, getattr(device.spec, part)) for part in parts)
    ]


def _possible(
    group: Group, devices: Sequence[Candidate], supports: Supports, soft: bool
) -> list[Candidate]:
    named = matching(group.wanted, devices)
    able = [d for d in named if all(supports(n, d.spec.device_type or "") for n in group.nodes)]
    if able:
        return able
    if soft:
        near = matching(group.wanted, devices, _TASK)
        able = [d for d in near if all(supports(n, d.spec.device_type or "") for n in group.nodes)]
        if able:
            return able
    if not named:
        asking = _asking(group)
        wanted = group.wanted.to_string()
        raise no_device(asking.origin, repr(asking), wanted, [d.name for d in devices])
    raise _no_kernel(group, named, devices, supports)


def _asking(group: Group) -> Node:
    """The node to name in an error: one that asks for a device itself."""
    return next((node for node in group.nodes if node.device), group.nodes[0])


def no_device(
    op: Operation | None, text: str, wanted: str, devices: Sequence[str]
) -> errors.InvalidArgumentError:
    """The error of a node that asks for a device which is not there."""
    named = describe(op) if op is not None else text
    return errors.InvalidArgumentError(
        op and op.node_def,
        op,
        f"Cannot assign a device for operation {named}: it was explicitly assigned to {wanted} "
        f"but available devices are [ {', '.join(devices)} ]. Make sure the "
        "device specification refers to a valid device, or set allow_soft_placement.",
    )


def _error(node: Node, text: str) -> errors.OpError:
    named = describe(node.origin) if node.origin is not None else repr(node)
    return errors.InvalidArgumentError(
        node.origin and node.origin.node_def,
        node.origin,
        f"Cannot assign a device for operation {named}: {text}",
    )


def _no_kernel(
    group: Group, named: Sequence[Candidate], devices: Sequence[Candidate], supports: Supports
) -> errors.OpError:
    types = list(dict.fromkeys(device.spec.device_type or "" for device in named))
    lacking = [n for n in group.nodes if not any(supports(n, kind) for kind in types)]
    node = lacking[0] if lacking else _asking(group)
    every = dict.fromkeys(device.spec.device_type or "" for device in devices)
    have = [kind for kind in every if supports(node, kind)]
    remedy = (
        f"{node.type} has kernels for {', '.join(have)}: place it there, or allow_soft_placement"
        if have
        else f"no device of this session has a kernel for {node.type}"
    )
    others = [n.name for n in group.nodes if n is not node][:5]
    shared = f" The nodes {', '.join(others)} share its device." if others else ""
    return _error(
        node,
        f"Could not satisfy explicit device specification '{group.wanted.to_string()}' because no "
        f"supported kernel for {', '.join(types)} devices is available. {remedy}.{shared}",
    )
