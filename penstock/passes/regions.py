"""Cutting a step where it may wait.

A step with several waits that no edge orders can't be one sequence of lines: which of them ends
first is known only while it runs. It is cut into parts: each node that may wait is a part of its
own, and the nodes behind the same waits are a region, a step graph that can become a plan.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from penstock import dtypes
from penstock.ir.registry import ALIASES, MEETS, READS
from penstock.ir.step_graph import Edge, Node, StepGraph, feed_for
from penstock.passes.meetings import instance_of
from penstock.passes.order import may_block, state_of


@dataclass
class Part:
    """A region, or one node that may wait (`waits`).

    `graph` has the part's nodes; the values that it takes from elsewhere are its feeds. The inputs
    and outputs are those of the whole step that the graph's feeds and fetches stand for.
    """

    graph: StepGraph
    waits: bool
    inputs: list[Edge]
    outputs: list[Edge]
    originals: dict[Node, Node]  # from the graph's nodes to those of the step
    after: set[int] = field(default_factory=set)  # the numbers of the parts that come before


def needs_regions(step: StepGraph) -> bool:
    """Whether two of the step's waits are ordered by no edge."""
    if step.has_control_flow:
        return False  # its nodes run as their inputs come: none holds up another
    waits = [node for node in step.nodes if may_block(node)]
    # All devices come to their collective ops in one order: these don't hold up each other, unless
    # a device has several members of one, which wait for each other.
    all_meet = all(MEETS in node.spec.traits for node in waits)
    if len(waits) < 2 or (all_meet and not _meets_itself(waits)):
        return False
    behind = _waits_behind(step, waits)
    # In a topological order it is enough that each comes after the one before it.
    return any(not behind[later] >> i & 1 for i, later in enumerate(waits[1:]))


def _meets_itself(nodes: list[Node]) -> bool:
    members = [(instance_of(node), node.device) for node in nodes]
    known = [member for member in members if member[0] is not None]
    return len(set(known)) < len(known)


def regions(step: StepGraph) -> list[Part]:
    """The parts of a step without guards, in an order in which they could run."""
    waits = [node for node in step.nodes if may_block(node)]
    behind = _waits_behind(step, waits)
    shared = {node for node in step.nodes if _is_given(node)}
    own = [node for node in step.nodes if node not in shared]
    home: dict[Node, object] = {node: node if may_block(node) else behind[node] for node in own}
    _delay_reads(step, own, home)
    members: dict[object, list[Node]] = {}
    for node in own:
        members.setdefault(home[node], []).append(node)
    number = {key: i for i, key in enumerate(members)}
    needed = _needed_elsewhere(step, own, home)
    parts = [_part(step, nodes, shared, needed) for nodes in members.values()]
    for node in own:
        for producer in node.producers():
            if producer not in shared and home[producer] != home[node]:
                parts[number[home[node]]].after.add(number[home[producer]])
    return parts


def _is_given(node: Node) -> bool:
    """Whether every region can have a copy of a node: feeds, constants and handles of state."""
    if node.type == "_Feed" or node.inputs or node.controls or may_block(node):
        return node.type == "_Feed"
    handle = bool(node.dtypes) and (
        node.dtypes[0].is_ref_dtype or node.dtypes[0] is dtypes.resource
    )
    return node.type == "Const" or handle


def _waits_behind(step: StepGraph, waits: list[Node]) -> dict[Node, int]:
    """For each node, a bit set of the waits that it comes after."""
    bit = {node: 1 << i for i, node in enumerate(waits)}
    behind: dict[Node, int] = {}
    for node in step.nodes:
        mask = 0
        for producer in node.producers():
            mask |= behind[producer] | bit.get(producer, 0)
        behind[node] = mask
    return behind


def _delay_reads(step: StepGraph, nodes: list[Node], home: dict[Node, object]) -> None:
    """Moves reads of variables into the only region that uses them.

    Between regions a value has to be in memory of its own, within one it may be the variable's.
    """
    consumers = step.consumers()
    fetched = {edge.node for edge in step.fetches} | set(step.targets)
    for node in reversed(nodes):
        traits = node.spec.traits
        if may_block(node) or node in fetched or not (READS in traits or ALIASES in traits):
            continue
        homes = {home[consumer] for consumer in consumers[node]}
        if len(homes) == 1 and not isinstance(only := homes.pop(), Node):
            home[node] = only


def _needed_elsewhere(
    step: StepGraph, nodes: Iterable[Node], home: dict[Node, object]
) -> dict[Edge, None]:
    """The values that another part, or the step's caller, asks for."""
    found = dict.fromkeys(step.fetches)
    for node in nodes:
        for edge in node.inputs:
            if edge.node in home and home[edge.node] != home[node]:
                found[edge] = None
    return found


def _part(step: StepGraph, nodes: list[Node], shared: set[Node], needed: dict[Edge, None]) -> Part:
    copies: dict[Node, Node] = {}
    feeds: dict[Edge, Node] = {}
    given: list[Node] = []

    def copied(edge: Edge) -> Edge:
        if edge.node in shared and edge.node.type != "_Feed" and edge.node not in copies:
            copies[edge.node] = edge.node.copy()
            given.append(copies[edge.node])
        if edge.node in copies:
            return Edge(copies[edge.node], edge.index)
        if edge not in feeds:
            feeds[edge] = _feed_for(edge)
        return Edge(feeds[edge], 0)

    inside: list[Node] = []
    for node in nodes:
        copy = node.copy()
        copy.inputs = [copied(edge) for edge in node.inputs]
        copy.controls = [copies[control] for control in node.controls if control in copies]
        copies[node] = copy
        inside.append(copy)
    members = set(nodes)
    outputs = [edge for edge in needed if edge.node in members]
    graph = StepGraph(
        [*feeds.values(), *given, *inside],
        list(feeds.values()),
        [Edge(copies[edge.node], edge.index) for edge in outputs],
        [copies[node] for node in step.targets if node in members],
    )
    graph.verify("regions")
    originals = {copy: node for node, copy in copies.items()}
    return Part(graph, may_block(nodes[0]), list(feeds), outputs, originals)


def _feed_for(edge: Edge) -> Node:
    """A feed in the place of another part's value; of a reference it keeps whose it is."""
    feed = feed_for(edge, f"_feed/{edge.node.name}:{edge.index}")
    if edge.dtype.is_ref_dtype or edge.dtype is dtypes.resource:
        container, name = state_of(edge)
        feed.attrs = {**feed.attrs, "container": container, "shared_name": name}
    return feed
