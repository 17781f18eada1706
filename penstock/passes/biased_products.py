"""Biases and ReLUs in the product of matrices before them: what a linear layer consists of.

`relu(matmul(a, b) + bias)` is one call of ATen, which adds and rectifies while it writes the
product. It is done where every layer's sizes are known, so that a product that does not fit is
still one of the user's own node.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from penstock.ir.registry import op
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.ir.type_sets import FLOATING

BIASED_PRODUCT = op(
    "_BiasedMatMul(a: T, b: T, bias: T) -> product: T",
    transpose_a=False,
    transpose_b=False,
    rectified=False,
    T=FLOATING,
)

_ADDITIONS = ("BiasAdd", "BiasAddV1", "Add", "AddV2")


def add_bias_in_products(step: StepGraph, may_join: Callable[[Node], bool]) -> None:
    """Replaces products, the biases added to them and the ReLUs behind by one node each.

    It runs on a placed step; `may_join` says of a node whether its device can do so. Nodes that are
    neighbours are in the same branch and the same iteration.
    """
    position = {node: i for i, node in enumerate(step.nodes)}
    users: dict[Node, list[Node]] = defaultdict(list)
    for node in step.nodes:
        for edge in node.inputs:
            users[edge.node].append(node)
    fetched = {edge.node for edge in step.fetches}
    joined: dict[Node, Node] = {}
    for node in step.nodes:
        if node.type != "MatMul" or not may_join(node):
            continue
        chain = _chain(node, users, fetched)
        bias = _bias(node, chain[1]) if len(chain) > 1 else None
        if bias is None or position[bias.node] > position[node]:
            continue
        made = _joined(chain, bias)
        joined.update(dict.fromkeys(chain, made))
    step.join(joined)


def _chain(product: Node, users: dict[Node, list[Node]], fetched: set[Node]) -> list[Node]:
    """The product, the addition and the ReLU that are one after the other, as far as they go."""
    chain = [product]
    for types in (_ADDITIONS, ("Relu",)):
        last = chain[-1]
        # All of them have one shape: whoever asks for it may ask the last one.
        takers = [user for user in users[last] if user.type != "Shape"]
        if last in fetched or len(takers) != 1:
            break
        if takers[0].type not in types or takers[0].device != product.device:
            break
        chain.append(takers[0])
    return [] if any(node.controls or node.guard for node in chain) else chain


def _bias(product: Node, addition: Node) -> Edge | None:
    """What is added, if it is a vector with one entry per column."""
    a, b = (edge.shape for edge in product.inputs)
    if a is None or b is None or None in b or not product.dtypes[0].is_floating:
        return None
    inner, columns = reversed(b) if product.attrs["transpose_b"] else b
    if a[0 if product.attrs["transpose_a"] else 1] != inner:
        return None
    others = [edge for edge in addition.inputs if edge.node is not product]
    return others[0] if len(others) == 1 and others[0].shape == (columns,) else None


def _joined(chain: list[Node], bias: Edge) -> Node:
    product, last = chain[0], chain[-1]
    attrs = {key: product.attrs[key] for key in ("transpose_a", "transpose_b", "T")}
    made = Node(
        BIASED_PRODUCT,
        last.name,
        {**attrs, "rectified": last.type == "Relu"},
        last.dtypes,
        last.shapes,
        product.origin,
        product.order,
        product.device,
    )
    made.inputs = [*product.inputs, bias]
    return made
