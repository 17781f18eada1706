"""Branches as guards: Switch and Merge of a region without loops.

A Switch's outputs are its data, valid where the predicate has their side's value. Whatever uses
them is guarded by that, whatever uses it in turn, too, until a Merge takes the value of one side or
the other, and its guard is what both sides have in common.
"""

from __future__ import annotations

from collections.abc import Collection

from penstock import dtypes
from penstock.dtypes import DType
from penstock.ir.registry import OpSpec
from penstock.ir.signature import Arg, Signature
from penstock.ir.step_graph import Edge, Node, StepGraph

Guard = tuple[tuple[Edge, bool], ...]

# A predicate as a Python bool.
TRUTH = OpSpec(
    Signature("_Truth", (Arg("x", dtypes.bool),), (Arg("y", dtypes.bool),), {}), frozenset()
)


def choose_spec(dtype: DType) -> OpSpec:
    """`_Choose(truth, value where it holds, value where it does not)`, of a type or reference."""
    base, is_ref = dtype.base_dtype, dtype.is_ref_dtype
    inputs = [Arg(name, base, is_ref=is_ref) for name in ("where_true", "where_false")]
    outputs = (Arg("output", base, is_ref=is_ref), Arg("value_index", dtypes.int32))
    return OpSpec(
        Signature("_Choose", (Arg("truth", dtypes.bool), *inputs), outputs, {}), frozenset()
    )


_SWITCH = ("Switch", "RefSwitch")
_MERGE = ("Merge", "RefMerge")
_PASSES_ON = ("Identity", "RefIdentity", "StopGradient")


class NotStructured(Exception):
    """The primitives of a step are not those of loops and conditionals."""


def guard_branches(region: StepGraph, invariants: Collection[Node] = ()) -> dict[Node, bool]:
    """Replaces Switch and Merge by guards, in place; `region.nodes` is in topological order.

    `invariants` are the feeds of a loop's region that keep their value. A loop inside of a branch
    may ask the branch's own predicate again: what must be so for its results to be alive is
    assumed, and returned, for the region around the loop to confirm.
    """
    if not any(node.type in (*_SWITCH, *_MERGE, "_While") for node in region.nodes):
        return {}
    guards = _Guards(region, invariants)
    guards.apply()
    return guards.assumed


