"""Graphs and their nodes, as `tf.contrib.framework` asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock.internal_paths.framework_ops import _get_graph_from_inputs


def get_graph_from_inputs(op_input_list: Sequence[Any], graph: Any = None) -> Any:
    """The graph that all inputs are from: the given one, theirs, or the default one."""
    return _get_graph_from_inputs(op_input_list, graph)


def get_placeholders(graph: Any) -> list[Any]:
    """The placeholders of a graph, in the order of their creation."""
    if not isinstance(graph, tf.Graph):
        raise TypeError(f"Input graph needs to be a Graph: {graph}")
    return [each.outputs[0] for each in graph.get_operations() if each.type == "Placeholder"]
