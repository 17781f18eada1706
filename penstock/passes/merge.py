"""Common-subexpression elimination: nodes that compute the same are computed once."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.ir.registry import CONTROL_FLOW
from penstock.ir.step_graph import Edge, Node, StepGraph

_LARGEST_KEY = 4096  # bytes of a constant that is worth comparing


def merge_equal(step: StepGraph) -> None:
    """Merges nodes of one type, with the same attrs, inputs, control inputs and device."""
    first: dict[Any, Node] = {}
    replaced_node: dict[Node, Node] = {}
    replaced: dict[Edge, Edge] = {}
    for node in step.nodes:
        node.inputs = [replaced.get(edge, edge) for edge in node.inputs]
        node.controls = list(dict.fromkeys(replaced_node.get(c, c) for c in node.controls))
        key = _key(node)
        if key is None:
            continue
        same = first.setdefault(key, node)
        if same is not node:
            replaced_node[node] = same
            replaced.update({Edge(node, i): Edge(same, i) for i in range(len(node.dtypes))})
    step.targets = [replaced_node.get(node, node) for node in step.targets]
    step.replace(replaced)
    step.drop_unused()


def _key(node: Node) -> Any:
    if node.spec.is_stateful or CONTROL_FLOW in node.spec.traits:
        return None
    if node.type in ("_Feed", "Placeholder", "PlaceholderV2"):
        return None
    if not node.dtypes or any(edge.dtype.is_ref_dtype for edge in node.inputs):
        return None  # a read of state may come before or after a write
    inputs: Any = node.inputs
    if node.spec.is_commutative and len(inputs) == 2:
        inputs = sorted(inputs, key=lambda edge: (edge.node.order, id(edge.node), edge.index))
    edges = tuple((id(edge.node), edge.index) for edge in inputs)
    try:
        attrs = tuple(
            (k, _freeze(v)) for k, v in sorted(node.attrs.items()) if k[0] != "_" or k == "_kernel"
        )
    except TypeError:
        return None
    controls = tuple(sorted(id(control) for control in node.controls))
    return node.type, node.device, edges, controls, attrs


def _freeze(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_freeze(entry) for entry in value)
    if isinstance(value, np.ndarray):
        if value.dtype == object or value.nbytes > _LARGEST_KEY:
            return id(value)
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, float):
        return value.hex()  # tells 0.0 from -0.0, and NaN equals itself
    if isinstance(value, bool):
        return ("bool", value)
    if value is None or isinstance(value, (int, str, bytes, tuple)):
        return value
    if hasattr(value, "as_datatype_enum"):
        return ("type", value.as_datatype_enum)
    return id(value)
