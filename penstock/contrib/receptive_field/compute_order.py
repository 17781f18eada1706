"""The order in which a network computes its nodes, and the sizes of images between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from penstock.contrib.receptive_field.layer_parameters import Nodes, Window, windows

Size = Sequence[Any] | None


class NodeInfo(NamedTuple):
    """How far a node is from the inputs, and the sizes of its image before and after."""

    order: int
    node: Any
    input_size: Size
    output_size: Size


def parse_graph_nodes(graph_def: Any) -> dict[str, Any]:
    """The nodes of a GraphDef by their names."""
    return {node.name: node for node in graph_def.node}


def data_inputs(node: Any) -> list[str]:
    """The names of the nodes that give a node values."""
    return [name.split(":")[0] for name in node.input if not name.startswith("^")]


def _after(size: int | None, window: Window) -> int | None:
    if size is None or window.total_padding is None:
        return None
    assert window.size is not None and window.stride is not None  # where paddings are, all is
    return math.ceil((size + window.total_padding - window.size + 1) / window.stride)


def _info(node: Any, parents: Sequence[NodeInfo], nodes: Nodes) -> NodeInfo:
    order = max((parent.order + 1 for parent in parents), default=0)
    size = parents[0].output_size if parents else None  # the image is always the first input
    if size is None:
        return NodeInfo(order, node, None, None)
    x, y = windows(node, nodes, size, force=True)
    return NodeInfo(order, node, size, [_after(size[0], x), _after(size[1], y)])


def get_compute_order(
    graph_def: Any, input_node_name: str = "", input_node_size: Size = None
) -> tuple[dict[str, NodeInfo], dict[str, Any]]:
    """The order of a graph's nodes, and the nodes by their names.

    Args:
      input_node_name: a node whose image has a known size.
      input_node_size: this size, height and width.
    """
    nodes = parse_graph_nodes(graph_def)
    known: dict[str, NodeInfo] = {}
    for first in nodes:
        waiting = [first]
        while waiting:  # not by recursion: networks are deeper than Python's stack
            name = waiting[-1]
            node = nodes[name]
            parents = [] if name == input_node_name else data_inputs(node)
            missing = [parent for parent in parents if parent not in known]
            if missing:
                waiting.extend(missing)
                continue
            waiting.pop()
            if name == input_node_name:
                known[name] = NodeInfo(0, node, None, input_node_size)
            elif name not in known:
                known[name] = _info(node, [known[parent] for parent in parents], nodes)
    return known, nodes
