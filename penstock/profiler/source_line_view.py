"""The profile by lines of the program: below a line are those that it called."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

from penstock import proto
from penstock.ir.graph import Graph
from penstock.profiler.name_scope_view import ROOT, NameScopeView, Scope, fill_input_shapes
from penstock.profiler.node_statistics import FIELDS, NodeStatistics
from penstock.profiler.op_type_view import MULTIPLE_COLUMNS

_GRADIENT = re.compile(r".*?gradients/(.+?)_grad/")
_GRADIENT_SUFFIX = " (gradient)"
_LONGEST_FUNCTION = 20


class Line(Scope):
    """A line of the program, and the nodes that it made itself."""

    def __init__(self, name: str):
        super().__init__(name)
        self.nodes: list[NodeStatistics] = []
        # The type of a line that made no node: all types together, and only they, include it.
        self.node = NodeStatistics(name, [""])

    def add(self, node: NodeStatistics) -> None:
        self.nodes.append(node)


def tree_of_lines(nodes: Sequence[NodeStatistics], graph: Graph, options: dict[str, Any]) -> Scope:
    """The lines that made nodes. A gradient belongs to the line of what it is the gradient of."""
    root = Scope(ROOT)
    names = {node.name for node in nodes}
    for node in nodes:
        found = _GRADIENT.match(node.name)
        forward = found[1] if found and found[1] in names else None
        suffix = _GRADIENT_SUFFIX if forward else ""
        line = root
        for label in _labels(graph.get_operation_by_name(forward or node.name)):
            line = line.children.setdefault(label + suffix, Line(label + suffix))
        if isinstance(line, Line):
            line.add(node)
    _sum_up(root, options["account_type_regexes"])
    return root


def _labels(op: Any) -> Iterator[str]:
    """The frames of an operation's making, the outermost first: file, line and function."""
    for frame in op.traceback:
        path, number, function = tuple(frame)[:3]
        if len(function) >= _LONGEST_FUNCTION:
            function = function[: _LONGEST_FUNCTION - 3] + "..."
        yield f"{os.path.basename(path)}:{number}:{function}"


def _sum_up(scope: Scope, regexes: Sequence[str]) -> None:
    """Gives each line the counts of the nodes that it made and that are accounted for."""
    for child in scope.children.values():
        _sum_up(child, regexes)
    if not isinstance(scope, Line):
        return
    scope.nodes = [
        node
        for node in scope.nodes
        if any(re.fullmatch(regex, kind) for regex in regexes for kind in node.types)
    ]
    total = NodeStatistics(scope.name, ["", *(k for node in scope.nodes for k in node.types)])
    for node in scope.nodes:
        for name in ("run_count", *FIELDS.values()):
            if name != "exec_micros":
                setattr(total, name, getattr(total, name) + getattr(node, name))
    scope.node = total


class SourceLineView(NameScopeView):
    """What the options of a profile make of a tree of lines."""

    counted_kinds = tuple(kind for kind in MULTIPLE_COLUMNS if kind in FIELDS)

    def __init__(self, root: Scope, options: dict[str, Any]):
        super().__init__(root, {**options, "account_displayed_op_only": False})

    def message(self, scope: Scope | None = None) -> Any:
        """The view as a `MultiGraphNodeProto`."""
        scope = scope or self.root
        found = proto.MultiGraphNodeProto(name=scope.name)
        for kind, field in FIELDS.items():
            setattr(found, field, scope.own(kind))
            setattr(found, f"total_{field}", scope.totals[kind])
        for node in scope.nodes if isinstance(scope, Line) else ():
            entry = found.graph_nodes.add(name=node.name, total_definition_count=1)
            entry.run_count = entry.total_run_count = node.run_count
            for field in FIELDS.values():
                setattr(entry, field, getattr(node, field))
                setattr(entry, f"total_{field}", getattr(node, field))
            fill_input_shapes(entry, node)
        found.children.extend(self.message(child) for child in scope.shown)
        return found
