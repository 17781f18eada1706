"""One graph per device: a value that is used on another device goes through a Send and a Recv.

1. One pair per value and device that uses it, whoever else uses it there. A control edge between
   devices is such a pair, too, of a value that says nothing.
2. Constants and truth values are not sent: each device has its own copy.
3. A node's Send comes right behind it, a Recv right before its first use. The nodes of each
   device keep the order that they have in the step, so that parts which wait for each other in
   this order never wait in a circle. A value is read when it is sent: what writes to its memory
   afterwards waits for the Send, not for those who use the value elsewhere.
4. What is guarded is sent and received under the same guard. Loops: `loops.py`.
5. A variable is read when all else that a node waits for is there: `late_reads.py`.
6. On request float32 values go to other tasks with the upper 16 of their 32 bits alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from penstock import dtypes
from penstock.dtypes import DType
from penstock.ir.registry import ALIASES, STATEFUL, find, op
from penstock.ir.signature import attr
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.partition.late_reads import read_late
from penstock.partition.loops import devices_of, split_loop
from penstock.passes.order import live_variable

_BETWEEN: dict[str, Any] = {
    "tensor_name": attr("string"),
    "send_device": attr("string"),
    "send_device_incarnation": attr("int"),
    "recv_device": attr("string"),
    "client_terminated": False,
}
SEND = op("_Send(tensor: T)", STATEFUL, **_BETWEEN)
RECV = op("_Recv() -> tensor: tensor_type", STATEFUL, **_BETWEEN)


@dataclass
class Partition:
    """What one device runs of a step."""

    device: str
    graph: StepGraph
    feeds: list[int]  # which of the step's feeds it takes
    fetches: list[int]  # which of the step's fetches it gives


def partition(step: StepGraph, *, narrow: bool = False) -> list[Partition]:
    """The parts of a placed step, in the order in which their devices occur.

    Args:
      step: the step; each of its nodes has a device.
      narrow: whether float32 values lose their lower 16 bits on the way to another task.
    """
    read_late(step)
    cut = Region(step, "", narrow=narrow)
    cut.run()
    for edge in step.fetches:
        if cut.is_copied(edge.node):
            cut.home[edge] = next(iter(cut.sides), edge.node.device)
            cut.value(edge, cut.home[edge])
    parts = []
    for device, side in cut.sides.items():
        fetches = [i for i, edge in enumerate(step.fetches) if cut.home.get(edge) == device]
        feeds = [i for i, feed in enumerate(step.feeds) if feed in side.feeds]
        graph = StepGraph(
            side.ordered(),
            [side.feeds[step.feeds[i]] for i in feeds],
            [side.local[step.fetches[i]] for i in fetches],
            side.targets(step.targets),
        )
        graph.verify("partition")
        parts.append(Partition(device, graph, feeds, fetches))
    return parts


@dataclass
class Side:
    """What has come together on one device."""

    nodes: list[Node] = field(default_factory=list)
    local: dict[Edge, Edge] = field(default_factory=dict)  # from the step's values to its own
    copies: dict[Node, list[Node]] = field(default_factory=dict)
    feeds: dict[Node, Node] = field(default_factory=dict)
    sends: dict[Node | None, list[Node]] = field(default_factory=dict)  # by the node they follow
    done: dict[Node, Node] = field(default_factory=dict)  # Recvs of control edges

    def ordered(self) -> list[Node]:
        """Feeds first, then the nodes, each with its sends behind it."""
        found = [*self.feeds.values(), *self.sends.get(None, ())]
        for node in self.nodes:
            found += [node, *self.sends.get(node, ())]
        return found

    def targets(self, wanted: Iterable[Node]) -> list[Node]:
        """The targets on this device: the step's own, and what is sent."""
        own = [copy for node in wanted for copy in self.copies.get(node, ())]
        return own + [send for group in self.sends.values() for send in group]


