"""The part of a graph between given inputs and outputs."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock import gfile, graph_util
from penstock.proto import GraphDef, NodeDef
from penstock.tools.graph_files import read_message, write_message

__all__ = ["strip_unused", "strip_unused_from_files"]


def strip_unused(
    input_graph_def: Any,
    input_node_names: Sequence[str],
    output_node_names: Sequence[str],
    placeholder_type_enum: Any,
) -> Any:
    """The nodes that the outputs need, with placeholders in the place of the inputs.

    `placeholder_type_enum` is the type of all placeholders, or a list with one for each.
    """
    known = {node.name for node in input_graph_def.node}
    absent = [name for name in input_node_names if name not in known]
    if absent:
        raise KeyError(f"The following input nodes were not found: {set(absent)}")
    types = placeholder_type_enum
    if not isinstance(types, (list, tuple)):
        types = [types] * len(input_node_names)
    by_input = dict(zip(input_node_names, types, strict=True))
    replaced = GraphDef(versions=input_graph_def.versions)
    for node in input_graph_def.node:
        if node.name in by_input:
            made = NodeDef(name=node.name, op="Placeholder")
            made.attr["dtype"].type = tf.as_dtype(by_input[node.name]).as_datatype_enum
            for key in ("_output_shapes", "shape"):
                if key in node.attr:
                    made.attr[key].CopyFrom(node.attr[key])
            replaced.node.add().CopyFrom(made)
        else:
            replaced.node.add().CopyFrom(copy.deepcopy(node))
    return graph_util.extract_sub_graph(replaced, list(output_node_names))


def strip_unused_from_files(
    input_graph: str,
    input_binary: bool,
    output_graph: str,
    output_binary: bool,
    input_node_names: str,
    output_node_names: str,
    placeholder_type_enum: Any,
) -> int | None:
    """`strip_unused` of a file to another; names are written with commas between."""
    if not gfile.Exists(input_graph):
        print(f"Input graph file '{input_graph}' does not exist!")
        return -1
    if not output_node_names:
        print("You need to supply the name of a node to --output_node_names.")
        return -1
    graph_def = strip_unused(
        read_message(input_graph, GraphDef(), binary=input_binary),
        input_node_names.split(","),
        output_node_names.split(","),
        placeholder_type_enum,
    )
    write_message(output_graph, graph_def, binary=output_binary)
    print(f"{len(graph_def.node)} ops in the final graph.")
    return None
