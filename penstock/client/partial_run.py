"""`Session.partial_run`: one step run in several parts, each node once."""

from __future__ import annotations

from typing import Any

from penstock import errors
from penstock.client.fetches import Fetches
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.ir.step_graph import Edge, Node
from penstock.ir.tensor import Tensor
from penstock.runtime.executor import Execution, needed_for
from penstock.runtime.step import Step


class PartialRun:
    """A step that the dataflow executor holds between calls, with the values computed so far."""

    def __init__(self, runtime: Any, graph: Graph, flat: Fetches, feeds: list[Tensor]):
        step, bound = runtime.prepare(feeds, flat.tensors, flat.targets)
        self._edges: dict[Tensor, Edge] = dict(zip(flat.tensors, step.fetches, strict=True))
        self._targets: dict[Operation, Node] = dict(zip(flat.targets, step.targets, strict=True))
        self._feeds: dict[Tensor, Node] = dict(zip(feeds, step.feeds, strict=True))
        self._step = step
        self._fetched: set[Tensor | Operation] = set()
        self._execution = Execution(step, bound, Step(None, runtime.cancellation))

    def run(self, flat: Fetches, feeds: dict[Tensor, Any]) -> list[Any]:
        """Feeds, runs what `flat` needs, and returns the values of its tensors."""
        for tensor in feeds:
            if tensor not in self._feeds:
                raise errors.InvalidArgumentError(
                    None, None, f"The feed {tensor.name} was not specified in partial_run_setup."
                )
            if self._feeds[tensor] in self._execution.done:
                raise errors.InvalidArgumentError(
                    None, None, f"The feed {tensor.name} has already been fed."
                )
        elements: list[Any] = [*flat.tensors, *flat.targets]
        for element in elements:
            if element not in self._edges and element not in self._targets:
                raise errors.InvalidArgumentError(
                    None, None, f"The fetch {element.name} was not specified in partial_run_setup."
                )
            if element in self._fetched:
                raise errors.InvalidArgumentError(
                    None, None, f"The fetch {element.name} has already been fetched."
                )
        self._execution.feed({self._feeds[tensor]: value for tensor, value in feeds.items()})
        edges = [self._edges[tensor] for tensor in flat.tensors]
        nodes = [self._targets[op] for op in flat.targets]
        wanted = needed_for(self._step, edges, nodes)
        self._check_fed(wanted)
        self._execution.run(wanted)
        self._fetched.update((*flat.tensors, *flat.targets))
        values = [self._execution.fetch(edge) for edge in edges]
        if len(self._fetched) == len(self._edges) + len(self._targets):
            self._execution.values_are_done()
        return values

    def _check_fed(self, wanted: set[Node]) -> None:
        for tensor, node in self._feeds.items():
            if node in wanted and node not in self._execution.done:
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"Fetch {tensor.name} can't be computed from the feeds that have been fed so "
                    "far.",
                )