class Region:
    """A step, or the header or body of a loop, on its way to be cut.

    `feed_homes` says on which device a feed's value arrives; a feed that is not in it arrives on
    every device that asks for it. `prefix` tells the values of regions apart.
    """

    def __init__(
        self,
        graph: StepGraph,
        prefix: str,
        feed_homes: dict[Node, str] | None = None,
        *,
        narrow: bool = False,
    ):
        self.narrow = narrow
        self.graph = graph
        self.prefix = prefix
        self.feed_homes = feed_homes or {}
        self.sides: dict[str, Side] = {}
        self._named: dict[str, Edge | Node] = {}
        self._sent: dict[tuple[Edge, str], Node] = {}  # values of the region, and to which device
        self._waited_for = {control for node in graph.nodes for control in node.controls}
        self.home: dict[Edge, str] = {
            Edge(feed, 0): device for feed, device in self.feed_homes.items()
        }

    def is_copied(self, node: Node) -> bool:
        """Whether each device makes the value of a node for itself, and nobody waits for it."""
        if node.type == "Const":
            return not node.controls or node not in self._waited_for
        return node.type == "_Truth"

    def side(self, device: str) -> Side:
        return self.sides.setdefault(device, Side())

    def run(self) -> None:
        for node in self.graph.nodes:
            if node.type == "_Feed" or self.is_copied(node):
                continue
            devices = devices_of(node)
            if len(devices) > 1:
                split_loop(self, node, devices)
            else:
                self._place(node, devices[0])

    def _place(self, node: Node, device: str) -> None:
        copy = node.copy()
        copy.device = device
        copy.inputs = [self.value(edge, device) for edge in node.inputs]
        self.add(node, copy, [Edge(node, i) for i in range(len(node.dtypes))])

    def add(self, node: Node, copy: Node, outputs: list[Edge]) -> None:
        """Puts a node's copy on its device; `outputs` are the values of the step that it gives."""
        side = self.side(copy.device)
        copy.controls = self._controls(node, copy.device)
        copy.guard = self._guard(node, copy.device)
        side.nodes.append(copy)
        side.copies.setdefault(node, []).append(copy)
        for i, edge in enumerate(outputs):
            side.local[edge] = Edge(copy, i)
            self.home[edge] = copy.device

    def _guard(self, node: Node, device: str) -> tuple[tuple[Edge, bool], ...]:
        return tuple((self.value(truth, device), holds) for truth, holds in node.guard)

    def _controls(self, node: Node, device: str) -> list[Node]:
        found: list[Node] = []
        for control in node.controls:
            if sends := self._sends_of_reads(control, node, device):
                found += sends
                continue
            for other, side in list(self.sides.items()):
                for copy in side.copies.get(control, ()):
                    found.append(copy if other == device else self._signal(copy, control, device))
        return list(dict.fromkeys(found))

    def _sends_of_reads(self, reader: Node, writer: Node, device: str) -> list[Node]:
        """The Sends of what a node elsewhere reads, if the writer waits for nothing else of it."""
        states = self.graph.reads_first.get((reader, writer))
        devices = devices_of(reader)
        if not states or len(devices) > 1 or devices[0] == device:
            return []
        found: list[Node | None] = []
        for edge in reader.inputs:
            if live_variable(edge) in states:
                to = devices[0]
                while edge.node.device != device and ALIASES in edge.node.spec.traits:
                    to, edge = edge.node.device, edge.node.inputs[0]
                found.append(self._sent.get((edge, to)))
        return [] if None in found else [send for send in found if send is not None]

    # Values on other devices ------------------------------------------------------------------

    def value(self, edge: Edge, device: str) -> Edge:
        """A value of the region on a device: its own, a copy, or received."""
        side = self.side(device)
        if edge not in side.local:
            if edge.node.type == "_Feed" and edge not in self.home:
                side.local[edge] = Edge(self.feed(edge.node, device), 0)
            elif self.is_copied(edge.node) or edge.node.type == "Const":
                side.local[edge] = Edge(self._copy(edge.node, device), edge.index)
            elif self.home[edge] == device:
                side.local[edge] = Edge(self.feed(edge.node, device), 0)
            else:
                side.local[edge] = self._received(edge, device)
        return side.local[edge]

    def feed(self, feed: Node, device: str) -> Node:
        """A region's feed on one device."""
        feeds = self.side(device).feeds
        if feed not in feeds:
            feeds[feed] = feed.copy()
        return feeds[feed]

    def _copy(self, node: Node, device: str) -> Node:
        copy = node.copy()
        copy.device = device
        copy.inputs = [self.value(edge, device) for edge in node.inputs]
        copy.controls = self._controls(node, device)
        copy.guard = () if node.type == "Const" else self._guard(node, device)
        self.side(device).nodes.append(copy)
        return copy

    def _received(self, edge: Edge, device: str) -> Edge:
        source = self.home[edge]
        sent = self.value(edge, source)
        name = self._key(f"{edge.node.name}:{edge.index}", edge)
        if (
            self.narrow
            and edge.dtype.base_dtype is dtypes.float32
            and _tasks_differ(source, device)
        ):
            return self._received_narrow(name, edge, sent, source, device)
        self._sent[edge, device] = self._send(name, sent, sent.node, source, device, edge.node)
        made = self._recv(name, sent, source, device, edge.node)
        self.side(device).nodes.append(made)
        return Edge(made, 0)

    def _received_narrow(self, name: str, edge: Edge, sent: Edge, source: str, device: str) -> Edge:
        """A value whose lower bits are cut off before it is sent, and zero where it arrives."""
        origin = edge.node
        narrowed = _cast(sent, dtypes.bfloat16, f"{origin.name}/_narrow_to_{device}", origin)
        narrowed.device = source
        narrowed.guard = sent.node.guard
        sends = self.side(source).sends
        sends.setdefault(_place_of_sends(sent.node), []).append(narrowed)
        send = self._send(name, Edge(narrowed, 0), sent.node, source, device, origin)
        made = self._recv(name, Edge(narrowed, 0), source, device, origin)
        widened = _cast(Edge(made, 0), dtypes.float32, f"{made.name}/_widen", origin)
        widened.device = device
        widened.guard = made.guard
        self.side(device).nodes += [made, widened]
        self._sent[edge, device] = send
        return Edge(widened, 0)

    def _key(self, name: str, what: Edge | Node) -> str:
        """A name for what is sent, which nothing else of the region has."""
        for number in itertools.count():
            key = f"{self.prefix}{name}" if number == 0 else f"{self.prefix}{name}#{number}"
            if self._named.setdefault(key, what) == what:
                return key
        raise AssertionError("unreachable")

    def _signal(self, copy: Node, node: Node, device: str) -> Node:
        """A Recv that ends when a node of another device has run: that of its value, or its own."""
        side = self.side(device)
        for i in range(len(node.dtypes)):
            edge = Edge(node, i)
            if edge in side.local and self.home.get(edge) == copy.device:
                return side.local[edge].node
        if copy not in side.done:
            source = copy.device
            name = self._key(f"^{node.name}", copy)
            token = Edge(_token(source), 0)
            self._send(name, token, copy, source, device, node).controls = [copy]
            side.done[copy] = self._recv(name, token, source, device, node)
            side.nodes.append(side.done[copy])
        return side.done[copy]

    def _send(
        self, name: str, sent: Edge, behind: Node, source: str, device: str, origin: Node
    ) -> Node:
        side = self.side(source)
        send = Node(
            SEND,
            f"{origin.name}/_send_{len(side.sends)}",
            {
                "T": sent.dtype.base_dtype,
                "tensor_name": name,
                "send_device": source,
                "send_device_incarnation": 0,
                "recv_device": device,
                "client_terminated": False,
            },
            [],
            [],
            origin.origin,
            origin.order,
            source,
        )
        send.inputs = [sent]
        send.guard = behind.guard
        group = side.sends.setdefault(_place_of_sends(behind), [])
        group += [sent.node, send] if sent.node.name == _TOKEN else [send]
        return send

    def _recv(self, name: str, sent: Edge, source: str, device: str, origin: Node) -> Node:
        dtype = sent.dtype.base_dtype
        recv = Node(
            RECV,
            f"{origin.name}/_recv_{len(self.side(device).nodes)}",
            {
                "tensor_type": dtype,
                "tensor_name": name,
                "send_device": source,
                "send_device_incarnation": 0,
                "recv_device": device,
                "client_terminated": False,
            },
            [dtype],
            [sent.shape],
            origin.origin,
            origin.order,
            device,
        )
        recv.guard = self._guard(origin, device)
        return recv


def _place_of_sends(node: Node) -> Node | None:
    """Behind which node of its device a value is sent: a feed's, before all of them."""
    return None if node.type == "_Feed" else node


def _tasks_differ(one: str, other: str) -> bool:
    return one.partition("/device:")[0] != other.partition("/device:")[0]


def _cast(edge: Edge, dtype: DType, name: str, origin: Node) -> Node:
    """A node that cuts off the bits of a value that a type has no room for."""
    spec = find("Cast")
    assert spec is not None
    attrs = {"SrcT": edge.dtype.base_dtype, "DstT": dtype, "Truncate": True}
    made = Node(spec, name, attrs, [dtype], [edge.shape], origin.origin, origin.order)
    made.inputs = [edge]
    return made


_TOKEN = "_token"


def _token(device: str) -> Node:
    spec = find("Const")
    assert spec is not None
    value = np.zeros((), np.bool_)
    return Node(
        spec,
        _TOKEN,
        {"value": value, "dtype": dtypes.bool},
        [dtypes.bool],
        [()],
        device=device,
    )
