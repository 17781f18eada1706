"""Removing branches that no run takes: conditions that are constants of the step.

1. A Switch with a known predicate passes its data on to one side. What needs the other side is
   dead, and so is what needs that in turn, until a Merge is left with the side that is alive.
2. A loop whose condition is false from the start gives back what enters it.
3. A functional If or Case with a known index is a call of the function that it chooses; a
   functional While that never runs passes its inputs on.

Where a dead value is fetched, everything stays, so that running the step tells it as ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock import dtypes
from penstock.ir.registry import OpSpec, find
from penstock.ir.step_graph import Edge, Node, StepGraph, is_back_edge

_SWITCH = ("Switch", "RefSwitch")
_MERGE = ("Merge", "RefMerge")
_ENTER = ("Enter", "RefEnter")
_EXIT = ("Exit", "RefExit")
_PASSES_ON = ("Identity", "StopGradient", "Switch", "LogicalNot")


def remove_dead_branches(step: StepGraph) -> bool:
    """Keeps of decided conditions the side that runs; whether there were any."""
    called = [_call_the_chosen(node) for node in step.nodes]
    skipped = [_skip_loop(step, node) for node in step.nodes if node.type == "LoopCond"]
    changed = any(called) or any(skipped)
    decided = {node: value for node in step.nodes if (value := _decision(node)) is not None}
    if decided:
        branches = _Branches(step, decided)
        if branches.can_go():
            branches.remove()
            changed = True
    if changed:
        step.drop_unused()
    return changed


def _decision(node: Node) -> bool | None:
    """Which side of a Switch is taken in every run."""
    return _known(node.inputs[1]) if node.type in _SWITCH else None


def _known(edge: Edge) -> bool | None:
    """The value of a predicate that is a constant of the step."""
    *way, source = _way_back(edge)
    if source.type != "Const" or source.dtypes[0] is not dtypes.bool:
        return None
    value = source.attrs["value"]
    if len(value.shape):
        return None
    return bool(value) != bool(sum(node.type == "LogicalNot" for node in way) % 2)


def _way_back(edge: Edge) -> list[Node]:
    """The nodes that only pass a predicate on or negate it, and the one that makes it."""
    way = [edge.node]
    while True:
        node = way[-1]
        enters = node.type == "Enter" and node.attrs["is_constant"]
        if node.type not in _PASSES_ON and not enters:
            return way
        way.append(node.inputs[0].node)


def _to_wait_for(predicate: Edge) -> list[Node]:
    """The predicate's node, if something has to happen before it is known."""
    return [predicate.node] if any(node.controls for node in _way_back(predicate)) else []


# Switch and Merge ------------------------------------------------------------------------------


class _Branches:
    """What is dead in a step where the sides of some Switches are known."""

    def __init__(self, step: StepGraph, decided: dict[Node, bool]):
        self.step = step
        self.decided = decided
        self.dead_edges: set[Edge] = set()
        self.dead: set[Node] = set()
        self.alive_inputs: dict[Node, list[Edge]] = {}  # of Merges with a dead side
        for node in step.nodes:
            self._look_at(node)

    def _look_at(self, node: Node) -> None:
        if node.type in _MERGE:
            ahead = [e for e in node.inputs if not is_back_edge(e.node, node)]
            alive = [edge for edge in ahead if not self._is_dead(edge)]
            if not alive:
                self.dead.add(node)
            elif len(alive) < len(ahead):
                self.alive_inputs[node] = [e for e in node.inputs if not self._is_dead(e)]
        elif any(self._is_dead(edge) for edge in node.inputs) or self._waits_for_dead(node):
            self.dead.add(node)
        elif node in self.decided:
            self.dead_edges.add(Edge(node, 0 if self.decided[node] else 1))

    def _is_dead(self, edge: Edge) -> bool:
        return edge in self.dead_edges or edge.node in self.dead

    def _waits_for_dead(self, node: Node) -> bool:
        return any(control in self.dead for control in node.controls)

    def can_go(self) -> bool:
        """Whether what is left means the same: nobody asks for what is dead."""
        if any(self._is_dead(edge) for edge in self.step.fetches):
            return False
        numbered = {edge.node for node in self.step.nodes for edge in node.inputs if edge.index}
        numbered.update(edge.node for edge in self.step.fetches if edge.index)
        for node in self.step.nodes:
            if node.type not in _MERGE or node in self.dead:
                continue
            ends = any(self._is_dead(e) for e in node.inputs if is_back_edge(e.node, node))
            several = len(self.alive_inputs.get(node, ())) > 1 and node in numbered
            if ends or several or self._waits_for_dead(node):
                return False
        return True

    def remove(self) -> None:
        kept: list[Node] = []
        replaced: dict[Edge, Edge] = {}
        for node in self.step.nodes:
            if node in self.dead:
                continue
            kept.append(node)
            if node in self.decided:
                replaced[Edge(node, int(self.decided[node]))] = Edge(node, 0)
                _pass_on(node, node.inputs[0], _to_wait_for(node.inputs[1]))
            elif node in self.alive_inputs:
                number = self._narrow(node)
                if number is not None:
                    kept.append(number)
                    replaced[Edge(node, 1)] = Edge(number, 0)
        self.step.nodes = kept
        self.step.targets = [node for node in self.step.targets if node not in self.dead]
        self.step.replace(replaced)

    def _narrow(self, merge: Node) -> Node | None:
        """Leaves a Merge its living inputs; of a single one, the constant that tells which."""
        alive = self.alive_inputs[merge]
        if len(alive) > 1:
            merge.inputs = alive
            merge.attrs = {**merge.attrs, "N": len(alive)}
            return None
        taken = merge.inputs.index(alive[0])
        _pass_on(merge, alive[0], ())
        value = np.asarray(taken, np.int32)
        number = Node(
            _spec("Const"),
            f"{merge.name}/value_index",
            {"value": value, "dtype": dtypes.int32},
            [dtypes.int32],
            [()],
            merge.origin,
            merge.order,
            merge.device,
        )
        number.controls = [merge]  # in whatever loop that is
        return number


