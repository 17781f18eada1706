"""The profile along the edges of a graph: below a node are the nodes that it gets inputs from."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.profiler.name_scope_view import ROOT, NameScopeView, Scope
from penstock.profiler.node_statistics import NodeStatistics


def tree_of_inputs(nodes: Sequence[NodeStatistics], graph: Graph) -> Scope:
    """The nodes that nobody uses, by name, with their inputs below them.

    A node that several others use is below the one that is met first.
    """
    counts = {node.name: node for node in nodes}
    root = Scope(ROOT)
    met: set[str] = set()
    for op in sorted(_ends(graph), key=lambda op: op.name):
        _add(root, op, counts, met)
    return root


def _inputs(op: Operation) -> list[Operation]:
    return [*(tensor.op for tensor in op.inputs), *op.control_inputs]


def _ends(graph: Graph) -> list[Operation]:
    used = {each for op in graph.get_operations() for each in _inputs(op)}
    return [op for op in graph.get_operations() if op not in used]


def _add(parent: Scope, start: Operation, counts: dict[str, NodeStatistics], met: set[str]) -> None:
    """Adds an operation and all before it, depth first; graphs are too deep for recursion."""
    pending = [(parent, start)]
    while pending:
        above, op = pending.pop()
        if op.name in met:
            continue
        met.add(op.name)
        scope = above.children[op.name] = Scope(op.name)
        scope.node = counts[op.name]
        pending += [(scope, each) for each in reversed(_inputs(op))]


class DataFlowView(NameScopeView):
    """What the options of a profile make of a tree of inputs; only nodes that count are shown."""

    def _is_shown(self, scope: Scope, depth: int) -> bool:
        return scope.counted and super()._is_shown(scope, depth)
