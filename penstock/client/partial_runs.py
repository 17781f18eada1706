"""Partial runs of a session: what their setup checks, and what is kept of one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from penstock import errors
from penstock.client.fetches import Fetches
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor


def check_named(graph: Graph, feeds: Iterable[Any], fetches: Fetches) -> list[Tensor]:
    """The tensors of the feeds of a partial run; raises if it could never run."""
    from penstock.client.feeds import expand_key  # which imports torch

    if not fetches.tensors and not fetches.targets:
        raise _invalid("Must specify at least one target to fetch or execute.")
    tensors: list[Tensor] = []
    for key in feeds:
        for tensor in expand_key(graph, key)[0]:
            if tensor in tensors:
                raise _invalid(f'Endpoint "{tensor.name}" fed more than once.')
            tensors.append(tensor)
    for tensor in fetches.tensors:
        if tensor in tensors:
            raise _invalid(f"{tensor.name} is both fed and fetched.")
    return tensors


def never_set_up(on_server: bool) -> errors.InvalidArgumentError:
    """The error of a handle that no setup has given, or whose step has ended."""
    if on_server:
        return _invalid("Must run PartialRunSetup before performing partial runs")
    return _invalid("Must run 'setup' before performing partial runs!")


def _invalid(message: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, message)


class PendingPartialRun:
    """A partial run of a runtime; it is over when all has been fed and fetched."""

    def __init__(self, partial: Any, feeds: Sequence[Tensor]):
        self._partial = partial
        self._awaited = set(feeds)

    def run(
        self, feeds: dict[Tensor, Any], fetches: Sequence[Tensor], targets: Sequence[Operation]
    ) -> list[Any]:
        """Runs the next part, and returns the values of its fetches."""
        values: list[Any] = self._partial.run(feeds, fetches, targets)
        self._awaited.difference_update(feeds)
        return values

    @property
    def is_over(self) -> bool:
        """Whether nothing of the step is left."""
        return not self._awaited and self._partial.is_over
