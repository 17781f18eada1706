"""The profile by name scopes: a tree, in which a node's totals include what is below it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from penstock import proto
from penstock.profiler.node_statistics import FIELDS, NodeStatistics
from penstock.profiler.numbers import formatted

ROOT = "_TFProfRoot"

_FIRST_DEPTH = 2  # the root is the first level

_UNITS = {"params": " params", "float_ops": " flops", "bytes": "B", "micros": "us"}


def _matches(regexes: Sequence[str], text: str) -> bool:
    return any(re.fullmatch(regex, text) for regex in regexes)


class Scope:
    """A name scope, or a node, or both."""

    def __init__(self, name: str):
        self.name = name
        self.node: NodeStatistics | None = None
        self.children: dict[str, Scope] = {}
        self.shown: list[Scope] = []
        self.counted = False
        self.totals = dict.fromkeys(FIELDS, 0)
        self.definitions = 1

    def own(self, kind: str) -> int:
        return getattr(self.node, FIELDS[kind]) if self.counted and self.node else 0

    def sum_up(self, parts: Sequence[Scope]) -> None:
        """Makes the totals those of itself and of its parts."""
        self.totals = {
            kind: self.own(kind) + sum(part.totals[kind] for part in parts) for kind in FIELDS
        }
        self.definitions = 1 + sum(part.definitions for part in parts)


def tree_of(nodes: Sequence[NodeStatistics]) -> Scope:
    """The nodes by their name scopes."""
    root = Scope(ROOT)
    for node in nodes:
        scope = root
        parts = node.name.split("/")
        for length in range(1, len(parts) + 1):
            name = "/".join(parts[:length])
            scope = scope.children.setdefault(name, Scope(name))
        scope.node = node
    return root


class NameScopeView:
    """What the options of a profile make of a tree."""

    def __init__(self, root: Scope, options: dict[str, Any]):
        self._options = options
        self.root = root
        self._count(root)
        starts = self._starts(list(root.children.values()))
        self.root.shown = self._sorted(
            [found for start in starts for found in self._show(start, _FIRST_DEPTH)]
        )
        if options["account_displayed_op_only"]:
            root.sum_up(root.shown)

    def _starts(self, scopes: list[Scope]) -> list[Scope]:
        """The scopes at which the view begins."""
        found = []
        for scope in scopes:
            if _matches(self._options["start_name_regexes"], scope.name):
                found.append(scope)
            else:
                found += self._starts(list(scope.children.values()))
        return found

    def _count(self, scope: Scope) -> bool:
        """Sums up what is accounted for; whether there is anything."""
        below = [child for child in scope.children.values() if self._count(child)]
        scope.children = {child.name: child for child in below}
        regexes = self._options["account_type_regexes"]
        if scope.node is not None:
            scope.counted = any(_matches(regexes, each) for each in scope.node.types)
        scope.sum_up(below)
        return scope.counted or bool(below)

    def _is_shown(self, scope: Scope, depth: int) -> bool:
        options = self._options
        if depth > options["max_depth"]:
            return False
        if any(scope.own(kind) < options.get(f"min_{kind}", 0) for kind in FIELDS):
            return False
        return _matches(options["show_name_regexes"], scope.name) and not _matches(
            options["hide_name_regexes"], scope.name
        )

    def _show(self, scope: Scope, depth: int) -> list[Scope]:
        """What is shown of a scope: itself, or in its place what is below it."""
        below: list[Scope] = []
        if not _matches(self._options["trim_name_regexes"], scope.name):
            for child in scope.children.values():
                below += self._show(child, depth + 1)
        if not self._is_shown(scope, depth):
            return below
        scope.shown = self._sorted(below)
        if self._options["account_displayed_op_only"]:
            scope.sum_up(below)
        return [scope]

    def _sorted(self, scopes: list[Scope]) -> list[Scope]:
        kind = self._options["order_by"]
        by_name = sorted(scopes, key=lambda scope: scope.name)
        if kind not in FIELDS:
            return by_name
        return sorted(by_name, key=lambda scope: -scope.totals[kind])

    def lines(self) -> list[str]:
        """The lines of the report."""
        return self._lines(self.root, 0)

    def _lines(self, scope: Scope, depth: int) -> list[str]:
        parts = []
        if scope.counted and scope.node and scope.node.shape and "params" in self._selected():
            parts.append("x".join(map(str, scope.node.shape)))
        for kind in self._selected():
            own = formatted(scope.own(kind)) if scope.counted else "--"
            if kind in ("bytes", "micros") and scope.counted:
                own += _UNITS[kind]
            parts.append(f"{own}/{formatted(scope.totals[kind])}{_UNITS[kind]}")
        line = f"{'  ' * depth}{scope.name} ({', '.join(parts)})"
        return [line, *(each for child in scope.shown for each in self._lines(child, depth + 1))]

    def _selected(self) -> list[str]:
        return [kind for kind in FIELDS if kind in self._options["select"]]

    def message(self, scope: Scope | None = None) -> Any:
        """The view as a `GraphNodeProto`."""
        scope = scope or self.root
        found = proto.GraphNodeProto(name=scope.name, total_definition_count=scope.definitions)
        for kind, field in FIELDS.items():
            setattr(found, field, scope.own(kind))
            setattr(found, f"total_{field}", scope.totals[kind])
        if scope.counted and scope.node:
            fill_input_shapes(found, scope.node)
        found.children.extend(self.message(child) for child in scope.shown)
        return found


def fill_input_shapes(message: Any, node: NodeStatistics) -> None:
    """Adds the shapes of a node's inputs to a `GraphNodeProto`."""
    for index, input_shape in enumerate(node.input_shapes):
        if input_shape.is_fully_defined():
            for size in input_shape.as_list() or [1]:
                message.input_shapes[index].dim.add(size=size)
