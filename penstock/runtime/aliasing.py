"""Who shares memory with whom in a step: decides copies, buffer reuse, what a fetch may return.

Each value has a set of roots, the memories that it may share: its node's own, the state of a
variable, a constant or a feed. A kernel that isn't registered as fresh may return a view of any of
its inputs.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass, field

from penstock import dtypes
from penstock.ir.registry import READS, WRITES
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.passes.order import accesses, live_variable, state_of
from penstock.runtime.binding import BoundNode

Root = tuple[str, Hashable]  # ("own", node) | ("state", variable) | ("constant"|"feed", node)


@dataclass
class Aliasing:
    """The result: for each edge its roots, and the nodes whose outputs must be copied at once."""

    roots: dict[Edge, frozenset[Root]] = field(default_factory=dict)
    copied: set[Node] = field(default_factory=set)
    kept: set[Root] = field(default_factory=set)  # what a stack, a queue or the like holds on to
    last_use: dict[Root, int] = field(default_factory=dict)
    written: set[Hashable] = field(default_factory=set)  # the state that the step writes

    def is_private(self, edge: Edge) -> bool:
        """Whether the memory of a value belongs to this step alone."""
        return all(root[0] == "own" and root not in self.kept for root in self.roots[edge])

    def is_kept(self, edge: Edge) -> bool:
        """Whether an op of the step may hold on to the memory that a value has of its own."""
        return ("own", (edge.node, edge.index)) in self.kept

    def is_written(self, edge: Edge) -> bool:
        """Whether a value may share memory with state that the step writes."""
        return any(kind == "state" and place in self.written for kind, place in self.roots[edge])

    def is_own_or_fed(self, edge: Edge) -> bool:
        """Whether its memory belongs to this step or to whoever feeds it."""
        return all(kind in ("own", "feed") for kind, _ in self.roots[edge])


def analyse(step: StepGraph, bound: list[BoundNode], owned: Collection[Node] = ()) -> Aliasing:
    """Computes roots and last uses over the order of the step.

    `owned` are feeds whose memory is the step's own: whoever feeds them does not look again.
    """
    last_use = _last_uses(step, bound)
    writes = _writes(bound)
    result = Aliasing(written=set(writes))
    for feed in step.feeds:
        result.roots[Edge(feed, 0)] = frozenset({_root_of_feed(feed, feed in owned)})
    for i, entry in enumerate(bound):
        for index in range(len(entry.node.dtypes)):
            edge = Edge(entry.node, index)
            roots = _roots(entry, index, result.roots)
            # A reference is live, and so is what passes it on: it is meant to change.
            is_live = edge.dtype is dtypes.resource or live_variable(edge) is not None
            if not is_live and _changes_under(roots, i, last_use.get(edge, i), writes):
                result.copied.add(entry.node)
                roots = frozenset({("own", (entry.node, index))})
            result.roots[edge] = roots
        if _keeps_inputs(entry.node):
            result.kept.update(*(result.roots[edge] for edge in entry.node.inputs))
    for edge, position_of_use in last_use.items():
        for root in result.roots[edge]:
            result.last_use[root] = max(result.last_use.get(root, -1), position_of_use)
    return result


def _root_of_feed(feed: Node, owned: bool) -> Root:
    if "shared_name" in feed.attrs:  # a reference that another part of the step hands over
        return "state", state_of(Edge(feed, 0))
    return ("own", (feed, 0)) if owned else ("feed", feed)


def _keeps_inputs(node: Node) -> bool:
    """Whether an op may hold on to the memory of its inputs: all with state but variables."""
    traits = node.spec.traits
    if READS in traits or WRITES in traits:
        return False
    handles = [edge.dtype for edge in node.inputs if _is_handle(edge)]
    if any(dtype.base_dtype not in (dtypes.resource, dtypes.string) for dtype in handles):
        return False  # a reference to a variable
    return bool(handles) or node.spec.is_stateful


def _is_handle(edge: Edge) -> bool:
    return edge.dtype.is_ref_dtype or edge.dtype is dtypes.resource


def _roots(entry: BoundNode, index: int, known: dict[Edge, frozenset[Root]]) -> frozenset[Root]:
    node = entry.node
    dtype = node.dtypes[index]
    if dtype.is_ref_dtype or dtype is dtypes.resource:
        return frozenset({("state", state_of(Edge(node, index)))})
    if entry.is_constant:
        return frozenset({("constant", node)})
    if node.type == "_Recv":  # another device may use the same memory
        return frozenset({("feed", node)})
    own = frozenset({("own", (node, index))})
    if entry.same:
        return known[node.inputs[0]]
    if entry.fresh or index in entry.fresh_outputs:
        return own
    return own.union(*(known[edge] for edge in node.inputs))


def _last_uses(step: StepGraph, bound: list[BoundNode]) -> dict[Edge, int]:
    last: dict[Edge, int] = {}
    for i, entry in enumerate(bound):
        for edge in entry.node.inputs:
            last[edge] = i
    for edge in step.fetches:
        last[edge] = len(bound)
    return last


def _writes(bound: list[BoundNode]) -> dict[Hashable, list[int]]:
    found: dict[Hashable, list[int]] = {}
    for i, entry in enumerate(bound):
        for state in accesses(entry.node).writes:
            found.setdefault(state, []).append(i)
    return found


def _changes_under(
    roots: frozenset[Root], made: int, last: int, writes: dict[Hashable, list[int]]
) -> bool:
    """Whether a value shares the memory of a variable that is written before its last use."""
    return any(
        made < write < last
        for kind, state in roots
        if kind == "state"
        for write in writes.get(state, ())
    )
