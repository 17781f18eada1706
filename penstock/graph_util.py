"""`tf.graph_util`: GraphDefs cut down, frozen and simplified."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from penstock import dtypes
from penstock.ir.graph import Graph
from penstock.ir.importer import import_graph_def
from penstock.ir.operation import Operation
from penstock.ir.tensor_codec import array_to_proto
from penstock.platform import logging
from penstock.proto import GraphDef, NodeDef
from penstock.shapes import TensorShape

__all__ = [
    "convert_variables_to_constants",
    "extract_sub_graph",
    "import_graph_def",
    "must_run_on_cpu",
    "remove_training_nodes",
    "tensor_shape_from_node_def_name",
]

_VARIABLE_OPS = frozenset(
    "Assign AssignAdd AssignSub Queue ScatterAdd ScatterSub ScatterUpdate TruncatedNormal Variable "
    "VariableV2".split()
)
_PASSED_THROUGH = frozenset(
    "Switch Enter Exit Identity Merge NextIteration Loop RefSwitch RefEnter RefExit RefIdentity "
    "RefMerge RefNextIteration".split()
)
#: Types for which these ops have no GPU kernel, by the attr that holds them.
_HOST_ONLY: dict[str, tuple[str, tuple[Any, ...]]] = {
    "Const": ("dtype", (dtypes.string, dtypes.int32)),
    "DynamicStitch": ("T", (dtypes.int32,)),
    "ParallelDynamicStitch": ("T", (dtypes.int32,)),
    "Cast": ("SrcT", (dtypes.int32,)),
}


def must_run_on_cpu(node: Any, pin_variables_on_cpu: bool = False) -> bool:
    """Whether a node, or the node of a NodeDef, can't run on a GPU."""
    message = node.node_def if isinstance(node, Operation) else node
    assert isinstance(message, NodeDef)
    if pin_variables_on_cpu and message.op in _VARIABLE_OPS:
        return True
    if message.op not in _HOST_ONLY:
        return False
    attr, types = _HOST_ONLY[message.op]
    return message.attr[attr].type in types


def tensor_shape_from_node_def_name(graph: Graph, input_name: str) -> TensorShape:
    """The static shape of a tensor by its name as a NodeDef's input."""
    name = input_name if ":" in input_name else f"{input_name}:0"
    return graph.get_tensor_by_name(name).shape


# Cutting down ---------------------------------------------------------------------------------


def _node_name(text: str) -> str:
    return text[1:] if text.startswith("^") else text.partition(":")[0]


def _needs(node: Any) -> list[str]:
    """The nodes that a node needs: its inputs, and those that it is placed with."""
    needed = [_node_name(text) for text in node.input]
    if "_class" in node.attr:
        for group in node.attr["_class"].list.s:
            if group.startswith(b"loc:@"):
                needed.append(group[5:].decode())
    return needed


def extract_sub_graph(graph_def: Any, dest_nodes: Sequence[str]) -> Any:
    """The part of a GraphDef that the nodes `dest_nodes` need."""
    if not isinstance(graph_def, GraphDef):
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    if isinstance(dest_nodes, str) or not isinstance(dest_nodes, Iterable):
        raise TypeError(
            f"dest_nodes must be a list. It must be an iterable of node names, got {dest_nodes!r}"
        )
    nodes = {node.name: node for node in graph_def.node}
    waiting = list(dest_nodes)
    for name in waiting:
        assert name in nodes, f"{name} is not in graph"
    kept: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in kept:
            kept.add(name)
            if name not in nodes:
                raise KeyError(f"{name} is needed by the graph, but not in it")
            waiting += _needs(nodes[name])
    result = GraphDef(library=graph_def.library, versions=graph_def.versions)
    result.node.extend(node for node in graph_def.node if node.name in kept)
    return result


# Freezing -------------------------------------------------------------------------------------


def convert_variables_to_constants(
    sess: Any,
    input_graph_def: Any,
    output_node_names: Sequence[str],
    variable_names_whitelist: Any = None,
    variable_names_blacklist: Any = None,
) -> Any:
    """A GraphDef in which variables are constants with their values in a session.

    Args:
      sess: the session.
      input_graph_def: the graph, e.g. `sess.graph.as_graph_def()`.
      output_node_names: names of the nodes to keep, with what they need.
      variable_names_whitelist: the variables to convert; all if None.
      variable_names_blacklist: variables not to convert.
    """
    graph_def = extract_sub_graph(input_graph_def, output_node_names)
    nodes = {node.name: node for node in graph_def.node}
    reads = _variables_to_read(graph_def, variable_names_whitelist, variable_names_blacklist)
    values = dict(zip(reads, sess.run(list(reads.values())), strict=True)) if reads else {}
    logging.info("Froze %d variables.", len(values))
    types = _types_behind_handles(graph_def, nodes)
    result = GraphDef(library=graph_def.library)
    for node in graph_def.node:
        result.node.extend(_frozen(node, values, types))
    logging.info("Converted %d variables to const ops.", len(values))
    return result


