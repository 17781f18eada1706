"""Pooling before the activation: what a ReLU drops need not be computed for every pixel.

The largest of rectified values is the rectified largest value, and a bias per channel changes
nothing about which one that is: `max_pool(relu(x + b))` is `relu(max_pool(x) + b)`. Biases, ReLUs
and their gradients then run over the pooled image, which is a quarter of the other one or less. Of
a window whose largest values are equal but for rounding, another one may get the gradient: so it
runs by default on GPUs alone.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.passes.conv_epilogue import feeds_epilogue


class _Backward(NamedTuple):
    """The gradients of a pooled activation: of the pooling, and of the ReLU before it."""

    pool: Node
    relu: Node


class _Forward(NamedTuple):
    bias: Node | None
    relu: Node
    pool: Node
    backward: list[_Backward]


def pool_first(step: StepGraph) -> None:
    """Moves poolings before the activations and biases that only they look at."""
    if step.has_control_flow:
        return
    users: dict[Node, list[Node]] = defaultdict(list)
    for node in step.nodes:
        for edge in node.inputs:
            users[edge.node].append(node)
    fetched = {edge.node for edge in step.fetches}
    found = [_matched(node, users, fetched) for node in step.nodes if node.type == "MaxPool"]
    for match in found:
        if match is not None:
            _exchange(step, match)


def _matched(pool: Node, users: dict[Node, list[Node]], fetched: set[Node]) -> _Forward | None:
    relu = pool.inputs[0].node
    if relu.type != "Relu" or not pool.dtypes[0].is_floating or not _pools_images(pool):
        return None
    backward = []
    for user in users[relu]:
        if user.type == "MaxPoolGrad":
            chain = _backward(user, relu, pool, users)
            if chain is None:
                return None
            backward.append(chain)
    expected = {pool, *(node for chain in backward for node in chain)}
    # A pooling's gradient takes the activation once, and so does the ReLU's.
    if set(users[relu]) != expected or len(users[relu]) != len(expected):
        return None
    bias = relu.inputs[0].node
    first = bias if bias.type == "BiasAdd" and users[bias] == [relu] else None
    moved = expected | {relu} | ({first} if first else set())
    if moved & (fetched - {pool}) or any(node.controls or node.guard for node in moved):
        return None
    if first is not None and feeds_epilogue(first.inputs[0]):
        return None  # the convolution adds and rectifies at no cost (passes/conv_epilogue.py)
    if (first or relu).inputs[0].dtype.is_ref_dtype or not _same_layout(first, pool):
        return None
    return _Forward(first, relu, pool, backward)


def _backward(
    gradient: Node, relu: Node, pool: Node, users: dict[Node, list[Node]]
) -> _Backward | None:
    """The chain of gradients, if the ReLU's is the only one that takes the pooling's."""
    if gradient.inputs[0] != Edge(relu, 0) or gradient.inputs[1] != Edge(pool, 0):
        return None
    if any(gradient.attrs[key] != pool.attrs[key] for key in ("ksize", "strides", "padding")):
        return None
    (after,) = users[gradient] if len(users[gradient]) == 1 else (gradient,)
    if after.type != "ReluGrad" or after.inputs != [Edge(gradient, 0), Edge(relu, 0)]:
        return None
    return _Backward(gradient, after)


def _pools_images(pool: Node) -> bool:
    """Whether windows lie within a channel of an image."""
    channels = 1 if pool.attrs["data_format"] == "NCHW" else 3
    known = pool.attrs["data_format"] in ("NHWC", "NCHW")
    return known and pool.attrs["ksize"][0] == pool.attrs["ksize"][channels] == 1


def _same_layout(bias: Node | None, pool: Node) -> bool:
    return bias is None or bias.attrs["data_format"] == pool.attrs["data_format"]


def _exchange(step: StepGraph, match: _Forward) -> None:
    bias, relu, pool, backward = match
    first = bias or relu
    image, pooled, activated = first.inputs[0], Edge(pool, 0), Edge(relu, 0)
    step.replace({pooled: activated})
    _move(step.nodes, pool, before=first)
    pool.inputs = [image]
    first.inputs = [pooled, *first.inputs[1:]]
    for node in (first, relu):
        node.shapes = list(pool.shapes)
    for chain in backward:
        gradient = chain.pool.inputs[2]
        unpooled, rectified = Edge(chain.pool, 0), Edge(chain.relu, 0)
        for node in step.nodes:
            # What sums a gradient over all pixels may as well sum it over the pooled ones.
            if node.type != "BiasAddGrad" and rectified in node.inputs:
                node.inputs = [unpooled if edge == rectified else edge for edge in node.inputs]
        _move(step.nodes, chain.relu, before=chain.pool)
        chain.relu.inputs = [gradient, activated]
        chain.relu.shapes = list(pool.shapes)
        chain.pool.inputs = [image, pooled, rectified]


def _move(nodes: list[Node], node: Node, *, before: Node) -> None:
    nodes.remove(node)
    nodes.insert(nodes.index(before), node)
