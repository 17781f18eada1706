"""Counters in loops as Python numbers: `i < n` and `i + 1` cost more as tensors than as code.

Which nodes of a loop's regions are computed so is decided once: those on integer and bool scalars,
from loop variables, invariants and constants that are such themselves, whose results nobody needs
as a tensor. Wherever a value leaves the loop it is a tensor again.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from penstock import dtypes
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.passes.structure import Loop

# Numbers that leave the range of their type are rare, and comparing costs less than wrapping.
_WRAPPED = {
    dtypes.int32: (
        "w if -2147483648 <= (w := {0}) <= 2147483647 "
        "else ((w + 2147483648) & 4294967295) - 2147483648"
    ),
    dtypes.int64: (
        "w if -9223372036854775808 <= (w := {0}) <= 9223372036854775807 "
        "else ((w + 9223372036854775808) & 18446744073709551615) - 9223372036854775808"
    ),
}
_ARITHMETIC = {"Add": "a + b", "AddV2": "a + b", "Sub": "a - b", "Mul": "a * b", "Neg": "-a"}
_EXACT = {
    "Less": "a < b",
    "LessEqual": "a <= b",
    "Greater": "a > b",
    "GreaterEqual": "a >= b",
    "Equal": "a == b",
    "NotEqual": "a != b",
    "LogicalAnd": "a and b",
    "LogicalOr": "a or b",
    "LogicalNot": "not a",
    "Minimum": "a if a < b else b",
    "Maximum": "a if a > b else b",
    "Identity": "a",
}
_TYPES = (dtypes.int32, dtypes.int64, dtypes.bool)


def expression(node: Node, arguments: list[str]) -> str:
    """A node of scalars as Python code."""
    values = dict(zip("ab", arguments, strict=False))
    text = _EXACT.get(node.type) or _ARITHMETIC[node.type]
    code = "".join(values.get(letter, letter) for letter in _tokens(text))
    if node.type in _ARITHMETIC:
        code = _WRAPPED[node.dtypes[0]].format(code)
    return f"({code})"


def _tokens(text: str) -> list[str]:
    """The text's characters, `a` and `b` only where they are whole words."""
    pieces: list[str] = []
    for word in text.split(" "):
        pieces += [word[:-1], word[-1]] if word.startswith("-") and len(word) == 2 else [word]
        pieces.append(" ")
    return pieces[:-1]


def _is_candidate(node: Node) -> bool:
    if node.type not in _EXACT and node.type not in _ARITHMETIC:
        return False
    edges = [*node.inputs, Edge(node, 0)]
    return all(edge.dtype in _TYPES and edge.shape == () for edge in edges)


@dataclass
class Scalars:
    """What of a region is Python numbers: nodes, loop variables, and invariants beside tensors."""

    nodes: set[Node] = field(default_factory=set)
    variables: set[int] = field(default_factory=set)
    invariants: list[int] = field(default_factory=list)
    results_are_variables: bool = False  # of a body; a header's are the condition and other values


def scalars_of(loop: Loop, live: Collection[int] = ()) -> tuple[Scalars, Scalars]:
    """What to compute with Python numbers in a loop's header and body.

    The inputs numbered in `live` change while the loop runs: they are read where they are used.
    """
    return _Search(loop, live).found()


class _Search:
    """Starts from all that could be numbers and takes out what a tensor is needed of."""

    def __init__(self, loop: Loop, live: Collection[int]):
        self.loop = loop
        self.live = live
        self.regions = (loop.header, loop.body)
        self.nodes = {
            node for region in self.regions for node in region.nodes if _is_candidate(node)
        }
        self.variables = {
            index
            for index in range(loop.variables)
            if self._is_number(Edge(loop.header.feeds[index], 0))
        }

    @staticmethod
    def _is_number(edge: Edge) -> bool:
        return edge.dtype in _TYPES and edge.shape == ()

    def found(self) -> tuple[Scalars, Scalars]:
        while self._shrink():
            pass
        return self._of(self.loop.header), self._of(self.loop.body)

    def _of(self, region: StepGraph) -> Scalars:
        members = self.nodes & set(region.nodes)
        used = {edge.node for node in members for edge in node.inputs}
        # What the body gets from the header comes last among its feeds, and is never a number.
        invariants = [
            index
            for index, feed in enumerate(self.loop.header.feeds)
            if index >= self.loop.variables and region.feeds[index] in used
        ]
        return Scalars(members, set(self.variables), invariants, region is self.loop.body)

    def _shrink(self) -> bool:
        before = len(self.nodes) + len(self.variables)
        for region in self.regions:
            self._shrink_region(region)
        for index in list(self.variables):
            if not self._is_available(self.loop.body, self.loop.body.fetches[index]):
                self.variables.discard(index)
        return len(self.nodes) + len(self.variables) < before

    def _shrink_region(self, region: StepGraph) -> None:
        feeds = {feed: index for index, feed in enumerate(region.feeds)}
        for node in region.nodes:
            if node in self.nodes:
                if not all(self._is_available(region, edge) for edge in node.inputs):
                    self.nodes.discard(node)
                continue
            for edge in node.inputs:  # a tensor is needed of what it uses
                self.nodes.discard(edge.node)
                if feeds.get(edge.node, self.loop.variables) < self.loop.variables:
                    self.variables.discard(feeds[edge.node])
        wanted_as_tensors = (
            region.fetches[1:]
            if region is self.loop.header
            else [edge for i, edge in enumerate(region.fetches) if i not in self.variables]
        )
        for edge in wanted_as_tensors:
            self.nodes.discard(edge.node)
            if feeds.get(edge.node, self.loop.variables) < self.loop.variables:
                self.variables.discard(feeds[edge.node])
        for target in region.targets:
            self.nodes.discard(target)

    def _is_available(self, region: StepGraph, edge: Edge) -> bool:
        """Whether a value is there as a number."""
        node = edge.node
        if node in self.nodes:
            return True
        if node.type == "Const":
            return self._is_number(edge)
        if node not in region.feeds:
            return False
        index = region.feeds.index(node)
        if index < self.loop.variables:
            return index in self.variables
        if index in self.live:
            return False
        return index < len(self.loop.header.feeds) and self._is_number(edge)


def number(value: Any) -> Any:
    """A scalar tensor as a Python number."""
    return value.item() if hasattr(value, "item") else value
