"""Constant folding: nodes whose value the graph determines are computed once, when compiling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock import shapes
from penstock.dtypes import variant
from penstock.ir import registry
from penstock.ir.registry import CONTROL_FLOW
from penstock.ir.step_graph import Edge, Node, StepGraph, feed_decides_shapes

LARGEST_BYTES = 10 * 2**20  # a folded value stays in memory for as long as the plan

# evaluate(node, input values) -> one value per output, or None where it can't be computed now
Evaluate = Callable[[Node, list[Any]], "list[Any] | None"]


def fold_constants(step: StepGraph, evaluate: Evaluate) -> None:
    """Replaces nodes with constant inputs, and reads of known shapes, by constants."""
    in_branches = step.has_control_flow
    trusts_shapes = not any(feed_decides_shapes(feed) for feed in step.feeds)
    constants: dict[Node, None] = {n: None for n in step.nodes if n.type == "Const"}
    replaced: dict[Edge, Edge] = {}
    kept: list[Node] = []
    needed_as_control = {c for node in step.nodes for c in node.controls}.union(step.targets)
    for node in step.nodes:
        node.inputs = [replaced.get(edge, edge) for edge in node.inputs]
        values = _values(node, constants, evaluate, trusts_shapes)
        if values is None:
            kept.append(node)
            continue
        for i, value in enumerate(values):
            constant = _constant(node, i, value, in_branches)
            constants[constant] = None
            kept.append(constant)
            replaced[Edge(node, i)] = Edge(constant, 0)
        if node in needed_as_control:
            kept.append(node)
    step.nodes = kept
    step.replace(replaced)
    step.drop_unused()


def _values(
    node: Node, constants: dict[Node, None], evaluate: Evaluate, trusts_shapes: bool
) -> list[Any] | None:
    spec = node.spec
    if spec.is_stateful or CONTROL_FLOW in spec.traits or not node.dtypes:
        return None
    if node.type in ("Const", "_Feed"):
        return None
    reads_shapes_only = getattr(spec.fold_rule, "reads_shapes_only", False)
    reads_shapes_only = reads_shapes_only and not _is_on_branch(node)
    if trusts_shapes and reads_shapes_only and not node.controls and not _reads_variable(node):
        result = spec.fold_rule(node.origin) if node.origin is not None else None  # type: ignore[misc]
        if result is not None:
            values = result if isinstance(result, list) else [result]
            types = [dtype.as_numpy_dtype for dtype in node.dtypes]
            return [_typed(value, dtype) for value, dtype in zip(values, types, strict=True)]
    # Without inputs of any kind, a node is a source (a placeholder, a handle), not a computation.
    if not spec.inputs or any(edge.node not in constants for edge in node.inputs):
        return None
    if any(dtype.is_ref_dtype or dtype is variant for dtype in node.dtypes):
        return None  # a list or an optional is no value that a constant could have
    if not _is_small(node):
        return None
    return evaluate(node, [edge.node.attrs["value"] for edge in node.inputs])


def _is_on_branch(node: Node) -> bool:
    """Whether an input comes straight from a Switch: waiting for that tells nothing of the side."""
    return any(edge.node.type in ("Switch", "RefSwitch") for edge in node.inputs)


def _reads_variable(node: Node) -> bool:
    """Whether an input is a reference variable's value: to read it fails where there is none."""
    return any(source.dtype.is_ref_dtype for edge in node.inputs for source in edge.node.inputs)


def _typed(value: Any, dtype: Any) -> Any:
    import numpy as np

    return np.asarray(value, dtype=dtype)


def _is_small(node: Node) -> bool:
    for shape, dtype in zip(node.shapes, node.dtypes, strict=True):
        count = shapes.num_elements(shape)
        if count is not None and count * max(dtype.size, 1) > LARGEST_BYTES:
            return False
    return True


def _constant(node: Node, index: int, value: Any, in_branches: bool) -> Node:
    spec = registry.find("Const")
    assert spec is not None
    dtype = node.dtypes[index]
    name = node.name if len(node.dtypes) == 1 else f"{node.name}:{index}"
    attrs = {"value": value, "dtype": dtype}
    shape = tuple(value.shape)
    constant = Node(spec, name, attrs, [dtype], [shape], node.origin, node.order, node.device)
    constant.controls = list(node.controls)
    for edge in node.inputs:
        if edge.node.type == "Const":
            constant.controls += edge.node.controls
        elif in_branches:  # it stays in the frame and on the branch of the node that it replaces
            constant.controls.append(edge.node)
    constant.controls = list(dict.fromkeys(constant.controls))
    return constant
