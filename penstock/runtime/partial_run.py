"""`Session.partial_run`: one step run in several parts, each node once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from penstock import errors
from penstock.ir.operation import Operation
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.ir.tensor import Tensor
from penstock.runtime.binding import BoundNode
from penstock.runtime.executor import Execution, needed_for
from penstock.runtime.step import Step
from penstock.state.waiting import Cancellation


class PartialRunRecord:
    """What a partial run has named ahead, and what of it has been fed, fetched and run."""

    def __init__(
        self, feeds: Sequence[Tensor], fetches: Sequence[Tensor], targets: Sequence[Operation]
    ):
        self._feeds = set(feeds)
        self._elements: set[Tensor | Operation] = {*fetches, *targets}
        self.fed: set[Tensor] = set()
        self.fetched: set[Tensor | Operation] = set()

    @property
    def is_fetched(self) -> bool:
        """Whether all fetches and targets that were named ahead have been run."""
        return len(self.fetched) == len(self._elements)

    @property
    def is_over(self) -> bool:
        """Whether all that was named ahead has been fed, fetched and run."""
        return self.is_fetched and len(self.fed) == len(self._feeds)

    def check(self, feeds: Iterable[Tensor], elements: Iterable[Tensor | Operation]) -> None:
        """Raises if the next part feeds or fetches what was not named, or has been already."""
        for tensor in feeds:
            if tensor not in self._feeds:
                raise errors.InvalidArgumentError(
                    None, None, f"The feed {tensor.name} was not specified in partial_run_setup."
                )
            if tensor in self.fed:
                raise errors.InvalidArgumentError(
                    None, None, f"The feed {tensor.name} has already been fed."
                )
        for element in elements:
            if element not in self._elements:
                raise errors.InvalidArgumentError(
                    None, None, f"The fetch {element.name} was not specified in partial_run_setup."
                )
            if element in self.fetched:
                raise errors.InvalidArgumentError(
                    None, None, f"The fetch {element.name} has already been fetched."
                )


def not_fed(tensor: Tensor) -> errors.InvalidArgumentError:
    """What is said of a part that needs a feed which has not come yet."""
    return errors.InvalidArgumentError(
        None,
        None,
        f"Fetch {tensor.name} can't be computed from the feeds that have been fed so far.",
    )


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
        self._record = PartialRunRecord(feeds, fetches, targets)
        self._execution = Execution(step, bound, Step(None, cancellation))

    def run(
        self, feeds: dict[Tensor, Any], fetches: Sequence[Tensor], targets: Sequence[Operation]
    ) -> list[Any]:
        """Feeds, runs what fetches and targets need, and returns the values of the fetches."""
        self._record.check(feeds, [*fetches, *targets])
        self._record.fed.update(feeds)
        self._execution.feed({self._feeds[tensor]: value for tensor, value in feeds.items()})
        edges = [self._edges[tensor] for tensor in fetches]
        nodes = [self._targets[op] for op in targets]
        wanted = needed_for(self._step, edges, nodes)
        self._check_fed(wanted)
        self._execution.run(wanted)
        self._record.fetched.update((*fetches, *targets))
        values = [self._execution.fetch(edge) for edge in edges]
        if self._record.is_fetched:
            self._execution.values_are_done()
        return values

    @property
    def is_over(self) -> bool:
        """Whether all that was named ahead has been fed, fetched and run."""
        return self._record.is_over

    def _check_fed(self, wanted: set[Node]) -> None:
        for tensor, node in self._feeds.items():
            if node in wanted and node not in self._execution.done:
                raise not_fed(tensor)
