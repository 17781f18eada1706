"""Partial runs of a session: what their setup checks, and the errors of their handles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock import errors
from penstock.client.fetches import Fetches
from penstock.ir.graph import Graph
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
