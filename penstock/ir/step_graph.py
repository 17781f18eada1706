"""The subgraph that one step runs: what passes rewrite, placement places and plans are made of.

A user's graph is never changed by compiling. `StepGraph` is a copy of the part that a run needs,
with plain nodes that passes may rewire, replace and drop. What always holds between passes
(`verify` checks it):
1. `nodes` is in topological order, and holds every node that an edge mentions.
2. A fed tensor is the output of a `_Feed` node; no other node feeds.
3. Fetches are edges, targets are nodes, all of them in `nodes`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

from penstock.dtypes import DType
from penstock.ir.operation import Operation
from penstock.ir.registry import CONTROL_FLOW, OpSpec, op
from penstock.ir.signature import attr
from penstock.shapes import Shape

FEED = op("_Feed() -> output: dtype", dtype=attr("type"))


class Edge(NamedTuple):
    """Output `index` of `node`."""

    node: Node
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody wants here

    @property
    def dtype(self) -> DType:
        return self.node.dtypes[self.index]

    @property
    def shape(self) -> Shape:
        return self.node.shapes[self.index]


class Node:
    """A node of a step: an op type with attrs, inputs and control inputs.

    `origin` is the user's operation that it stands for (errors name it); `order` is its place in
    the order of creation, by which ties are broken everywhere. A node with a `guard` runs only
    where every one of its predicates has the value beside it.
    """

    __slots__ = (
        "attrs",
        "controls",
        "device",
        "dtypes",
        "guard",
        "inputs",
        "name",
        "order",
        "origin",
        "shapes",
        "spec",
    )

    def __init__(
        self,
        spec: OpSpec,
        name: str,
        attrs: dict[str, Any],
        dtypes: Sequence[DType],
        shapes: Sequence[Shape],
        origin: Operation | None = None,
        order: int = 0,
        device: str = "",
    ):
        self.spec = spec
        self.name = name
        self.attrs = attrs
        self.dtypes = list(dtypes)
        self.shapes = list(shapes)
        self.origin = origin
        self.order = order
        self.device = device
        self.inputs: list[Edge] = []
        self.controls: list[Node] = []
        self.guard: tuple[tuple[Edge, bool], ...] = ()

    @property
    def type(self) -> str:
        return self.spec.name

    def ref_inputs(self) -> list[bool]:
        """For each input, whether the op takes the reference itself rather than its value."""
        flags: list[bool] = []
        for arg in self.spec.inputs:
            flags += [arg.is_ref] * arg.count(self.attrs)
        return flags

    def producers(self) -> Iterable[Node]:
        """The nodes that must run before this one."""
        for edge in self.inputs:
            yield edge.node
        yield from self.controls
        for predicate, _ in self.guard:
            yield predicate.node

    def copy(self) -> Node:
        """The same node, with the same inputs."""
        made = Node(
            self.spec,
            self.name,
            self.attrs,
            self.dtypes,
            self.shapes,
            self.origin,
            self.order,
            self.device,
        )
        made.inputs, made.controls, made.guard = self.inputs, self.controls, self.guard
        return made

    def __repr__(self) -> str:
        return f"<{self.type} '{self.name}'>"


class Rewrite(NamedTuple):
    """What a pass did to a step: how many nodes it took out, put in and changed."""

    name: str
    removed: int
    added: int
    changed: int


class StepGraph:
    """The nodes of a step in topological order, its feeds, fetches and targets.

    `rewrites` says what the passes so far have done to it. `reads_first` has the control edges
    from a reader to a writer that are there only for the value which the reader is to see, with the
    state that it is the value of.
    """

    def __init__(
        self,
        nodes: list[Node],
        feeds: list[Node],
        fetches: list[Edge],
        targets: list[Node],
    ):
        self.nodes = nodes
        self.feeds = feeds
        self.fetches = fetches
        self.targets = targets
        self.rewrites: list[Rewrite] = []
        self.reads_first: dict[tuple[Node, Node], frozenset[Hashable]] = {}

    @property
    def has_control_flow(self) -> bool:
        """Whether which nodes run, and how often, is decided while the step runs."""
        return any(CONTROL_FLOW in node.spec.traits for node in self.nodes)

    def consumers(self) -> dict[Node, list[Node]]:
        """For each node, the nodes with an edge or control edge from it."""
        found: dict[Node, list[Node]] = {node: [] for node in self.nodes}
        for node in self.nodes:
            for producer in dict.fromkeys(node.producers()):
                found[producer].append(node)
        return found

    def replace(self, replaced: dict[Edge, Edge]) -> None:
        """Redirects every use of the edges in `replaced`, fetches too."""
        if not replaced:
            return
        for node in self.nodes:
            if any(edge in replaced for edge in node.inputs):
                node.inputs = [replaced.get(edge, edge) for edge in node.inputs]
        self.fetches = [replaced.get(edge, edge) for edge in self.fetches]

    def join(self, joined: dict[Node, Node], replaced: dict[Edge, Edge] | None = None) -> None:
        """Puts new nodes where the first of those was that each of them stands for.

        `replaced` says which results stand for which; without it, the first one for each.
        """
        if not joined:
            return
        self.nodes = list(dict.fromkeys(joined.get(node, node) for node in self.nodes))
        if replaced is None:
            replaced = {Edge(node, 0): Edge(made, 0) for node, made in joined.items()}
        self.replace(replaced)
        for node in self.nodes:
            if node.controls:
                node.controls = list(dict.fromkeys(joined.get(c, c) for c in node.controls))
        self.targets = [joined.get(node, node) for node in self.targets]

    def drop_unused(self) -> None:
        """Keeps only what fetches and targets need, and the feeds."""
        needed: set[Node] = set(self.feeds)
        pending = [edge.node for edge in self.fetches] + list(self.targets)
        while pending:
            node = pending.pop()
            if node not in needed:
                needed.add(node)
                pending.extend(node.producers())
        self.nodes = [node for node in self.nodes if node in needed]

    def copy(self) -> StepGraph:
        """The same graph with nodes of its own."""
        copies = {node: node.copy() for node in self.nodes}
        for copy in copies.values():
            copy.inputs = [Edge(copies[edge.node], edge.index) for edge in copy.inputs]
            copy.controls = [copies[node] for node in copy.controls]
            copy.guard = tuple(
                (Edge(copies[edge.node], edge.index), value) for edge, value in copy.guard
            )
        return StepGraph(
            list(copies.values()),
            [copies[node] for node in self.feeds],
            [Edge(copies[edge.node], edge.index) for edge in self.fetches],
            [copies[node] for node in self.targets],
        )

    def verify(self, after: str) -> None:
        """Checks the invariants; a broken pass is found at once, by its name."""
        seen: set[Node] = set()
        for node in self.nodes:
            for producer in node.producers():
                if producer not in seen and not is_back_edge(producer, node):
                    raise AssertionError(f"after {after}: {node!r} comes before {producer!r}")
            seen.add(node)
        for edge in self.fetches:
            if edge.node not in seen:
                raise AssertionError(f"after {after}: fetched {edge.node!r} is gone")
        for node in (*self.targets, *self.feeds):
            if node not in seen:
                raise AssertionError(f"after {after}: {node!r} is gone")


def feed_for(edge: Edge, name: str) -> Node:
    """A feed that stands for a value which is computed elsewhere."""
    dtype = edge.dtype
    return Node(FEED, name, {"dtype": dtype}, [dtype], [edge.shape], edge.node.origin, order=-1)


def is_back_edge(producer: Node, consumer: Node) -> bool:
    """Whether an edge closes a loop: the only edges against the topological order."""
    return producer.type in ("NextIteration", "RefNextIteration") and consumer.type in (
        "Merge",
        "RefMerge",
    )


def feed_decides_shapes(feed: Node) -> bool:
    """Whether a fed tensor took part in what shape inference concluded while building."""
    return feed.origin is not None and feed.origin.spec.fold_rule is not None
