"""`Session.partial_run`: one step run in several parts, each node once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import errors
from penstock.ir.operation import Operation
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.ir.tensor import Tensor
from penstock.runtime.binding import BoundNode
from penstock.runtime.executor import Execution, needed_for
from penstock.runtime.step import Step
from penstock.state.waiting import Cancellation


class PartialRun:
    """A step that the dataflow executor holds between calls, with the values computed so far."""

    def __init__(
        self,
        prepared: tuple[StepGraph, list[BoundNode]],
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        cancellation: Cancellation,
    ):
        step, bound = prepared
        self._edges: dict[Tensor, Edge] = dict(zip(fetches, step.fetches, strict=True))
        self._targets: dict[Operation, Node] = dict(zip(targets, step.targets, strict=True))
        self._feeds: dict[Tensor, Node] = dict(zip(feeds, step.feeds, strict=True))
        self._step = step
        self._fetched: set[Tensor | Operation] = set()
        self._execution = Execution(step, bound, Step(None, cancellation))

    def run(
        self, feeds: dict[Tensor, Any], fetches: Sequence[Tensor], targets: Sequence[Operation]
    ) -> list[Any]:
        """Feeds, runs what fetches and targets need, and returns the values of the fetches."""
        self._check(feeds, [*fetches, *targets])
        self._execution.feed({self._feeds[tensor]: value for tensor, value in feeds.items()})
        edges = [self._edges[tensor] for tensor in fetches]
        nodes = [self._targets[op] for op in targets]
        wanted = needed_for(self._step, edges, nodes)
        self._check_fed(wanted)
        self._execution.run(wanted)
        self._fetched.update((*fetches, *targets))
        values = [self._execution.fetch(edge) for edge in edges]
        if self.is_over:
            self._execution.values_are_done()
        return values

    @property
    def is_over(self) -> bool:
        """Whether all that was named ahead has been fetched and run."""
        return len(self._fetched) == len(self._edges) + len(self._targets)

    def _check(self, feeds: dict[Tensor, Any], elements: Sequence[Tensor | Operation]) -> None:
        for tensor in feeds:
            if tensor not in self._feeds:
                raise errors.InvalidArgumentError(
                    None, None, f"The feed {tensor.name} was not specified in partial_run_setup."
                )
            if self._feeds[tensor] in self._execution.done:
                raise errors.InvalidArgumentError(
                    None, None, f"The feed {tensor.name} has already been fed."
                )
        for element in elements:
            if element not in self._edges and element not in self._targets:
                raise errors.InvalidArgumentError(
                    None, None, f"The fetch {element.name} was not specified in partial_run_setup."
                )
            if element in self._fetched:
                raise errors.InvalidArgumentError(
                    None, None, f"The fetch {element.name} has already been fetched."
                )

    def _check_fed(self, wanted: set[Node]) -> None:
        for tensor, node in self._feeds.items():
            if node in wanted and node not in self._execution.done:
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"Fetch {tensor.name} can't be computed from the feeds that have been fed so "
                    "far.",
                )
