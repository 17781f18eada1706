"""A ReLU's gradient and its sum over pixels, for the bias, in one pass over memory.

Behind a biased and rectified layer the gradient that passes the ReLU is written once for the
convolution's gradients, and read once more by the sum that is the bias's. One kernel that adds up
while it writes spares the second reading.
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.ir.registry import op
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.ir.type_sets import FLOATING

RELU_GRAD_AND_SUM = op(
    "_ReluGradAndSum(gradients: T, features: T) -> backprops: T, sum: T", T=FLOATING
)


def sum_rectified_gradients(step: StepGraph, may_join: Callable[[Node], bool]) -> None:
    """Replaces pairs of gradients by one node, in the place of the ReLU's.

    It runs on a placed step; `may_join` says of a node whether its device can do so.
    """
    if step.has_control_flow:
        return
    joined: dict[Node, Node] = {}
    replaced: dict[Edge, Edge] = {}
    for node in step.nodes:
        if node.type != "BiasAddGrad" or node.attrs["data_format"] != "NHWC":
            continue
        rectifying = node.inputs[0].node
        if rectifying.type != "ReluGrad" or rectifying in joined or not may_join(rectifying):
            continue
        pair = (rectifying, node)
        if rectifying.device != node.device or any(n.controls or n.guard for n in pair):
            continue
        made = _joined(rectifying, node)
        joined[rectifying] = joined[node] = made
        replaced[Edge(rectifying, 0)], replaced[Edge(node, 0)] = Edge(made, 0), Edge(made, 1)
    step.join(joined, replaced)


def _joined(rectifying: Node, summing: Node) -> Node:
    made = Node(
        RELU_GRAD_AND_SUM,
        rectifying.name,
        {"T": rectifying.attrs["T"]},
        [rectifying.dtypes[0], summing.dtypes[0]],
        [rectifying.shapes[0], summing.shapes[0]],
        rectifying.origin,
        rectifying.order,
        rectifying.device,
    )
    made.inputs = list(rectifying.inputs)
    return made
