"""Gradient descent in the product that computes the gradient: `w -= rate * (a @ b)` in one call.

The gradient of a fully connected layer's weights is a product of matrices whose result is as large
as the weights. BLAS adds a product to a matrix while it writes it, so the gradient itself needs no
memory, and the weights go through it once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from penstock import dtypes
from penstock.ir.registry import STATEFUL, WRITES, OpSpec, op
from penstock.ir.signature import attr
from penstock.ir.step_graph import Edge, Node, StepGraph

_ATTRS = {"T": attr("type"), "transpose_a": False, "transpose_b": False, "use_locking": False}

#: The op that takes two factors instead of a gradient, by the op of the update.
DESCENTS: dict[str, OpSpec] = {
    "ApplyGradientDescent": op(
        "_ApplyGradientDescentOfProduct(var: &T, alpha: T, a: T, b: T) -> out: &T",
        STATEFUL,
        WRITES,
        **_ATTRS,
    ),
    "ResourceApplyGradientDescent": op(
        "_ResourceApplyGradientDescentOfProduct(var: resource, alpha: T, a: T, b: T)",
        STATEFUL,
        WRITES,
        **_ATTRS,
    ),
}


def descend_in_products(step: StepGraph, may_join: Callable[[Node, Node], bool]) -> None:
    """Lets updates of weights compute the product that is their gradient.

    It runs on a placed and ordered step; `may_join` says of an update and a product whether their
    device can do so, and whether the factors lie in no memory that the update changes.
    """
    if step.has_control_flow:
        return
    uses: dict[Edge, int] = {}
    for edge in [edge for node in step.nodes for edge in node.inputs] + step.fetches:
        uses[edge] = uses.get(edge, 0) + 1
    needed = {c for node in step.nodes if not _only_orders(node) for c in node.controls}
    needed.update(step.targets)
    gone: set[Node] = set()
    for node in step.nodes:
        if node.type not in DESCENTS or node.attrs["use_locking"]:
            continue
        *passed_on, product = _behind(node.inputs[2], uses)
        if not _fits(product, node) or uses[Edge(product, 0)] > 1:
            continue
        if not needed.isdisjoint((*passed_on, product)) or not may_join(node, product):
            continue
        _join(node, product, passed_on)
        gone.update((*passed_on, product))
    step.nodes = [node for node in step.nodes if node not in gone]
    for node in step.nodes:
        if not gone.isdisjoint(node.controls):
            node.controls = [control for control in node.controls if control not in gone]


def _only_orders(node: Node) -> bool:
    """Whether a node does nothing but wait, as what gates the gradients of one op."""
    return node.type == "NoOp"


def _behind(edge: Edge, uses: dict[Edge, int]) -> list[Node]:
    """The nodes that only pass a value on to one who takes it, then the one that made it."""
    found = [edge.node]
    while found[-1].type == "Identity" and uses[Edge(found[-1], 0)] == 1 and not found[-1].guard:
        found.append(found[-1].inputs[0].node)
    return found


def _fits(product: Node, update: Node) -> bool:
    """Whether a product is a gradient that the constant rate of an update scales."""
    if product.type != "MatMul" or product.dtypes[0] is not dtypes.float32:
        return False
    if product.device != update.device or product.controls or product.guard or update.guard:
        return False
    rate = update.inputs[1].node
    return rate.type == "Const" and np.ndim(rate.attrs["value"]) == 0


def _join(update: Node, product: Node, passed_on: list[Node]) -> None:
    """Gives the update the factors, and what those who passed the gradient on waited for."""
    update.spec = DESCENTS[update.type]
    turned = {key: product.attrs[key] for key in ("transpose_a", "transpose_b")}
    update.attrs = {"T": update.attrs["T"], "use_locking": False, **turned}
    update.inputs = [*update.inputs[:2], *product.inputs]
    waits = [control for node in passed_on for control in node.controls]
    update.controls = list(dict.fromkeys([*update.controls, *waits]))
