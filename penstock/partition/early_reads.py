"""When a fetched variable of another task is read: at once, before the task's part waits.

As in TensorFlow, such a value leaves when it can be read. The part may go on for long after that:
it waits for what other tasks send, for a token of a queue, and meanwhile the steps of others write
the variable. Its value is copied first thing, unless the part does nothing that could change it.

A reference in the master's own task is another matter: its fetch is the variable's memory, read
when the step is over.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock import dtypes
from penstock.ir.registry import ALIASES, READS, find
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.partition.kept_sends import only_names_state
from penstock.passes.order import accesses, live_variable, may_wait


def read_early(part: StepGraph, *, references: bool) -> None:
    """Has a part copy the variables that are fetched from it, before it waits.

    Args:
      part: what one device runs of a step.
      references: whether it is to copy reference variables, too.
    """
    copies: dict[Edge, Node] = {}
    for edge in dict.fromkeys(part.fetches):
        road = _road_of_read(edge)
        if road is None or (live_variable(edge) is not None and not references):
            continue
        _bring_forward(part, road)
        if _may_change(part, edge, road):
            copies[edge] = _copied(part, edge)
    part.fetches = [Edge(copies[edge], 0) if edge in copies else edge for edge in part.fetches]


def _road_of_read(edge: Edge) -> list[Node] | None:
    """The nodes by which a variable's value comes to a fetch, unless it is computed."""
    if edge.dtype.base_dtype in (dtypes.variant, dtypes.resource):
        return None
    road = []
    while not edge.dtype.is_ref_dtype:
        node = edge.node
        road.append(node)
        if ALIASES in node.spec.traits:
            edge = node.inputs[0]
        elif READS in node.spec.traits and any(e.dtype is dtypes.resource for e in node.inputs):
            return [*road, *(each.node for each in node.inputs)]
        else:
            return None
    return [*road, edge.node]


def _bring_forward(part: StepGraph, road: Iterable[Node]) -> None:
    """Puts the nodes of a read to the front of a part, if they come after nothing else."""
    nodes = set(road)
    if all(only_names_state(node) or nodes.issuperset(node.producers()) for node in nodes):
        first = [node for node in part.nodes if node.type == "_Feed"]
        first += [node for node in part.nodes if node in nodes]
        part.nodes = list(dict.fromkeys([*first, *part.nodes]))


def _may_change(part: StepGraph, edge: Edge, road: Iterable[Node]) -> bool:
    """Whether the part waits, or writes the variable, once it has the value."""
    states = {state for node in road for state in accesses(node).reads} | {live_variable(edge)}
    behind = part.nodes[part.nodes.index(edge.node) + 1 :]
    return any(
        node.type == "_Recv" or may_wait(node) or not states.isdisjoint(accesses(node).writes)
        for node in behind
    )


def _copied(part: StepGraph, edge: Edge) -> Node:
    """A copy of a value, made right behind the node that gives it."""
    spec = find("DeepCopy")
    assert spec is not None
    node, dtype = edge.node, edge.dtype.base_dtype
    name = f"{node.name}/_fetched_{edge.index}"
    copy = Node(
        spec, name, {"T": dtype}, [dtype], [edge.shape], node.origin, node.order, node.device
    )
    copy.inputs = [edge]
    copy.guard = node.guard
    place = part.nodes.index(node) + 1
    state = live_variable(edge)
    for later in part.nodes[place:]:
        if state is not None and state in accesses(later).writes:
            later.controls.append(copy)
    part.nodes.insert(place, copy)
    return copy
