"""The profile by name scopes: a tree, in which a node's totals include what is below it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from penstock import proto
from penstock.profiler.node_statistics import FIELDS, NodeStatistics
from penstock.profiler.numbers import formatted, formatted_bytes, formatted_micros

ROOT = "_TFProfRoot"

_FIRST_DEPTH = 2  # the root is the first level

_SCOPE_TYPE = "_kTFScopeParent"  # the type of a scope that is no node


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
        self.runs = 0

    def own(self, kind: str) -> int:
        return getattr(self.node, FIELDS[kind]) if self.counted and self.node else 0

    def sum_up(self, parts: Sequence[Scope]) -> None:
        """Makes the totals those of itself and of its parts."""
        self.totals = {
            kind: self.own(kind) + sum(part.totals[kind] for part in parts) for kind in FIELDS
        }
        self.definitions = 1 + sum(part.definitions for part in parts)
        self.runs = self.own_runs() + sum(part.runs for part in parts)

    def own_runs(self) -> int:
        return self.node.run_count if self.counted and self.node else 0


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

    counted_kinds: Sequence[str] = tuple(FIELDS)  #: The columns of numbers, in their order.

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
        if scope is not self.root:
            types = scope.node.types if scope.node is not None else [_SCOPE_TYPE]
            scope.counted = any(_matches(regexes, each) for each in types)
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
        parts = [text for text in self._parts(scope) if text is not None]
        line = f"{'  ' * depth}{scope.name} ({', '.join(parts)})"
        return [line, *(each for child in scope.shown for each in self._lines(child, depth + 1))]

    def _parts(self, scope: Scope) -> Iterator[str | None]:
        """What is told of a scope, in the order of the columns."""
        node, selected = scope.node, self._options["shown"]
        if scope.counted and node and node.shape and "params" in selected:
            yield "x".join(map(str, node.shape))
        for kind in self.counted_kinds:
            if kind in selected:
                yield self._counts(scope, kind)
        if "device" in selected and node and node.devices:
            yield "|".join(node.devices)
        if "op_types" in selected:
            yield "|".join(sorted({*node.devices, *node.types})) if node else _SCOPE_TYPE
        if "occurrence" in selected:
            runs, definitions = (scope.own_runs(), 1) if scope.counted else ("--", "--")
            yield f"{runs}/{scope.runs}|{definitions}/{scope.definitions}"
        if "input_shapes" in selected:
            yield "|".join(_input_shape_texts(node)) if node else ""

    def _counts(self, scope: Scope, kind: str) -> str:
        own = _text(kind, scope.own(kind)) if scope.counted else "--"
        unit = {"params": " params", "float_ops": " flops"}.get(kind, "")
        return f"{own}/{_text(kind, scope.totals[kind])}{unit}"

    def message(self, scope: Scope | None = None) -> Any:
        """The view as a `GraphNodeProto`."""
        scope = scope or self.root
        found = proto.GraphNodeProto(
            name=scope.name,
            run_count=scope.own_runs(),
            total_run_count=scope.runs,
            total_definition_count=scope.definitions,
        )
        for kind, field in FIELDS.items():
            setattr(found, field, scope.own(kind))
            setattr(found, f"total_{field}", scope.totals[kind])
        if scope.counted and scope.node:
            found.devices.extend(scope.node.devices)
            fill_input_shapes(found, scope.node)
        found.children.extend(self.message(child) for child in scope.shown)
        return found


def _text(kind: str, number: int) -> str:
    if kind.endswith("bytes"):
        return formatted_bytes(number)
    return formatted_micros(number) if kind.endswith("micros") else formatted(number)


def _input_shape_texts(node: NodeStatistics) -> Iterator[str]:
    for index, shape in enumerate(node.input_shapes):
        if shape.is_fully_defined():
            yield f"{index}:{'x'.join(map(str, shape.as_list() or [1]))}"


def fill_input_shapes(message: Any, node: NodeStatistics) -> None:
    """Adds the shapes of a node's inputs to a `GraphNodeProto`."""
    for index, input_shape in enumerate(node.input_shapes):
        if input_shape.is_fully_defined():
            for size in input_shape.as_list() or [1]:
                message.input_shapes[index].dim.add(size=size)
