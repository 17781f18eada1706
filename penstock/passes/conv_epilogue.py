"""Biases and ReLUs in the convolution before them: what a layer of images consists of.

`relu(conv2d(x, w) + bias)` is one call of cuDNN and of oneDNN, which add and rectify while they
write the result, so that it goes through memory once instead of three times.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from penstock import dtypes
from penstock.ir.registry import op
from penstock.ir.signature import attr
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.ir.type_sets import FLOATING

RECTIFIED_CONV = op(
    "_RectifiedConv2D(input: T, filter: T, bias: T) -> output: T",
    T=FLOATING,
    strides=attr("list(int)"),
    padding="VALID",
    explicit_paddings=attr("list(int)", []),
    data_format="NHWC",
    dilations=attr("list(int)", [1, 1, 1, 1]),
)

_ADDITIONS = ("BiasAdd", "BiasAddV1", "Add", "AddV2")


def rectify_in_convolutions(step: StepGraph, may_join: Callable[[Node], bool]) -> None:
    """Replaces convolutions, the biases added to them and the ReLUs behind by one node each.

    It runs on a placed step; `may_join` says of a node whether its device can do so.
    """
    if step.has_control_flow:
        return
    position = {node: i for i, node in enumerate(step.nodes)}
    users: dict[Node, list[Node]] = defaultdict(list)
    for node in step.nodes:
        for edge in node.inputs:
            users[edge.node].append(node)
    fetched = {edge.node for edge in step.fetches}
    joined: dict[Node, Node] = {}
    read_before: dict[Node, Node] = {}
    for node in step.nodes:
        if node.type != "Conv2D" or not may_join(node):
            continue
        chain = _chain(node, users, fetched)
        bias = _bias(node, chain[1]) if chain else None
        if bias is None:
            continue
        if position[bias.node] > position[node]:
            if not _may_read_earlier(bias.node, position, position[node]):
                continue
            read_before[node] = bias.node
        joined.update(dict.fromkeys(chain, _joined(chain, bias)))
    _read_earlier(step, read_before)
    step.join(joined)


def feeds_epilogue(value: Edge) -> bool:
    """Whether a biased value is one that this pass would have its convolution rectify."""
    convolution = value.node
    return convolution.type == "Conv2D" and _is_of_known_channels(convolution)


def _chain(convolution: Node, users: dict[Node, list[Node]], fetched: set[Node]) -> list[Node]:
    """The convolution, the addition and the ReLU, where each is for the next one alone."""
    chain = [convolution]
    for types in (_ADDITIONS, ("Relu",)):
        last = chain[-1]
        # All of them have one shape: whoever asks for it may ask the last one.
        takers = [user for user in users[last] if user.type != "Shape"]
        if last in fetched or len(takers) != 1 or takers[0].type not in types:
            return []
        if takers[0].device != convolution.device:
            return []
        chain.append(takers[0])
    return [] if any(node.controls or node.guard for node in chain) else chain


def _is_of_known_channels(convolution: Node) -> bool:
    """Whether image and filter surely fit each other: an error is the user's own node's."""
    image, kernel = (edge.shape for edge in convolution.inputs)
    if convolution.dtypes[0] is not dtypes.float32:
        return False
    if image is None or kernel is None or len(image) != 4 or None in kernel:
        return False
    channels = image[1 if convolution.attrs["data_format"] == "NCHW" else 3]
    per_group = kernel[2]
    if not channels or not per_group:
        return False
    return channels % per_group == 0


def _bias(convolution: Node, addition: Node) -> Edge | None:
    """What is added, if it is a vector with one entry per channel."""
    if not _is_of_known_channels(convolution):
        return None
    data_format = convolution.attrs["data_format"]
    if addition.type == "BiasAdd":
        if addition.attrs["data_format"] != data_format:
            return None
    elif data_format != "NHWC":  # a plain addition is along the last axis
        return None
    kernel = convolution.inputs[1].shape
    assert kernel is not None
    others = [edge for edge in addition.inputs if edge.node is not convolution]
    return others[0] if len(others) == 1 and others[0].shape == kernel[3:] else None


def _may_read_earlier(read: Node, position: dict[Node, int], place: int) -> bool:
    """Whether a variable's value may be read at a place: the read waits for no update."""
    if read.type != "ReadVariableOp" or read.controls or read.guard:
        return False
    return position[read.inputs[0].node] < place


def _read_earlier(step: StepGraph, read_before: dict[Node, Node]) -> None:
    """Moves reads of biases before the convolutions that now take them."""
    moved = set(read_before.values())
    nodes: list[Node] = []
    for node in step.nodes:
        read = read_before.get(node)
        if read in moved:
            assert read is not None
            moved.remove(read)
            nodes.append(read)
        if node not in read_before.values():
            nodes.append(node)
    step.nodes = nodes


def _joined(chain: list[Node], bias: Edge) -> Node:
    convolution, _, last = chain
    attrs = {
        key: convolution.attrs[key] for key in RECTIFIED_CONV.attrs if key in convolution.attrs
    }
    made = Node(
        RECTIFIED_CONV,
        last.name,
        attrs,
        last.dtypes,
        last.shapes,
        convolution.origin,
        convolution.order,
        convolution.device,
    )
    made.inputs = [*convolution.inputs, bias]
    return made
