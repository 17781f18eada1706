"""Gradients of ReLUs behind a pooling, over the pooled image: a quarter of the other or less.

The largest value of a window passes its ReLU if and only if the pooled value is positive, and
the pooling hands the gradient to that value alone. So what the ReLU stops may as well be stopped
before the gradient is spread over the image, and what sums it over all pixels, for a bias, may sum
the pooled ones. Forward nothing changes.
"""

from __future__ import annotations

from collections import defaultdict

from penstock.ir.step_graph import Edge, Node, StepGraph


def rectify_pooled_gradients(step: StepGraph) -> None:
    """Exchanges gradients of poolings with those of the ReLUs before them."""
    if step.has_control_flow:
        return
    users: dict[Edge, list[Node]] = defaultdict(list)
    for node in step.nodes:
        for edge in node.inputs:
            users[edge].append(node)
    fetched = set(step.fetches)
    for unpooling in [node for node in step.nodes if node.type == "MaxPoolGrad"]:
        rectifying = _matched(unpooling, users, fetched)
        if rectifying is not None:
            _exchange(step, unpooling, rectifying)


def _matched(unpooling: Node, users: dict[Edge, list[Node]], fetched: set[Edge]) -> Node | None:
    """The gradient of the ReLU whose values were pooled, if it alone takes the pooling's."""
    activated, pooled, _ = unpooling.inputs
    pool, spread = pooled.node, Edge(unpooling, 0)
    if activated.node.type != "Relu" or pool.type != "MaxPool" or pool.inputs[0] != activated:
        return None
    if not pool.dtypes[0].is_floating or spread in fetched or len(users[spread]) != 1:
        return None
    shared = ("ksize", "strides", "padding", "data_format")
    if any(pool.attrs.get(key) != unpooling.attrs.get(key) for key in shared):
        return None
    (rectifying,) = users[spread]
    if rectifying.type != "ReluGrad" or rectifying.inputs != [spread, activated]:
        return None
    both = (unpooling, rectifying)
    if unpooling.device != rectifying.device or any(n.controls or n.guard for n in both):
        return None
    return rectifying


def _exchange(step: StepGraph, unpooling: Node, rectifying: Node) -> None:
    activated, pooled, gradient = unpooling.inputs
    before, after = Edge(rectifying, 0), Edge(unpooling, 0)
    step.fetches = [after if edge == before else edge for edge in step.fetches]
    for node in step.nodes:
        if before in node.inputs and not _sums_channels(node):
            node.inputs = [after if edge == before else edge for edge in node.inputs]
    rectifying.inputs = [gradient, pooled]
    rectifying.shapes = list(pooled.node.shapes[:1])
    unpooling.inputs = [activated, pooled, before]
    for node in step.nodes:
        # Whoever waited for the last of the two still does.
        if rectifying in node.controls:
            node.controls = list(dict.fromkeys([*node.controls, unpooling]))
    step.nodes.remove(rectifying)
    step.nodes.insert(step.nodes.index(unpooling), rectifying)


def _sums_channels(node: Node) -> bool:
    return node.type == "BiasAddGrad"
