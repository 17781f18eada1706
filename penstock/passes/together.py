"""Updates of many small variables in one call: what optimizers end a step with.

A network has dozens of weights and biases, each updated by a node of its own. Where several updates
of one rule have the same hyper-parameters and device, one node does them all with ATen's functions
of lists, which on a GPU are one kernel instead of dozens.

1. It runs on a placed and ordered step: nodes that touch one variable are connected by then, so an
   update may run later as long as nothing that waits for it comes in between.
2. Large variables stay alone: their gradients would be held for longer, and gain nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from math import prod
from typing import Any

from penstock import dtypes, shapes
from penstock.ir.registry import STATEFUL, WRITES, OpSpec, op
from penstock.ir.signature import attr
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.ir.type_sets import NUMERIC
from penstock.passes.order import state_of

_MOST = 1 << 20  # elements of one variable
_MOST_TOGETHER = 1 << 22  # and of all in a group: so much memory may be held for longer

_GRADIENTS = ("grad", "delta")


def _together(rule: str, variables: str, values: str, **attrs: Any) -> dict[str, OpSpec]:
    """The list form of a rule, for references and for handles, by the op types that it is of."""
    made = {}
    for prefix, kind in (("", "N*&T"), ("Resource", "N*resource")):
        arguments = [f"{name}: {kind}" for name in variables.split()]
        arguments += [f"{name}: {'N*T' if name in _GRADIENTS else 'T'}" for name in values.split()]
        signature = f"_{prefix}Apply{rule}Together({', '.join(arguments)})"
        made[f"{prefix}Apply{rule}"] = op(
            signature, STATEFUL, WRITES, T=NUMERIC, N=attr("int"), use_locking=False, **attrs
        )
    return made


#: The list form of an op type.
TOGETHER: dict[str, OpSpec] = {
    **_together("GradientDescent", "var", "alpha delta"),
    **_together("Momentum", "var accum", "lr grad momentum", use_nesterov=False),
    **_together(
        "Adam",
        "var m v",
        "beta1_power beta2_power lr beta1 beta2 epsilon grad",
        use_nesterov=False,
    ),
}


def update_together(step: StepGraph, may_join: Callable[[Node], bool]) -> None:
    """Joins updates into groups, each run where the first node comes that waits for one.

    `may_join` says of an update whether its device can do so, and whether its gradient lies in
    memory that no other member of a group overwrites.
    """
    if step.has_control_flow or sum(node.type in TOGETHER for node in step.nodes) < 2:
        return
    used = {edge.node for node in step.nodes for edge in node.inputs}
    used.update(step.targets, (edge.node for edge in step.fetches))
    groups: dict[Hashable, list[Node]] = {}
    sizes: dict[Hashable, int] = {}
    of: dict[Node, Hashable] = {}
    made: dict[Node, Node] = {}
    nodes: list[Node] = []

    def close(key: Hashable) -> None:
        members = groups.pop(key)
        node = members[0] if len(members) == 1 else _joined(members)
        made.update(dict.fromkeys(members, node))
        nodes.append(node)

    for node in step.nodes:
        for key in dict.fromkeys(of[p] for p in node.producers() if p in of and p not in made):
            close(key)
        if node.controls:
            node.controls = list(dict.fromkeys(made.get(c, c) for c in node.controls))
        if node in used or not _is_small_update(node) or not may_join(node):
            nodes.append(node)
            continue
        key = _key(node)
        if key in groups and sizes[key] + _size(node) > _MOST_TOGETHER:
            close(key)
        sizes[key] = _size(node) + (sizes[key] if key in groups else 0)
        groups.setdefault(key, []).append(node)
        of[node] = key
    for key in list(groups):
        close(key)
    step.nodes = nodes


def _size(node: Node) -> int:
    """The elements of the variable that a node updates."""
    return prod(gradient_of(node).shape or ())  # type: ignore[arg-type]  # the shape is known


def gradient_of(node: Node) -> Edge:
    """The gradient that a node updates a variable by."""
    return next(
        edge
        for arg, edge in zip(node.spec.inputs, node.inputs, strict=True)
        if arg.name in _GRADIENTS
    )


def _is_small_update(node: Node) -> bool:
    if node.type not in TOGETHER or node.guard or node.attrs["use_locking"]:
        return False
    shape = gradient_of(node).shape
    return shape is not None and shapes.is_full(shape) and _size(node) <= _MOST


def _key(node: Node) -> Hashable:
    """What nodes of a group have in common: rule, attrs, device, and hyper-parameters."""
    shared = [
        _value(edge)
        for arg, edge in zip(node.spec.inputs, node.inputs, strict=True)
        if not (arg.is_ref or arg.dtype is dtypes.resource or arg.name in _GRADIENTS)
    ]
    return node.type, node.device, node.attrs["T"], node.attrs.get("use_nesterov"), *shared


def _value(edge: Edge) -> Hashable:
    """The same for two edges that surely have one value."""
    node = edge.node
    if node.type == "ReadVariableOp" and not node.controls:
        return state_of(node.inputs[0])  # it waits for no update, so it comes before all of them
    return edge


def _joined(members: list[Node]) -> Node:
    """One node that does what its members do."""
    first = members[0]
    spec = TOGETHER[first.type]
    attrs = {**first.attrs, "N": len(members)}
    made = Node(spec, first.name, attrs, [], [], first.origin, members[-1].order, first.device)
    for index, arg in enumerate(first.spec.inputs):
        one_each = arg.is_ref or arg.dtype is dtypes.resource or arg.name in _GRADIENTS
        made.inputs += [member.inputs[index] for member in (members if one_each else members[:1])]
    made.controls = list(dict.fromkeys(c for member in members for c in member.controls))
    return made
