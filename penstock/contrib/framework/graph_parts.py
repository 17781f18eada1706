"""Graphs and their nodes, as `tf.contrib.framework` asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock import proto
from penstock.internal_paths.framework_ops import _get_graph_from_inputs


def get_graph_from_inputs(op_input_list: Sequence[Any], graph: Any = None) -> Any:
    """The graph that all inputs are from: the given one, theirs, or the default one."""
    return _get_graph_from_inputs(op_input_list, graph)


def get_placeholders(graph: Any) -> list[Any]:
    """The placeholders of a graph, in the order of their creation."""
    if not isinstance(graph, tf.Graph):
        raise TypeError(f"Input graph needs to be a Graph: {graph}")
    return [each.outputs[0] for each in graph.get_operations() if each.type == "Placeholder"]


def fuse_op(
    graph_def: Any,
    input_nodes: Sequence[str],
    output_nodes: Sequence[str],
    output_dtypes: Sequence[int],
    output_quantized: bool,
    op_name: str,
    op_type: str,
) -> Any:
    """A GraphDef in which one node stands for those between inputs and outputs.

    Args:
      input_nodes: the last nodes that stay, before the new one.
      output_nodes: the first that stay behind it, each with one input: an output of the new one.
      output_dtypes: the new node's output types, as enum values.
      output_quantized: kept as an attr of the new node.
    """
    if not isinstance(graph_def, proto.GraphDef):
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    for what, names in (("input_nodes", input_nodes), ("output_nodes", output_nodes)):
        if isinstance(names, str):
            raise TypeError(f"{what} must be a list.")
    inputs_of = {_node_of(each.name): [_node_of(i) for i in each.input] for each in graph_def.node}
    for name in [*input_nodes, *output_nodes]:
        if name not in inputs_of:
            raise AssertionError(f"{name} is not in graph")
    before = _reached(input_nodes, inputs_of)
    until = _reached(output_nodes, inputs_of)
    for name in until - before - set(output_nodes):
        for used in _reached([name], inputs_of, stop_at=input_nodes) & before:
            if used not in input_nodes:
                raise TypeError(f"Node {name} uses input {used} not in input_nodes.")
    nodes = {_node_of(each.name): each for each in graph_def.node}
    fused = proto.NodeDef(name=op_name, op=op_type, input=input_nodes)
    fused.attr["_output_types"].list.type[:] = output_dtypes
    fused.attr["_output_quantized"].b = output_quantized
    made = proto.GraphDef(library=graph_def.library, versions=graph_def.versions)
    made.node.extend(node for name, node in nodes.items() if name in before)
    made.node.append(fused)
    for index, name in enumerate(output_nodes):
        if len(nodes[name].input) != 1:
            raise AssertionError(f"{name} must have one input, has {len(nodes[name].input)}")
        made.node.append(nodes[name])
        made.node[-1].input[:] = [f"{op_name}:{index}" if index else op_name]
    made.node.extend(node for name, node in nodes.items() if name not in before | until)
    return made


def _node_of(input_name: str) -> str:
    return input_name.removeprefix("^").split(":")[0]


def _reached(
    names: Sequence[str], inputs_of: dict[str, list[str]], stop_at: Sequence[str] = ()
) -> set[str]:
    """Nodes that others get values from, those themselves included."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [] if name in stop_at else inputs_of[name]
    return found