class _Guards:
    def __init__(self, region: StepGraph, invariants: Collection[Node]):
        self.region = region
        self.invariants = invariants
        self.assumed: dict[Node, bool] = {}
        self.of_edge: dict[Edge, Guard] = {}
        self.replaced: dict[Edge, Edge] = {}
        self.truths: dict[Edge, Node] = {}
        self.nodes: list[Node] = []
        self.gone: dict[Node, Guard] = {}
        self.never: set[Node | Edge] = set()  # what no run reaches: both sides of one condition

    def apply(self) -> None:
        for node in self.region.nodes:
            if node.type not in _MERGE and self._never_runs(node):
                self.never.update((node, *(Edge(node, i) for i in range(len(node.dtypes)))))
                self.gone[node] = ()
            elif node.type in _SWITCH:
                self._switch(node)
            elif node.type in _MERGE:
                self._merge(node)
            else:
                self._plain(node)
        region = self.region
        if any(edge in self.never for edge in region.fetches):
            raise NotStructured("a value that leaves the region is dead")
        for edge in region.fetches:
            for truth, value in self.of_edge.get(edge, edge.node.guard):
                self._assume(truth, value)
        region.nodes = self.nodes
        self._drop_assumed()
        region.fetches = [self._now(edge) for edge in region.fetches]
        region.targets = [node for node in region.targets if node not in self.gone]

    def _assume(self, truth: Edge, value: bool) -> None:
        predicate = truth.node.inputs[0].node
        if predicate not in self.invariants or self.assumed.setdefault(predicate, value) != value:
            raise NotStructured("a value that leaves the region may be dead")

    def _drop_assumed(self) -> None:
        for node in self.nodes if self.assumed else ():
            node.guard = tuple(
                (truth, value)
                for truth, value in node.guard
                if truth.node.inputs[0].node not in self.assumed
            )

    def _confirm(self, loop: Node) -> None:
        """Checks that a loop runs only where what it assumes holds."""
        for index, value in loop.attrs["loop"].assumed:
            truth = self._truth(loop.inputs[index])
            if (truth, value) not in loop.guard:
                self._assume(truth, value)

    def _now(self, edge: Edge) -> Edge:
        return self.replaced.get(edge, edge)

    def _guard_of(self, node: Node) -> Guard | None:
        """All that must hold for a node to run: the guards of its inputs and control inputs."""
        parts = [self.of_edge.get(edge, edge.node.guard) for edge in node.inputs]
        parts += [self.gone.get(each, each.guard) for each in node.controls]
        return self._joined(parts)

    def _never_runs(self, node: Node) -> bool:
        if any(each in self.never for each in (*node.inputs, *node.controls)):
            return True
        return self._guard_of(node) is None

    @staticmethod
    def _joined(parts: list[Guard]) -> Guard | None:
        """All that several guards ask for; None if that is both sides of one condition."""
        found: dict[Edge, bool] = {}
        for part in parts:
            for predicate, value in part:
                if found.setdefault(predicate, value) != value:
                    return None
        return tuple(found.items())

    def _plain(self, node: Node) -> None:
        node.guard = self._guard_of(node) or ()
        if node.type == "_While":
            self._confirm(node)
        self._enter(node)

    def _enter(self, node: Node) -> None:
        node.inputs = [self._now(edge) for edge in node.inputs]
        node.controls = [each for each in node.controls if each not in self.gone]
        self.nodes.append(node)

    def _switch(self, node: Node) -> None:
        guard = self._guard_of(node) or ()
        data, predicate = node.inputs
        truth = self._truth(predicate)
        for index, value in ((0, False), (1, True)):
            edge = Edge(node, index)
            side = self._joined([guard, ((truth, value),)])
            if side is None:
                self.never.add(edge)
            else:
                self.of_edge[edge] = side
                self.replaced[edge] = self._now(data)
        self.gone[node] = guard

    def _truth(self, predicate: Edge) -> Edge:
        """The predicate as a bool, one for all that ask the same tensor."""
        predicate = self._now(predicate)
        while predicate.node.type in _PASSES_ON:
            predicate = self._now(predicate.node.inputs[0])
        if predicate not in self.truths:
            made = Node(
                TRUTH,
                f"{predicate.node.name}/truth",
                {},
                [dtypes.bool],
                [()],
                predicate.node.origin,
                predicate.node.order,
                predicate.node.device,
            )
            made.inputs = [predicate]
            made.guard = predicate.node.guard
            self.truths[predicate] = made
            self.nodes.append(made)
        return Edge(self.truths[predicate], 0)

    def _merge(self, node: Node) -> None:
        if len(node.inputs) != 2:
            raise NotStructured(f"{node!r} merges {len(node.inputs)} values")
        alive = [edge for edge in node.inputs if edge not in self.never]
        if len(alive) < len(node.inputs):
            self._pass_on(node, alive)
            return
        guards = [self.of_edge.get(edge, edge.node.guard) for edge in node.inputs]
        common = tuple(entry for entry in guards[0] if entry in guards[1])
        sides = [tuple(entry for entry in guard if entry not in common) for guard in guards]
        if [len(side) for side in sides] != [1, 1] or sides[0][0][0] != sides[1][0][0]:
            raise NotStructured(f"{node!r} does not merge the two sides of one condition")
        (truth, first_holds), _ = sides[0][0], sides[1][0]
        if any(self.gone.get(each, each.guard) not in ((), common) for each in node.controls):
            raise NotStructured(f"{node!r} waits for one side of a condition")
        self._choose(node, truth, first_holds, common)

    def _pass_on(self, node: Node, alive: list[Edge]) -> None:
        """A Merge of which at most one side is ever reached is that side."""
        self.never.add(Edge(node, 1))
        self.gone[node] = ()
        if not alive:
            self.never.update((node, Edge(node, 0)))
            return
        self.gone[node] = self.of_edge[Edge(node, 0)] = self.of_edge.get(
            alive[0], alive[0].node.guard
        )
        self.replaced[Edge(node, 0)] = self._now(alive[0])

    def _choose(self, node: Node, truth: Edge, first_holds: bool, common: Guard) -> None:
        values = [self._now(edge) for edge in node.inputs]
        if not first_holds:
            values.reverse()
        # Where it holds, the number of the input that was taken; that is the second output.
        node.attrs = {"taken": (0, 1) if first_holds else (1, 0)}
        node.spec = choose_spec(node.dtypes[0])
        node.inputs = [truth, *values]
        node.guard = common
        node.controls = [each for each in node.controls if each not in self.gone]
        self.nodes.append(node)
