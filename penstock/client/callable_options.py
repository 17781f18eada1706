"""What the names in a CallableOptions message stand for in a session's graph."""

from __future__ import annotations

from typing import Any

from penstock import errors
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor


def named_in_options(
    graph: Graph, options: Any
) -> tuple[list[Tensor], list[Tensor], list[Operation]]:
    """The tensors to feed, those to fetch, and the operations to run."""
    if options.tensor_connection:
        raise errors.UnimplementedError(
            None, None, "CallableOptions.tensor_connection is not possible: feed the tensor"
        )
    if not options.fetch and not options.target:
        raise _invalid("Must specify at least one target to fetch or execute.")
    repeated = [name for name in options.feed if list(options.feed).count(name) > 1]
    if repeated:
        raise _invalid(f'Endpoint "{repeated[0]}" fed more than once.')
    return (
        [_tensor(graph, name) for name in options.feed],
        [_tensor(graph, name) for name in options.fetch],
        [_operation(graph, name) for name in options.target],
    )


def _invalid(message: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, message)


def _tensor(graph: Graph, name: str) -> Tensor:
    try:
        return graph.get_tensor_by_name(name if ":" in name else f"{name}:0")
    except (KeyError, ValueError):
        raise _invalid(
            f"Tensor {name}, which CallableOptions name, was not found in the graph."
        ) from None


def _operation(graph: Graph, name: str) -> Operation:
    try:
        return graph.get_operation_by_name(name)
    except (KeyError, ValueError):
        raise errors.NotFoundError(
            None, None, f"PruneForTargets: Some target nodes not found: {name}"
        ) from None
