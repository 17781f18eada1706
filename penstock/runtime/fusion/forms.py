"""What the values of a step look like, seen in one run of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.passes.fusion import Form
from penstock.runtime.binding import BoundNode
from penstock.runtime.tracing import Trace
from penstock.state.variable import VariableState


class FormRecorder(Trace):
    """A trace that keeps the forms of values, and how long each node took in all."""

    def __init__(self) -> None:
        super().__init__()
        self._made: dict[Node, tuple[Form | None, ...]] = {}
        self._fed: dict[StepGraph, tuple[Form | None, ...]] = {}
        self._nanoseconds: Counter[Node] = Counter()

    def record(self, node: Node, begin: int, end: int, *outputs: Any) -> None:
        self._made[node] = tuple(form_of(value) for value in outputs)
        self._nanoseconds[node] += end - begin

    def seconds(self, graph: StepGraph) -> dict[str, float]:
        """How long the nodes of a graph took, by name."""
        return {node.name: 1e-9 * self._nanoseconds[node] for node in graph.nodes}

    def host_bytes(self) -> int:
        """How much memory of the host the nodes' results took, all of them together."""
        forms = (form for made in self._made.values() for form in made if form is not None)
        return sum(
            math.prod(form.shape) * getattr(torch, form.dtype).itemsize
            for form in forms
            if form.device == "cpu"
        )

    def enter(self, graph: StepGraph, feeds: Sequence[Any]) -> None:
        self._fed[graph] = tuple(form_of(value) for value in feeds)

    def forms(self, graph: StepGraph, bound: Sequence[BoundNode]) -> dict[tuple[str, int], Form]:
        """The forms of a graph's values by node and output; what was not seen is left out."""
        found: dict[Edge, Form | None] = {}
        fed = self._fed.get(graph, ())
        found.update((Edge(feed, 0), form) for feed, form in zip(graph.feeds, fed, strict=False))
        used = _used(graph)
        for entry in bound:
            found.update(self._of_node(entry, used, found))
        names: dict[tuple[str, int], Form] = {}
        twice: set[tuple[str, int]] = set()
        for edge, form in found.items():
            key = edge.node.name, edge.index
            if key in names:
                twice.add(key)
            if form is not None:
                names[key] = form
        return {key: form for key, form in names.items() if key not in twice}

    def _of_node(
        self, entry: BoundNode, used: set[Edge], found: Mapping[Edge, Form | None]
    ) -> dict[Edge, Form | None]:
        node = entry.node
        if entry.is_constant:
            value = entry.constant
            return {
                Edge(node, 0): form_of(value.value if isinstance(value, VariableState) else value)
            }
        if node in self._made:
            # A line that makes several values tells those that somebody takes.
            edges = [Edge(node, index) for index in range(len(node.dtypes))]
            edges = [edge for edge in edges if edge in used]
            made = self._made[node]
            return dict(zip(edges, made, strict=True)) if len(edges) == len(made) else {}
        if entry.same and node.inputs:
            return {Edge(node, 0): found.get(node.inputs[0])}
        return {}


def _used(graph: StepGraph) -> set[Edge]:
    return {edge for node in graph.nodes for edge in node.inputs} | set(graph.fetches)


def form_of(value: Any) -> Form | None:
    """The form of a tensor; of other values there is none."""
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return None
    kind = str(value.dtype).removeprefix("torch.")
    return Form(tuple(value.shape), tuple(value.stride()), kind, str(value.device))
