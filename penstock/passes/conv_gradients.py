"""Both gradients of a convolution in one call: ATen computes them together.

Input and filter gradients are two nodes which take the same gradient of the output. As one they
bring it, the image and the filter into the library's layout once, and pad the image once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from penstock import shapes
from penstock.ir.registry import op
from penstock.ir.signature import attr
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.ir.type_sets import FLOATING

CONV_GRADIENTS = op(
    "_Conv2DGradients(input: T, filter: T, out_backprop: T) "
    "-> input_backprop: T, filter_backprop: T",
    T=FLOATING,
    strides=attr("list(int)"),
    padding="VALID",
    explicit_paddings=attr("list(int)", []),
    data_format="NHWC",
    dilations=attr("list(int)", [1, 1, 1, 1]),
)

_SHARED = ("strides", "padding", "explicit_paddings", "data_format", "dilations")


def join_conv_gradients(step: StepGraph, may_join: Callable[[Node], bool]) -> None:
    """Replaces the two gradients of a convolution by one node, where both are computed.

    It runs on a placed step; `may_join` says of a node whether its device can do so.
    """
    if step.has_control_flow:
        return
    position = {node: i for i, node in enumerate(step.nodes)}
    of_inputs = {
        node.inputs[2]: node
        for node in step.nodes
        if node.type == "Conv2DBackpropInput" and may_join(node)
    }
    joined: dict[Node, Node] = {}
    replaced: dict[Edge, Edge] = {}
    for node in step.nodes:
        other = of_inputs.get(node.inputs[2]) if node.type == "Conv2DBackpropFilter" else None
        if other is None or other in joined or not _of_one_convolution(other, node):
            continue
        made = _joined(other, node)
        start = min(position[other], position[node])
        if any(position[edge.node] > start for edge in made.inputs):
            continue
        joined[other] = joined[node] = made
        replaced[Edge(other, 0)], replaced[Edge(node, 0)] = Edge(made, 0), Edge(made, 1)
    if joined:
        step.join(joined, replaced)
        step.drop_unused()


def _of_one_convolution(of_input: Node, of_filter: Node) -> bool:
    """Whether both nodes belong to one convolution, whose image and filter they name."""
    if of_input.device != of_filter.device or any(
        node.controls or node.guard for node in (of_input, of_filter)
    ):
        return False
    if any(of_input.attrs.get(key) != of_filter.attrs.get(key) for key in _SHARED):
        return False
    if not of_input.dtypes[0].is_floating or of_input.dtypes != of_filter.dtypes:
        return False
    image, kernel = of_filter.inputs[0], of_input.inputs[1]
    return _is_shape(of_input.inputs[0], image) and _is_shape(of_filter.inputs[1], kernel)


def _is_shape(sizes: Edge, value: Edge) -> bool:
    """Whether an edge surely has the shape of a value."""
    node = sizes.node
    if node.type in ("Shape", "ShapeN"):
        return node.inputs[sizes.index] == value
    if node.type != "Const" or not shapes.is_full(value.shape):
        return False
    return np.asarray(node.attrs["value"]).tolist() == list(value.shape or ())


def _joined(of_input: Node, of_filter: Node) -> Node:
    attrs = {key: of_input.attrs[key] for key in (*_SHARED, "T") if key in of_input.attrs}
    made = Node(
        CONV_GRADIENTS,
        of_input.name,
        attrs,
        [*of_input.dtypes, *of_filter.dtypes],
        [*of_input.shapes, *of_filter.shapes],
        of_input.origin,
        of_input.order,
        of_input.device,
    )
    made.inputs = [of_filter.inputs[0], of_input.inputs[1], of_input.inputs[2]]
    return made
