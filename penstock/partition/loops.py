"""Loops that span devices: every device runs the loop, in step with the others.

One device decides whether the loop goes on and sends its answer to the others in every iteration;
each loop variable lives on the device that computes its next value. Values that cross devices
inside the loop are told apart by the number of the iteration (`Step.frame`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from penstock.ir.registry import OpSpec, Trait
from penstock.ir.signature import Signature
from penstock.ir.step_graph import Edge, Node, StepGraph

if TYPE_CHECKING:
    from penstock.partition.split import Region


def devices_of(node: Node) -> list[str]:
    """The devices that a node runs on: one, but of a loop those of its nodes."""
    loop = node.attrs.get("loop")
    if loop is None:
        return [node.device]
    found: dict[str, None] = {}
    for region in (loop.header, loop.body):
        for inner in region.nodes:
            if inner.type not in ("_Feed", "Const", "_Truth"):
                found.update(dict.fromkeys(devices_of(inner)))
    return list(found) or [node.device]


def split_loop(outer: Region, node: Node, devices: list[str]) -> None:
    """Puts one loop per device in the place of a loop of several devices."""
    _LoopCut(outer, node, devices).run()


class _LoopCut:
    def __init__(self, outer: Region, node: Node, devices: list[str]):
        from penstock.partition.split import Region

        self.outer, self.node, self.devices = outer, node, devices
        self.loop: Any = node.attrs["loop"]
        self.count = self.loop.variables
        self.homes = self._variable_homes()
        prefix = f"{outer.prefix}{node.name}/"
        header, body = self.loop.header, self.loop.body
        homes = dict(zip(header.feeds[: self.count], self.homes, strict=True))
        self.header = Region(header, f"{prefix}header/", homes, narrow=outer.narrow)
        self.header.run()
        self.passed = header.fetches[1:]
        first = len(body.feeds) - len(self.passed)
        homes = dict(zip(body.feeds[: self.count], self.homes, strict=True))
        homes |= {
            feed: self.header.home[edge]
            for feed, edge in zip(body.feeds[first:], self.passed, strict=True)
        }
        self.body = Region(body, f"{prefix}body/", homes, narrow=outer.narrow)
        self.body.run()

    def _variable_homes(self) -> list[str]:
        """Where each variable lives: where its next value is made, else where the loop decides."""
        decides = self.loop.header.fetches[0].node.device or self.devices[0]
        if decides not in self.devices:
            decides = self.devices[0]
        homes = []
        for edge in self.loop.body.fetches[: self.count]:
            made = devices_of(edge.node)
            is_made = edge.node.type not in ("_Feed", "Const", "_Truth") and len(made) == 1
            homes.append(made[0] if is_made else decides)
        return homes

    def run(self) -> None:
        header, body = self.loop.header, self.loop.body
        predicates = {d: self.header.value(header.fetches[0], d) for d in self.devices}
        for index, home in enumerate(self.homes):
            self.body.value(body.fetches[index], home)
        for device in self.devices:
            self._put(device, predicates[device])

    def _put(self, device: str, predicate: Edge) -> None:
        variables = [i for i, home in enumerate(self.homes) if home == device]
        fixed = self._invariants_on(device)
        passed = [i for i, edge in enumerate(self.passed) if self.header.home[edge] == device]
        entering = [*variables, *(self.count + i for i in fixed)]
        header = self._header(device, predicate, entering, passed)
        body = self._body(device, entering, passed, variables)
        exits = [j for j, i in enumerate(self.loop.exits) if i in variables]
        references = self.loop.references
        loop = replace(
            self.loop,
            header=header,
            body=body,
            variables=len(variables),
            exits=[variables.index(self.loop.exits[j]) for j in exits],
            sums=[variables.index(i) for i in self.loop.sums if i in variables],
            references=(
                {passed.index(i - 1) + 1 for i in references[0] if i - 1 in passed},
                {variables.index(i) for i in references[1] if i in variables},
            ),
            assumed=[],
        )
        self.outer.add(
            self.node,
            self._node(device, loop, entering, exits),
            [Edge(self.node, j) for j in exits],
        )

    def _invariants_on(self, device: str) -> list[int]:
        """The numbers of the invariants that a device's part of the loop uses."""
        found = []
        for i in range(len(self.loop.header.feeds) - self.count):
            index = self.count + i
            uses = (
                self.loop.header.feeds[index] in self.header.side(device).feeds,
                self.loop.body.feeds[index] in self.body.side(device).feeds,
            )
            if any(uses):
                found.append(i)
        return found

    def _header(
        self, device: str, predicate: Edge, entering: list[int], passed: list[int]
    ) -> StepGraph:
        region, graph = self.header, self.loop.header
        feeds = [region.feed(graph.feeds[i], device) for i in entering]
        side = region.side(device)
        fetches = [predicate, *(region.value(self.passed[i], device) for i in passed)]
        made = StepGraph(side.ordered(), feeds, fetches, side.targets(graph.targets))
        made.verify("header of a loop over devices")
        return made

    def _body(
        self, device: str, entering: list[int], passed: list[int], variables: list[int]
    ) -> StepGraph:
        region, graph = self.body, self.loop.body
        first = len(graph.feeds) - len(self.passed)
        numbers = [*entering, *(first + i for i in passed)]
        feeds = [region.feed(graph.feeds[i], device) for i in numbers]
        fetches = [region.value(graph.fetches[i], device) for i in variables]
        side = region.side(device)
        made = StepGraph(side.ordered(), feeds, fetches, side.targets(graph.targets))
        made.verify("body of a loop over devices")
        return made

    def _node(self, device: str, loop: Any, entering: list[int], exits: list[int]) -> Node:
        node = self.node
        inputs = tuple(node.spec.inputs[i] for i in entering)
        outputs = tuple(node.spec.outputs[j] for j in exits)
        spec = OpSpec(Signature("_While", inputs, outputs, {}), frozenset([Trait.STATEFUL]))
        made = Node(
            spec,
            node.name,
            {"loop": loop, "spans": True},
            [node.dtypes[j] for j in exits],
            [node.shapes[j] for j in exits],
            node.origin,
            node.order,
            device,
        )
        made.inputs = [self.outer.value(node.inputs[i], device) for i in entering]
        return made