def _variables_to_read(graph_def: Any, included: Any, excluded: Any) -> dict[str, str]:
    """The tensor that has each variable's value, by the variable's name."""
    found = {}
    for node in graph_def.node:
        if node.op not in ("Variable", "VariableV2", "VarHandleOp"):
            continue
        if included is not None and node.name not in included:
            continue
        if excluded is not None and node.name in excluded:
            continue
        is_handle = node.op == "VarHandleOp"
        found[node.name] = f"{node.name}/Read/ReadVariableOp:0" if is_handle else f"{node.name}:0"
    return found


def _types_behind_handles(graph_def: Any, nodes: dict[str, Any]) -> dict[str, Any]:
    """The type that a node between a handle and its reads passes on once the handle is a value."""
    types: dict[str, Any] = {}
    for reader in graph_def.node:
        if reader.op not in ("ReadVariableOp", "ResourceGather"):
            continue
        waiting = [_node_name(reader.input[0])]
        while waiting:
            node = nodes[waiting.pop()]
            if node.op in _PASSED_THROUGH and node.name not in types:
                types[node.name] = reader.attr["dtype"]
                count = 2 if node.op in ("Merge", "RefMerge") else 1
                waiting += [_node_name(text) for text in node.input[:count]]
            elif node.op not in _PASSED_THROUGH and node.op != "VarHandleOp":
                raise ValueError(
                    "Cannot find the variable that is an input to the ReadVariableOp: "
                    f"'{reader.name}' reads from {node.op} '{node.name}'"
                )
    return types


def _frozen(node: Any, values: dict[str, Any], types: dict[str, Any]) -> list[Any]:
    """What stands for a node in a frozen graph."""
    made = NodeDef(name=node.name)
    if node.name in values:
        return [_constant(node.name, values[node.name], node.attr["dtype"].type)]
    if node.name in types:
        made.CopyFrom(node)
        made.attr.pop("_output_shapes", None)
        made.attr["T"].CopyFrom(types[node.name])
        return [made]
    if node.op == "ReadVariableOp":
        made.op = "Identity"
        made.input.append(node.input[0])
        made.attr["T"].CopyFrom(node.attr["dtype"])
        _copy_colocation(node, made)
        return [made]
    if node.op == "ResourceGather":
        return _gather(node, made)
    return [node]


def _copy_colocation(node: Any, made: Any) -> None:
    if "_class" in node.attr:
        made.attr["_class"].CopyFrom(node.attr["_class"])


def _constant(name: str, value: Any, type_number: int) -> Any:
    made = NodeDef(name=name, op="Const")
    made.attr["dtype"].type = type_number
    dtype = dtypes.as_dtype(type_number)
    array = np.asarray(value, dtype=dtype.as_numpy_dtype)
    made.attr["value"].tensor.CopyFrom(array_to_proto(array, dtype))
    return made


def _gather(node: Any, made: Any) -> list[Any]:
    if node.attr["batch_dims"].i:
        raise ValueError("batch_dims != 0 is not supported by freeze_graph.")
    indices = node.attr["Tindices"]
    axis = _constant(f"{node.name}/axis", 0, indices.type)
    made.op = "GatherV2"
    made.input.extend([node.input[0], node.input[1], axis.name])
    made.attr["Tparams"].CopyFrom(node.attr["dtype"])
    made.attr["Tindices"].CopyFrom(indices)
    made.attr["Taxis"].CopyFrom(indices)
    _copy_colocation(node, made)
    return [axis, made]


# Simplifying ----------------------------------------------------------------------------------


def remove_training_nodes(input_graph: Any, protected_nodes: Sequence[str] | None = None) -> Any:
    """A GraphDef without CheckNumerics and Identity nodes, which only training needs."""
    protected = set(protected_nodes or ())
    checks = {
        node.name: node.input[0]
        for node in input_graph.node
        if node.op == "CheckNumerics" and node.name not in protected
    }

    def unchecked(text: str) -> str | None:
        """What a check checks, in its place; who only waits for a check waits no longer."""
        while _node_name(text) in checks:
            if text.startswith("^"):
                return None
            text = checks[_node_name(text)]
        return text

    kept = [_with_inputs(node, unchecked) for node in input_graph.node if node.name not in checks]
    waited_for = {text[1:] for node in kept for text in node.input if text.startswith("^")}
    waiting = {node.name for node in kept if any(text.startswith("^") for text in node.input)}
    passed = {
        node.name: node.input[0]
        for node in kept
        if node.op == "Identity" and node.name not in protected | waiting | waited_for
    }

    def source(text: str) -> str:
        while text.lstrip("^") in passed:
            text = passed[text.lstrip("^")]
        return text

    result = GraphDef()
    result.node.extend(_with_inputs(node, source) for node in kept if node.name not in passed)
    return result


def _with_inputs(node: Any, rename: Callable[[str], str | None]) -> Any:
    made = NodeDef()
    made.CopyFrom(node)
    made.input[:] = [text for text in map(rename, node.input) if text is not None]
    return made
