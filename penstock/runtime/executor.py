"""The dataflow executor: runs a node when its inputs have arrived. It defines what a step means.

Plans are faster and must agree with it (a property test compares the two). It also runs what plans
can't: a step that pauses half-way for more feeds (`partial_run`).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import Any

from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.kernels.values import fetcher
from penstock.passes.order import accesses
from penstock.runtime.binding import BoundNode
from penstock.runtime.diagnosis import Failure, diagnose


class Execution:
    """One step under way.

    1. A node runs once, after all of its inputs and control inputs, in order of creation among
       those that are ready.
    2. `values` keeps every value that a fetch or a node still waiting may want.
    """

    def __init__(self, step: StepGraph, bound: Iterable[BoundNode], context: Any):
        self.step = step
        self.context = context
        self.bound = {entry.node: entry for entry in bound}
        self.values: dict[Edge, Any] = {}
        self.done: set[Node] = set()
        self.consumers = step.consumers()
        self.rank = {node: i for i, node in enumerate(step.nodes)}
        self.waiting = {node: len(set(node.producers())) for node in step.nodes}
        self.written = {s for entry in self.bound.values() for s in accesses(entry.node).writes}
        self.ready = [self.rank[n] for n in step.nodes if not self.waiting[n] and n.type != "_Feed"]
        heapq.heapify(self.ready)

    def feed(self, feeds: dict[Node, Any]) -> None:
        """Gives fed nodes their values."""
        for node, value in feeds.items():
            self.values[Edge(node, 0)] = value
            self._finish(node)

    def run(self, wanted: set[Node] | None = None) -> None:
        """Runs what is ready, and what that makes ready; only `wanted` nodes if given."""
        held: list[int] = []
        while self.ready:
            index = heapq.heappop(self.ready)
            node = self.step.nodes[index]
            if wanted is not None and node not in wanted:
                held.append(index)
                continue
            self.context.check()
            self._run_node(self.bound[node])
            self._finish(node)
        self.ready = held
        heapq.heapify(self.ready)

    def _finish(self, node: Node) -> None:
        self.done.add(node)
        for consumer in self.consumers[node]:
            self.waiting[consumer] -= 1
            if self.waiting[consumer] == 0 and consumer not in self.done:
                heapq.heappush(self.ready, self.rank[consumer])

    def _run_node(self, entry: BoundNode) -> None:
        node = entry.node
        if entry.is_constant:
            self.values[Edge(node, 0)] = entry.constant
            return
        inputs = [self.values[edge] for edge in node.inputs]
        try:
            arguments = [
                value.read() if dereference else value
                for value, dereference in zip(inputs, entry.dereferences, strict=True)
            ]
            assert entry.function is not None
            head = (self.context,) if entry.takes_step else ()
            result = entry.function(*head, *arguments)
        except Exception as error:
            raise diagnose(Failure(node, entry.dereferences, inputs), error) from error
        if len(node.dtypes) == 1:
            self._store(Edge(node, 0), result)
        elif node.dtypes:
            for i, value in enumerate(result):
                self._store(Edge(node, i), value)

    def _store(self, edge: Edge, value: Any) -> None:
        """Keeps a value; one that may share memory with state that this step writes is copied."""
        reads = accesses(edge.node).reads & self.written
        if reads and not edge.dtype.is_ref_dtype and hasattr(value, "clone"):
            value = value.clone()
        self.values[edge] = value

    def fetch(self, edge: Edge) -> Any:
        """A computed value in the form that `Session.run` returns it."""
        value = self.values[edge]
        if edge.dtype.is_ref_dtype:
            value = value.read()
        return fetcher(edge.dtype.base_dtype, None, copy=True)(value)


def needed_for(step: StepGraph, edges: Iterable[Edge], nodes: Iterable[Node]) -> set[Node]:
    """The nodes that must run before these edges have values and these nodes are done."""
    found: set[Node] = set()
    pending = [edge.node for edge in edges] + list(nodes)
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            pending.extend(node.producers())
    return found


def execute(step: StepGraph, bound: list[BoundNode], feeds: list[Any], context: Any) -> list[Any]:
    """Runs a whole step and returns its fetches."""
    execution = Execution(step, bound, context)
    execution.feed(dict(zip(step.feeds, feeds, strict=True)))
    execution.run()
    return [execution.fetch(edge) for edge in step.fetches]