def _pass_on(node: Node, edge: Edge, waits_for: Sequence[Node]) -> None:
    """Makes a node the Identity of a value, under its own name."""
    is_ref = node.dtypes[0].is_ref_dtype
    node.spec = _spec("RefIdentity" if is_ref else "Identity")
    node.attrs = {"T": node.dtypes[0].base_dtype}
    node.dtypes, node.shapes = node.dtypes[:1], node.shapes[:1]
    node.inputs = [edge]
    node.controls = list(dict.fromkeys([*node.controls, *waits_for]))


# Loops that never run --------------------------------------------------------------------------


def _skip_loop(step: StepGraph, condition: Node) -> bool:
    """Makes the exits of a loop whose condition is false what enters it."""
    if _known(condition.inputs[0]) is not False or not _is_pure(condition):
        return False
    entered: dict[Node, Node] = {}
    for node in step.nodes:
        if node.type in _EXIT and node.inputs[0].node.type in _SWITCH:
            switch = node.inputs[0].node
            if switch.inputs[1].node is condition:
                enter = _enter_of(switch)
                if enter is None or node.inputs[0].index != 0:
                    return False
                entered[node] = enter
    for node, enter in entered.items():
        _pass_on(node, enter.inputs[0], enter.controls)
    return bool(entered)


def _enter_of(switch: Node) -> Node | None:
    """What a loop variable enters its loop by."""
    merge = switch.inputs[0].node
    if merge.type not in _MERGE:
        return None
    return next((edge.node for edge in merge.inputs if edge.node.type in _ENTER), None)


def _is_pure(condition: Node) -> bool:
    """Whether nothing has to happen in the loop before its condition is known."""
    seen: set[Node] = set()
    pending = [condition]
    while pending:
        node = pending.pop()
        if node in seen or node.type in _ENTER:
            continue
        seen.add(node)
        if node.spec.is_stateful or node.spec.takes_refs:
            return False
        pending += [each for each in node.producers() if not is_back_edge(each, node)]
    return True


# Functions -------------------------------------------------------------------------------------


def _call_the_chosen(node: Node) -> bool:
    """Makes a functional conditional the call of its branch; whether that is known."""
    choose = _CHOOSERS.get(node.type)
    return choose is not None and choose(node)


def _choose_of_two(node: Node) -> bool:
    value = _scalar(node.inputs[0])
    if value is None:
        return False
    _call(node, node.attrs["then_branch" if value else "else_branch"])
    return True


def _choose_of_many(node: Node) -> bool:
    index = _scalar(node.inputs[0])
    if index is None:
        return False
    branches = node.attrs["branches"]
    _call(node, branches[int(index) if 0 <= index < len(branches) else -1])
    return True


def _scalar(edge: Edge) -> Any:
    """The number or truth value of a constant; None for anything else."""
    while edge.node.type in ("Identity", "StopGradient"):
        edge = edge.node.inputs[0]
    node = edge.node
    if node.type != "Const" or edge.dtype is dtypes.string or len(node.attrs["value"].shape):
        return None
    return node.attrs["value"].item()


def _call(node: Node, function: Any) -> None:
    node.controls = list(dict.fromkeys([*node.controls, node.inputs[0].node]))
    node.inputs = node.inputs[1:]
    node.attrs = {"Tin": node.attrs["Tin"], "Tout": node.attrs["Tout"], "f": function}
    node.spec = _spec("StatefulPartitionedCall" if node.spec.is_stateful else "PartitionedCall")


def _never_runs(node: Node) -> bool:
    """Makes a functional loop that never runs what it is given."""
    function = node.attrs["cond"]
    library = node.origin.graph._functions if node.origin is not None else {}
    if not node.inputs or function.name not in library:
        return False
    body = library[function.name].body(function.attrs, library)
    condition = body.outputs[0].op
    while condition.type == "Identity":
        condition = condition.inputs[0].op
    if condition.type != "Const" or any(op.spec.is_stateful for op in body.get_operations()):
        return False
    value = condition.attrs["value"]
    if condition.outputs[0].dtype is dtypes.string or value.ndim or value.item():
        return False
    node.spec, node.attrs = _spec("IdentityN"), {"T": list(node.attrs["T"])}
    return True


_CHOOSERS = {
    "If": _choose_of_two,
    "StatelessIf": _choose_of_two,
    "Case": _choose_of_many,
    "StatelessCase": _choose_of_many,
    "While": _never_runs,
    "StatelessWhile": _never_runs,
}


def _spec(name: str) -> OpSpec:
    spec = find(name)
    assert spec is not None
    return spec
