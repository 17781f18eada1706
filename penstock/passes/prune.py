"""The first pass: the part of a graph that a run needs, as a step graph of its own."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

from penstock import errors
from penstock.ir.import_checks import input_types
from penstock.ir.operation import Operation
from penstock.ir.step_graph import FEED, Edge, Node, StepGraph, is_back_edge
from penstock.ir.tensor import Tensor

_PLACEHOLDERS = ("Placeholder", "PlaceholderV2", "PlaceholderWithDefault")


def prune(
    feeds: Sequence[Tensor], fetches: Sequence[Tensor], targets: Sequence[Operation]
) -> StepGraph:
    """Copies what `fetches` and `targets` need, cut off at the fed tensors."""
    fed = {tensor: _feed_node(tensor) for tensor in feeds}
    needed = _needed([t._op for t in fetches if t not in fed], targets, fed)
    for op in needed:
        if op in op.graph._rewired:
            _check_inputs(op)
    nodes = {op: _copy(op) for op in needed}
    for op, node in nodes.items():
        node.inputs = [_edge(tensor, fed, nodes) for tensor in op._inputs]
        node.controls = [nodes[control] for control in op._control_inputs if control in nodes]
    ordered = topological([*fed.values(), *nodes.values()])
    return StepGraph(
        ordered,
        [fed[tensor] for tensor in feeds],
        [_edge(tensor, fed, nodes) for tensor in fetches],
        [nodes[op] for op in targets],
    )


def _check_inputs(op: Operation) -> None:
    """Refuses inputs that an update gave a node, though it takes others."""
    try:
        input_types(op.spec, op.name, op._inputs, op.attrs)
    except ValueError as error:
        raise errors.InvalidArgumentError(None, None, str(error)) from None


def _feed_node(tensor: Tensor) -> Node:
    dtype = tensor.dtype.base_dtype
    return Node(
        FEED,
        f"_feed/{tensor.name}",
        {"dtype": dtype},
        [dtype],
        [tensor._shape],
        tensor._op,
        order=-1,
    )


def _copy(op: Operation) -> Node:
    return Node(
        op.spec,
        op._name,
        op.attrs,
        [tensor._dtype for tensor in op._outputs],
        [tensor._shape for tensor in op._outputs],
        op,
        op._id,
        op._device,
    )


def _edge(tensor: Tensor, fed: dict[Tensor, Node], nodes: dict[Operation, Node]) -> Edge:
    feed = fed.get(tensor)
    return Edge(feed, 0) if feed is not None else Edge(nodes[tensor._op], tensor._value_index)


def _needed(
    roots: Iterable[Operation], targets: Iterable[Operation], fed: dict[Tensor, Node]
) -> list[Operation]:
    # A placeholder that is fed has nothing to run, so that waiting for it is waiting for its feed.
    done_by_feed = {tensor._op for tensor in fed if tensor._op.spec.name in _PLACEHOLDERS}
    found: set[Operation] = set()
    pending = [*roots, *targets]
    while pending:
        op = pending.pop()
        if op in found:
            continue
        found.add(op)
        pending.extend(t._op for t in op._inputs if t not in fed and t._op not in found)
        pending.extend(c for c in op._control_inputs if c not in found and c not in done_by_feed)
    return sorted(found, key=lambda op: op._id)


def topological(nodes: Sequence[Node]) -> list[Node]:
    """Producers first, and by order of creation where that leaves a choice.

    What the nodes use of others, the nodes around a region, does not count.
    """
    if _is_sorted(nodes):
        return list(nodes)
    waiting: dict[Node, int] = {}
    consumers: dict[Node, list[Node]] = {node: [] for node in nodes}
    for node in nodes:
        producers = {p for p in node.producers() if not is_back_edge(p, node) and p in consumers}
        waiting[node] = len(producers)
        for producer in producers:
            consumers[producer].append(node)
    rank = {node: i for i, node in enumerate(nodes)}
    ready = [rank[node] for node in nodes if waiting[node] == 0]
    heapq.heapify(ready)
    ordered: list[Node] = []
    while ready:
        node = nodes[heapq.heappop(ready)]
        ordered.append(node)
        for consumer in consumers[node]:
            waiting[consumer] -= 1
            if waiting[consumer] == 0:
                heapq.heappush(ready, rank[consumer])
    if len(ordered) < len(nodes):
        stuck = [node.name for node in nodes if waiting[node] > 0]
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Graph is invalid, contains a cycle with {len(stuck)} nodes, including: "
            f"{', '.join(stuck[:5])}",
        )
    return ordered


def _is_sorted(nodes: Sequence[Node]) -> bool:
    seen: set[Node] = set()
    for node in nodes:
        if any(p not in seen for p in node.producers() if not is_back_edge(p, node)):
            return False
        seen.add(node)
    return True
