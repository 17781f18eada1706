"""Arithmetic simplification: nodes that give back what they got, and sums of padded parts.

1. A reshape, slice, padding or reduction whose output has the shape of its input is that input
   (`SAME_IF_SAME_SHAPE`, a fact of the op).
2. Random numbers times 1, or plus 0, are those numbers: what `tf.random_uniform` asks for between
   0 and 1. (Of a variable the product is a copy, with a place in the order of reads and writes.)
3. A reshape of a reshape is one reshape.
4. A sum of paddings of disjoint parts is their concatenation: what the gradients of slices of one
   tensor add up to.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes, shapes
from penstock.ir import registry
from penstock.ir.registry import RESHAPES, SAME_IF_SAME_SHAPE
from penstock.ir.step_graph import Edge, Node, StepGraph, feed_decides_shapes
from penstock.passes.order import live_variable

_NEUTRAL = {"Mul": 1, "Add": 0}
_DRAWN = ("RandomUniform", "RandomStandardNormal", "TruncatedNormal")


def simplify(step: StepGraph) -> None:
    """Applies the rules once, in the order of the nodes."""
    if step.has_control_flow or any(feed_decides_shapes(feed) for feed in step.feeds):
        return
    waited_for = {c for node in step.nodes for c in node.controls}.union(step.targets)
    fetched = {edge.node for edge in step.fetches}
    replaced: dict[Edge, Edge] = {}
    waits: dict[Edge, list[Node]] = {}  # behind what a value came by constants that are left out
    nodes: list[Node] = []
    for node in step.nodes:
        behind = [control for edge in node.inputs for control in waits.get(edge, ())]
        node.inputs = [replaced.get(edge, edge) for edge in node.inputs]
        if behind and _reads_variables(node):  # after a write: where it was, it has to stay
            node.controls = list(dict.fromkeys([*node.controls, *behind]))
        if node.controls or node in waited_for:
            nodes.append(node)
            continue
        same = node.inputs[0] if _gives_its_input_back(node) else _beside_neutral(node)
        if same is not None:
            behind += [control for edge in node.inputs for control in _waits_of_constant(edge)]
            if not (behind and node in fetched):
                replaced[Edge(node, 0)] = same
                waits[Edge(node, 0)] = behind
                continue
        _reshape_once(node)
        nodes += _as_concatenation(node)
    step.nodes = nodes
    step.replace(replaced)
    step.drop_unused()


def _reads_variables(node: Node) -> bool:
    return any(live_variable(edge) is not None for edge in node.inputs)


def _waits_of_constant(edge: Edge) -> list[Node]:
    """What a constant waits for, and with it all that takes the constant."""
    return edge.node.controls if edge.node.type == "Const" else []


def _gives_its_input_back(node: Node) -> bool:
    if SAME_IF_SAME_SHAPE not in node.spec.traits:
        return False
    edge = node.inputs[0]
    same = edge.shape == node.shapes[0] and shapes.is_full(edge.shape)
    return same and not edge.dtype.is_ref_dtype


def _beside_neutral(node: Node) -> Edge | None:
    """The random numbers that a node multiplies by 1, or adds 0 to; None for other nodes."""
    if node.type not in _NEUTRAL or node.inputs[0].node.type not in _DRAWN:
        return None
    other = node.inputs[1].node
    value = other.attrs.get("value") if other.type == "Const" else None
    if value is not None and value.shape == () and value == _NEUTRAL[node.type]:
        return node.inputs[0]
    return None


def _reshape_once(node: Node) -> None:
    if node.type != "Reshape":
        return
    while RESHAPES in (inner := node.inputs[0].node).spec.traits and not inner.controls:
        if any(_waits_of_constant(edge) for edge in inner.inputs):
            break
        node.inputs[0] = inner.inputs[0]


# Sums of paddings -----------------------------------------------------------------------------


def _as_concatenation(node: Node) -> list[Node]:
    """The node itself, or the nodes that concatenate the parts of which it is the sum."""
    if node.type not in ("AddN", "AddV2") or len(node.inputs) < 2:
        return [node]
    parts = [_padded_part(edge, node.shapes[0]) for edge in node.inputs]
    if any(part is None for part in parts) or len({part[0] for part in parts if part}) != 1:
        return [node]
    axis = parts[0][0]  # type: ignore[index]
    ordered = sorted((part for part in parts if part), key=lambda part: part[1])
    reached = 0
    for _, start, end, _ in ordered:
        if start != reached:
            return [node]
        reached = end
    if reached != node.shapes[0][axis]:  # type: ignore[index]
        return [node]
    where = _constant(node, np.int32(axis))
    node.spec = _spec("ConcatV2")
    node.attrs = {"N": len(ordered), "T": node.dtypes[0], "Tidx": dtypes.int32}
    node.inputs = [*(edge for _, _, _, edge in ordered), Edge(where, 0)]
    return [where, node]


def _padded_part(edge: Edge, whole: shapes.Shape) -> tuple[int, int, int, Edge] | None:
    """For a padding along one axis: the axis, the part's start and end, and the part itself."""
    node = edge.node
    if node.type != "Pad" or node.inputs[1].node.type != "Const" or edge.shape != whole:
        return None
    part = node.inputs[0]
    if not shapes.is_full(part.shape) or not shapes.is_full(whole):
        return None
    borders = [[int(n) for n in pair] for pair in node.inputs[1].node.attrs["value"].tolist()]
    padded = [axis for axis, pair in enumerate(borders) if any(pair)]
    if len(padded) != 1:
        return None
    (axis,) = padded
    start = borders[axis][0]
    return axis, start, start + part.shape[axis], part  # type: ignore[index,operator]


def _constant(beside: Node, value: Any) -> Node:
    attrs = {"value": np.asarray(value), "dtype": dtypes.int32}
    name = f"{beside.name}/axis"
    return Node(
        _spec("Const"),
        name,
        attrs,
        [dtypes.int32],
        [()],
        beside.origin,
        beside.order,
        beside.device,
    )


def _spec(name: str) -> registry.OpSpec:
    spec = registry.find(name)
    assert spec is not None
    return spec
