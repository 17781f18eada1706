"""The part of a graph between given inputs and outputs."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock import graph_util
from penstock.proto import GraphDef, NodeDef

__all__ = ["strip_unused"]


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
            if "_output_shapes" in node.attr:
                made.attr["_output_shapes"].CopyFrom(node.attr["_output_shapes"])
            replaced.node.add().CopyFrom(made)
        else:
            replaced.node.add().CopyFrom(copy.deepcopy(node))
    return graph_util.extract_sub_graph(replaced, list(output_node_names))
