"""Conditionals and loops that call functions, as the primitives that they stand for.

An If or Case node becomes Switch and Merge nodes around the nodes of its branches; a While node
becomes a frame around those of its functions. Then only what a step needs of them runs, each node
on its own device, and loops and branches become part of the plan like those made of primitives.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from penstock import devices, dtypes
from penstock.ir import registry
from penstock.ir.attr_codec import Function as FunctionName
from penstock.ir.function import FunctionGraph
from penstock.ir.operation import Operation
from penstock.ir.registry import READS
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.passes.prune import topological

LOWERED = "_lower_using_switch_merge"
_CONDITIONALS = ("If", "StatelessIf", "Case", "StatelessCase")
_LOOPS = ("While", "StatelessWhile")


def calls_lowered_functions(step: StepGraph) -> bool:
    """Whether a step has such nodes."""
    return any(_is_lowered(node) for node in step.nodes)


def lower_functions(step: StepGraph) -> None:
    """Replaces the nodes of a step that are marked for it, and those inside of their functions."""
    lowering = _Lowering(step)
    lowering.run()
    step.nodes = topological(lowering.nodes)
    for order, node in enumerate(step.nodes):
        node.order = -1 if node in lowering.feeds else order
    step.drop_unused()


def _is_lowered(node: Node) -> bool:
    if not node.attrs.get(LOWERED) or not node.inputs:
        return False
    if node.type in ("If", "StatelessIf"):
        return node.inputs[0].dtype.base_dtype is dtypes.bool
    return node.type in (*_CONDITIONALS, *_LOOPS)


class _Lowering:
    """The nodes of a step with more and more of its functions put in."""

    def __init__(self, step: StepGraph):
        self.step = step
        self.feeds = set(step.feeds)
        self.nodes: list[Node] = []
        self.results: dict[Edge, Edge] = {}
        self.finished: dict[Node, Node] = {}  # what has run when a node that is gone would have
        self.names = {node.name for node in step.nodes}

    def run(self) -> None:
        for node in self.step.nodes:
            self._put(node)
        for node in self.nodes:
            node.inputs = [self._result(edge) for edge in node.inputs]
            node.controls = [self._end(control) for control in node.controls]
        self.step.fetches = [self._result(edge) for edge in self.step.fetches]
        self.step.targets = [self._end(node) for node in self.step.targets]

    def _result(self, edge: Edge) -> Edge:
        while edge in self.results:
            edge = self.results[edge]
        return edge

    def _end(self, node: Node) -> Node:
        while node in self.finished:
            node = self.finished[node]
        return node

    def _put(self, node: Node) -> None:
        if not _is_lowered(node):
            self.nodes.append(node)
        elif node.type in _LOOPS:
            _Loop(self, node).put()
        else:
            _Conditional(self, node).put()

    def new(
        self,
        op_type: str,
        beside: Node,
        name: str,
        inputs: Sequence[Edge],
        attrs: dict[str, Any] | None = None,
        controls: Iterable[Node] = (),
    ) -> Node:
        """A further node, which stands for a part of another one."""
        spec = registry.find(op_type)
        assert spec is not None
        dtype, shape = inputs[0].dtype.base_dtype, inputs[0].shape
        value = (dtype, shape)
        results = {
            "Switch": [value, value],
            "RefSwitch": [(inputs[0].dtype, shape)] * 2,
            "Merge": [value, (dtypes.int32, ())],
            "Equal": [(dtypes.bool, shape)],
        }.get(op_type, [value])
        values = {key: each.default for key, each in spec.attrs.items() if each.has_default}
        values |= {"T": dtype} if "T" in spec.attrs else {}
        values |= {"N": len(inputs)} if "N" in spec.attrs else {}
        node = Node(
            spec,
            self.unique(f"{beside.name}/{name}"),
            {**values, **(attrs or {})},
            [each[0] for each in results],
            [each[1] for each in results],
            beside.origin,
            beside.order,
            beside.device,
        )
        node.inputs, node.controls = list(inputs), list(controls)
        self.nodes.append(node)
        return node

    def constant(self, beside: Node, value: Any) -> Edge:
        """A constant that any frame may use."""
        spec = registry.find("Const")
        assert spec is not None
        dtype = dtypes.as_dtype(value.dtype)
        attrs = {"value": value, "dtype": dtype}
        name = self.unique(f"{beside.name}/Const")
        node = Node(spec, name, attrs, [dtype], [value.shape], beside.origin, beside.order)
        self.nodes.append(node)
        return Edge(node, 0)

    def unique(self, name: str) -> str:
        found, numbers = name, itertools.count(1)
        while found in self.names:
            found = f"{name}_{next(numbers)}"
        self.names.add(found)
        return found

    def function(
        self, node: Node, name: FunctionName, arguments: Sequence[Edge], pivot: Node
    ) -> tuple[list[Edge], list[Node]]:
        """Puts the nodes of a function in, with these arguments.

        Returns the edges of its results, and the nodes that have effects. What has no inputs, or
        only such as no iteration changes, waits for `pivot`, and so runs where and as often as the
        others do.
        """
        assert node.origin is not None
        library = node.origin.graph._functions
        body = library[name.name].body(name.attrs, library)
        known = dict(zip(body.inputs, arguments, strict=True))
        copies: dict[Operation, Node] = {}
        for op in _needed(body):
            copy = self._copy(op, node, body)
            copies[op] = copy
            copy.inputs = [
                known[tensor] if tensor in known else Edge(copies[tensor._op], tensor._value_index)
                for tensor in op._inputs
            ]
            copy.controls = [copies[each] for each in op._control_inputs if each in copies]
            unchanged = [self._is_unchanged(edge) for edge in copy.inputs]
            if any(unchanged) if _is_lowered(copy) else all(unchanged) and not copy.controls:
                copy.controls = [*copy.controls, pivot]
            self._put(copy)
        results = [
            known[tensor] if tensor in known else Edge(copies[tensor._op], tensor._value_index)
            for tensor in body.outputs
        ]
        return results, [copy for op, copy in copies.items() if _has_effect(op)]

    def _is_unchanged(self, edge: Edge) -> bool:
        """Whether a value enters a loop once, for all its iterations."""
        node = self._result(edge).node
        return node.type == "Enter" and bool(node.attrs["is_constant"])

    def _copy(self, op: Operation, caller: Node, body: FunctionGraph) -> Node:
        attrs = op.attrs
        if "_class" in attrs:
            attrs = {**attrs, "_class": _own_groups(attrs["_class"], caller.name, body)}
        return Node(
            op.spec,
            self.unique(f"{caller.name}/{op._name}"),
            attrs,
            [tensor._dtype for tensor in op._outputs],
            [tensor._shape for tensor in op._outputs],
            op,
            op._id,
            # What a node says of its place counts, what it leaves open its caller says.
            devices.merge_device(caller.device).merge_string(op._device),
        )


def _own_groups(groups: Sequence[Any], scope: str, body: FunctionGraph) -> list[str]:
    """The groups of colocation of a body's node, apart from those of another call of the body."""
    names = [group.decode() if isinstance(group, bytes) else str(group) for group in groups]
    return [
        f"loc:@{scope}/{name[5:]}" if name[5:] in body._nodes_by_name else name for name in names
    ]


