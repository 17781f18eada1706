"""Recomputation on request: cheap values that gradients use are computed again beside them.

A training step keeps what its gradients will need from the forward part until they come. What is
cheap to compute (activations, casts, elementwise arithmetic) from values that are kept anyway need
not be kept as well: a copy of the node computes it again where the gradients ask for it.

1. Targets are the nodes of a name scope, `gradients/` if nothing else is asked for.
2. Cheap nodes that hang together are recomputed together, and only if that frees more than it
   keeps. A node with the attr `_recompute_hint` counts as cheap.
3. A copy waits for what its user has from the backward part, so that no executor runs it early.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from penstock import dtypes
from penstock.ir.registry import CONTROL_FLOW
from penstock.ir.step_graph import Edge, Node, StepGraph

SCOPE = "gradients/"

CHEAP = frozenset(
    "Add AddN AddV2 BiasAdd Cast Elu Fill FloorDiv FloorMod FusedBatchNorm FusedBatchNormV2 "
    "FusedBatchNormV3 LeakyRelu Mul Neg RealDiv Reciprocal Relu Relu6 Reshape Rsqrt Selu Sigmoid "
    "Softplus Sqrt Square SquaredDifference Sub Tanh Tile Transpose".split()
)
_GIVEN = frozenset("Const _Feed VariableV2 Variable VarHandleOp ReadVariableOp".split())
_UNKNOWN = 32  # stands for a size that only a run knows: a batch


def recompute(step: StepGraph, scope: str = SCOPE) -> None:
    """Lets the nodes of a scope use copies of cheap nodes, where that frees memory."""
    outside = _not_in_branches(step)
    targets = {node for node in step.nodes if node in outside and _is_in(scope, node)}
    if not targets:
        return
    again = _worthwhile(step, targets, outside)
    if again:
        _put_copies_in(step, targets, again)


def _is_in(scope: str, node: Node) -> bool:
    return node.name.startswith(scope) or f"/{scope}" in node.name


def _not_in_branches(step: StepGraph) -> set[Node]:
    """The nodes that run once in every step: nothing before them decides whether they do."""
    found: set[Node] = set()
    for node in step.nodes:
        decides = CONTROL_FLOW in node.spec.traits
        if not decides and all(producer in found for producer in node.producers()):
            found.add(node)
    return found


def _is_cheap(node: Node) -> bool:
    if node.spec.is_stateful or not node.dtypes or node.controls:
        return False
    return node.type in CHEAP or "_recompute_hint" in node.attrs


# What to recompute ----------------------------------------------------------------------------


def _worthwhile(step: StepGraph, targets: set[Node], outside: set[Node]) -> set[Node]:
    """The cheap nodes that free more memory than they keep, for the time until the gradients."""
    cheap = {n for n in step.nodes if n in outside and n not in targets and _is_cheap(n)}
    wanted = _wanted(step, targets, cheap)
    held = {edge for node in targets for edge in node.inputs} | set(step.fetches)
    found: set[Node] = set()
    for group in _groups(step, wanted):
        freed = sum(_bytes(e) for e in held if e.node in group and e not in step.fetches)
        inputs = {edge for node in group for edge in node.inputs if edge.node not in group}
        kept = sum(_bytes(edge) for edge in inputs - held if not _is_kept_anyway(edge))
        if freed > kept:
            found |= group
    return found


def _wanted(step: StepGraph, targets: set[Node], cheap: set[Node]) -> set[Node]:
    """The cheap nodes that targets use, and those that are needed to compute them again."""
    asked_for = [edge.node for node in targets for edge in node.inputs if edge.node in cheap]
    found: set[Node] = set()
    pending = list(asked_for)
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            pending += [edge.node for edge in node.inputs if edge.node in cheap]
    return found


def _groups(step: StepGraph, nodes: set[Node]) -> Iterable[set[Node]]:
    """The nodes in sets that no edge connects."""
    home: dict[Node, set[Node]] = {}
    for node in step.nodes:
        if node not in nodes:
            continue
        group = {node}
        for edge in node.inputs:
            group |= home.get(edge.node, set())
        for member in group:
            home[member] = group
    return {id(group): group for group in home.values()}.values()


def _is_kept_anyway(edge: Edge) -> bool:
    """Whether a value costs nothing to keep: it is given, or a view of what is."""
    return (
        edge.node.type in _GIVEN
        or edge.dtype.is_ref_dtype
        or (edge.node.type == "Identity" and _is_kept_anyway(edge.node.inputs[0]))
    )


def _bytes(edge: Edge) -> int:
    if edge.dtype.base_dtype in (dtypes.string, dtypes.resource, dtypes.variant):
        return 0
    sizes = [_UNKNOWN if size is None else size for size in edge.shape or ()]
    return math.prod(sizes) * edge.dtype.base_dtype.size


# Copies ---------------------------------------------------------------------------------------


def _put_copies_in(step: StepGraph, targets: set[Node], again: set[Node]) -> None:
    """Gives the targets copies, each right before its first use."""
    copies: dict[Node, Node] = {}
    nodes: list[Node] = []

    def copied(node: Node, after: list[Node]) -> Node:
        if node not in copies:
            made = node.copy()
            made.name = f"{node.name}/again"
            made.inputs = [
                Edge(copied(e.node, after), e.index) if e.node in again else e for e in node.inputs
            ]
            made.controls = after
            copies[node] = made
            nodes.append(made)
        return copies[node]

    for node in step.nodes:
        if node in targets:
            after = [edge.node for edge in node.inputs if edge.node in targets]
            if after or any(edge.node in copies for edge in node.inputs):
                node.inputs = [
                    Edge(copied(e.node, after), e.index) if e.node in again else e
                    for e in node.inputs
                ]
        nodes.append(node)
    step.nodes = nodes
    step.drop_unused()
