"""Fusing what one ATen call can do: a factor into the row update that it scales."""

from __future__ import annotations

from typing import Any

from penstock.ir.registry import ADDS_ROWS
from penstock.ir.step_graph import Edge, Node, StepGraph


def fuse_scaled_rows(step: StepGraph) -> None:
    """Lets sums of rows into a variable take a constant factor: `v[i] -= rate * rows`.

    That is how gradient descent updates embeddings; the scaled rows need no memory then.
    """
    uses: dict[Edge, int] = {}
    for edge in [edge for node in step.nodes for edge in node.inputs] + step.fetches:
        uses[edge] = uses.get(edge, 0) + 1
    waited_for = {c for node in step.nodes for c in node.controls}.union(step.targets)
    for node in step.nodes:
        if ADDS_ROWS not in node.spec.traits:
            continue
        product = node.inputs[2].node
        if product in waited_for or product.controls or uses[node.inputs[2]] > 1:
            continue
        scaled = _scaled(product)
        if scaled is not None:
            rows, factor = scaled
            node.attrs = {**node.attrs, "_scale": factor}
            node.inputs = [*node.inputs[:2], rows]
    step.drop_unused()


def _scaled(node: Node) -> tuple[Edge, float] | None:
    """For a product of a floating-point value and a scalar constant: the two."""
    if node.type != "Mul" or not node.dtypes[0].is_floating:
        return None
    for rows, factor in (node.inputs, reversed(node.inputs)):
        # One that waits for something may be on one side of a condition.
        is_constant = factor.node.type == "Const" and not factor.node.controls
        constant: Any = factor.node.attrs.get("value") if is_constant else None
        if constant is not None and tuple(constant.shape) == () and rows.shape != ():
            return rows, float(constant)
    return None
