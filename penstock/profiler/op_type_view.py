"""The profile by types of operations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from penstock import proto
from penstock.profiler.name_scope_view import ROOT, fill_input_shapes
from penstock.profiler.node_statistics import FIELDS, NodeStatistics
from penstock.profiler.numbers import formatted, formatted_bytes, formatted_micros

#: The columns of views whose lines stand for several nodes, in their order.
MULTIPLE_COLUMNS = (
    *[kind for kind in FIELDS if kind not in ("params", "float_ops")],
    *("params", "float_ops", "device", "op_types", "occurrence", "input_shapes"),
)
_COLUMN_WIDTH = 30


def _text(kind: str, number: int) -> str:
    if kind.endswith("bytes"):
        return formatted_bytes(number)
    return formatted_micros(number) if kind.endswith("micros") else f"{formatted(number)} {kind}"


class _TypeCounts:
    """The counts of all nodes of a type."""

    def __init__(self, name: str):
        self.name = name
        self.nodes: list[NodeStatistics] = []

    def own(self, kind: str) -> int:
        return sum(getattr(node, FIELDS[kind]) for node in self.nodes)

    def runs(self) -> int:
        return sum(node.run_count for node in self.nodes)


class OpTypeView:
    """What the options of a profile make of the nodes of each type."""

    def __init__(self, nodes: Sequence[NodeStatistics], options: dict[str, Any]):
        self._options = options
        by_type: dict[str, _TypeCounts] = {}
        for node in nodes:
            for each in node.types:
                if any(re.fullmatch(regex, each) for regex in options["account_type_regexes"]):
                    by_type.setdefault(each, _TypeCounts(each)).nodes.append(node)
        # A trainable variable has two types: where both are counted, it counts once.
        self.counts = [each for each in self._sorted(by_type) if self._is_shown(each)]
        self.totals = {kind: sum(each.own(kind) for each in self.counts) for kind in FIELDS}

    def _sorted(self, by_type: dict[str, _TypeCounts]) -> list[_TypeCounts]:
        kind = self._options["order_by"]
        by_name = sorted(by_type.values(), key=lambda each: each.name)
        by_name = [each for each in by_name if not each.name.startswith("_") or len(by_type) == 1]
        if kind == "occurrence":
            return sorted(by_name, key=lambda each: -len(each.nodes))
        return sorted(by_name, key=lambda each: -each.own(kind)) if kind in FIELDS else by_name

    def _is_shown(self, counts: _TypeCounts) -> bool:
        options = self._options
        return len(counts.nodes) >= options.get("min_occurrence", 0) and all(
            counts.own(kind) >= options.get(f"min_{kind}", 0) for kind in FIELDS
        )

    def _remaining(self, kind: str, index: int) -> int:
        """The sum over a type and all below it in the list."""
        return sum(each.own(kind) for each in self.counts[index:])

    def lines(self) -> list[str]:
        """The lines of the report: the share of a type and all below it, and its own."""
        selected = [
            kind for kind in MULTIPLE_COLUMNS if kind in self._options["shown"] and kind in FIELDS
        ]
        found = []
        for index, counts in enumerate(self.counts):
            columns = []
            for kind in selected:
                total = self.totals[kind] or 1
                rest, own = self._remaining(kind, index) / total, counts.own(kind) / total
                value = _text(kind, counts.own(kind))
                columns.append(f"{value} ({rest:.2%}, {own:.2%})".rjust(_COLUMN_WIDTH))
            if "occurrence" in self._options["shown"]:
                columns.append(f"{counts.runs()}|{len(counts.nodes)}".rjust(_COLUMN_WIDTH // 3))
            found.append(f"{counts.name:<25}{', '.join(columns)}")
        return found

    def message(self) -> Any:
        """The view as a `MultiGraphNodeProto`: each type is the child of the one above it."""
        root = proto.MultiGraphNodeProto(name=ROOT)
        for kind, field in FIELDS.items():
            setattr(root, f"total_{field}", self.totals[kind])
        place = root
        for index, counts in enumerate(self.counts):
            place = place.children.add(name=counts.name)
            for kind, field in FIELDS.items():
                setattr(place, field, counts.own(kind))
                setattr(place, f"total_{field}", self._remaining(kind, index))
            for node in sorted(counts.nodes, key=lambda node: node.name):
                message = place.graph_nodes.add(name=node.name, total_definition_count=1)
                for field in FIELDS.values():
                    setattr(message, field, getattr(node, field))
                    setattr(message, f"total_{field}", getattr(node, field))
                fill_input_shapes(message, node)
        return root