def _has_effect(op: Operation) -> bool:
    return op.spec.is_stateful and READS not in op.spec.traits


def _needed(body: FunctionGraph) -> list[Operation]:
    """The nodes that a body's results and effects depend on, producers first."""
    arguments = {tensor._op for tensor in body.inputs}
    found: dict[Operation, None] = {}
    wanted = [op for op in body.get_operations() if _has_effect(op)]
    wanted += [tensor._op for tensor in body.outputs]
    pending: list[tuple[Operation, bool]] = [(op, False) for op in reversed(wanted)]
    while pending:
        op, has_producers = pending.pop()
        if op in found or op in arguments:
            continue
        if has_producers:
            found[op] = None
            continue
        pending.append((op, True))
        producers = [*(tensor._op for tensor in op._inputs), *op._control_inputs]
        pending += [(each, False) for each in producers if each not in found]
    return sorted(found, key=_by_creation(found))


def _by_creation(found: dict[Operation, None]) -> Callable[[Operation], int]:
    """The order of creation; that of dependence where a node got inputs later."""
    is_sorted = all(
        tensor._op._id < op._id for op in found for tensor in op._inputs if tensor._op in found
    )
    if is_sorted:
        return lambda op: op._id
    places = {op: place for place, op in enumerate(found)}
    return lambda op: places[op]


