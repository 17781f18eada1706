"""Removing what only control edges ask for: a pure node that nobody takes a value of.

`tf.tuple` and gated gradients wait for all gradients of a node, also for those that nobody wants
(by the input data, say). Waiting for a computation without effect is waiting for what it waits
for, so that the computation itself can go.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.ir.registry import CONTROL_FLOW
from penstock.ir.step_graph import Node, StepGraph


def remove_dead_ends(step: StepGraph) -> None:
    """Drops pure nodes whose values nobody uses; who waited for one waits for its inputs."""
    if step.has_control_flow:
        return  # a node inside of a branch also says whether the branch was taken
    wanted = {edge.node for edge in step.fetches} | set(step.targets) | set(step.feeds)
    used = {edge.node for node in step.nodes for edge in node.inputs} | wanted
    removed: dict[Node, list[Node]] = {}  # a removed node → what to wait for instead
    for node in reversed(step.nodes):
        if node not in used and _is_pure(node):
            removed[node] = []
    if not removed:
        return
    _remove_users_only_of(step, removed, wanted)
    kept = []
    for node in step.nodes:
        if node in removed:
            removed[node] = _instead(node.producers(), removed)
        else:
            node.controls = _instead(node.controls, removed)
            kept.append(node)
    step.nodes = kept
    step.drop_unused()


def _is_pure(node: Node) -> bool:
    """Whether running a node has no other effect than its values."""
    spec = node.spec
    changes = spec.is_stateful or spec.takes_refs or CONTROL_FLOW in spec.traits
    return bool(node.dtypes) and not changes


def _remove_users_only_of(
    step: StepGraph, removed: dict[Node, list[Node]], wanted: set[Node]
) -> None:
    """A pure node whose values only removed nodes use goes with them."""
    users: dict[Node, int] = {}
    for node in step.nodes:
        for producer in {edge.node for edge in node.inputs}:
            users[producer] = users.get(producer, 0) + 1
    pending = list(removed)
    while pending:
        for producer in {edge.node for edge in pending.pop().inputs}:
            users[producer] -= 1
            if users[producer] == 0 and producer not in wanted and _is_pure(producer):
                removed[producer] = []
                pending.append(producer)


def _instead(nodes: Iterable[Node], removed: dict[Node, list[Node]]) -> list[Node]:
    found: dict[Node, None] = {}
    for node in nodes:
        for replacement in removed.get(node, (node,)):
            found[replacement] = None
    return list(found)