class _Conditional:
    """An If or Case node: is it the first branch, else the second …, else the last."""

    def __init__(self, lowering: _Lowering, node: Node):
        self._lowering = lowering
        self._node = node
        attrs = node.attrs
        self._is_case = "branches" in attrs
        self._branches: list[FunctionName] = (
            attrs["branches"] if self._is_case else [attrs["then_branch"], attrs["else_branch"]]
        )

    def put(self) -> None:
        lowering, node = self._lowering, self._node
        sides = self._sides()
        results = []
        for branch, (arguments, pivot) in zip(self._branches, sides, strict=True):
            found, effects = lowering.function(node, branch, arguments, pivot)
            if effects:  # who waits for the conditional waits for what its branch does
                pivot = lowering.new("Identity", node, "done", [Edge(pivot, 0)], {}, effects)
            results.append([*found, Edge(pivot, 0)])
        *others, merged = results
        for chosen in reversed(others):
            pairs = zip(merged, chosen, strict=True)
            merged = [Edge(lowering.new("Merge", node, "Merge", pair), 0) for pair in pairs]
        *values, ran = merged
        for place, edge in enumerate(values):
            if others:
                edge.node.shapes[0] = node.shapes[place]
            lowering.results[Edge(node, place)] = edge
        lowering.finished[node] = ran.node

    def _sides(self) -> list[tuple[list[Edge], Node]]:
        """For each branch its arguments, and a node that runs where the branch is taken."""
        chosen_by, *arguments = self._node.inputs
        controls = self._node.controls
        pivot = self._lowering.new("Identity", self._node, "pivot", [chosen_by], {}, controls)
        sides = []
        for number in range(len(self._branches) - 1):
            predicate = self._equal(chosen_by, number) if self._is_case else chosen_by
            (others, no), (taken, yes) = self._split(predicate, [chosen_by, *arguments], controls)
            sides.append((taken[1:], yes))
            (chosen_by, *arguments), pivot, controls = others, no, []
        return [*sides, (arguments, pivot)]

    def _split(
        self, predicate: Edge, arguments: Sequence[Edge], controls: Sequence[Node]
    ) -> list[tuple[list[Edge], Node]]:
        """The arguments where the predicate is false, and where it is true, each with a pivot."""
        new, node = self._lowering.new, self._node
        switches = [
            new(
                "RefSwitch" if edge.dtype.is_ref_dtype else "Switch",
                node,
                "Switch",
                [edge, predicate],
                {},
                controls,
            )
            for edge in (predicate, *arguments)
        ]
        found = []
        for side in (0, 1):
            pivot, *inputs = [Edge(switch, side) for switch in switches]
            found.append((inputs, new("Identity", node, f"pivot_{'ft'[side]}", [pivot])))
        return found

    def _equal(self, index: Edge, number: int) -> Edge:
        other = self._lowering.constant(self._node, np.array(number, np.int32))
        return Edge(self._lowering.new("Equal", self._node, "is_branch", [index, other]), 0)


class _Loop:
    """A While node: its variables go round, what no iteration changes enters once."""

    def __init__(self, lowering: _Lowering, node: Node):
        self._lowering = lowering
        self._node = node

    def put(self) -> None:
        lowering, node, new = self._lowering, self._node, self._lowering.new
        constant = self._unchanged()
        frame = lowering.unique(f"{node.name}/frame")
        merges: dict[int, Node] = {}
        entered: list[Edge] = []
        for place, edge in enumerate(node.inputs):
            attrs = {
                "frame_name": frame,
                "is_constant": place in constant,
                "parallel_iterations": node.attrs["parallel_iterations"],
            }
            enter = new("Enter", node, "Enter", [edge], attrs, node.controls)
            enter.shapes[0] = node.shapes[place]
            if place in constant:
                entered.append(Edge(enter, 0))
            else:
                merges[place] = new("Merge", node, "Merge", [Edge(enter, 0), Edge(enter, 0)])
                entered.append(Edge(merges[place], 0))
        pivot = next(iter(merges.values()))
        (goes_on,), _ = lowering.function(node, node.attrs["cond"], entered, pivot)
        loop_cond = new("LoopCond", node, "LoopCond", [goes_on], {})
        self._body(entered, merges, Edge(loop_cond, 0))
        for place in constant:
            lowering.results[Edge(node, place)] = node.inputs[place]

    def _body(self, entered: list[Edge], merges: dict[int, Node], goes_on: Edge) -> None:
        lowering, node, new = self._lowering, self._node, self._lowering.new
        arguments = list(entered)
        exits = []
        for place, merge in merges.items():
            switch = new("Switch", node, "Switch", [Edge(merge, 0), goes_on])
            arguments[place] = Edge(new("Identity", node, "Identity", [Edge(switch, 1)]), 0)
            exits.append(new("Exit", node, "Exit", [Edge(switch, 0)]))
            lowering.results[Edge(node, place)] = Edge(exits[-1], 0)
        lowering.finished[node] = exits[0]
        pivot = arguments[next(iter(merges))].node
        results, effects = lowering.function(node, node.attrs["body"], arguments, pivot)
        for place, merge in merges.items():
            following = new("NextIteration", node, "NextIteration", [results[place]], {}, effects)
            merge.inputs[1] = Edge(following, 0)
            effects = []  # one of the variables waits for them, and so does the next iteration

    def _unchanged(self) -> set[int]:
        """The variables that the body gives back as they are; one at least counts as changed."""
        node = self._node
        assert node.origin is not None
        library = node.origin.graph._functions
        name = node.attrs["body"]
        body = library[name.name].body(name.attrs, library)
        pairs = enumerate(zip(body.inputs, body.outputs, strict=True))
        found = {place for place, (argument, result) in pairs if argument is result}
        if len(found) == len(node.inputs):
            found.discard(0)
        return found
