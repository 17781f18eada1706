"""What is known of each node of a graph: parameters, operations, and a traced step's time."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from math import prod
from typing import Any

from penstock import proto
from penstock.ir.collections import GraphKeys
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.profiler.flops import FLOPS, get_stats_for_node_def
from penstock.profiler.option_builder import TRAINABLE_VARIABLES

_VARIABLES = ("Variable", "VariableV2", "AutoReloadVariable", "VarHandleOp")

#: What is counted, by the names of the options and of the messages' fields.
FIELDS = {
    "params": "parameters",
    "float_ops": "float_ops",
    "bytes": "requested_bytes",
    "micros": "exec_micros",
}


@dataclass
class NodeStatistics:
    """The counts of one node."""

    name: str
    types: list[str]
    shape: list[int] = field(default_factory=list)
    input_shapes: list[Any] = field(default_factory=list)
    parameters: int = 0
    float_ops: int = 0
    requested_bytes: int = 0
    exec_micros: int = 0


def _parameters(op: Operation) -> tuple[list[int], int]:
    """The shape of a variable, and how many numbers it holds."""
    if op.type not in _VARIABLES:
        return [], 0
    shape = op.get_attr("shape")
    sizes = [dim.size for dim in shape.dim] if hasattr(shape, "dim") else list(shape)
    if any(size is None or size < 0 for size in sizes):
        return [], 0
    return sizes or [1], prod(sizes)


def _step_statistics(run_meta: Any) -> dict[str, tuple[int, int]]:
    """The microseconds and bytes of the nodes of a traced step."""
    found: dict[str, tuple[int, int]] = {}
    for device in run_meta.step_stats.dev_stats if run_meta else ():
        for node in device.node_stats:
            micros, size = found.get(node.node_name, (0, 0))
            outputs = (output.tensor_description.allocation_description for output in node.output)
            size += sum(allocation.requested_bytes for allocation in outputs)
            found[node.node_name] = (micros + node.all_end_rel_micros, size)
    return found


def statistics_of(graph: Graph, run_meta: Any = None, op_log: Any = None) -> list[NodeStatistics]:
    """The counts of all nodes; `op_log` adds types and operations that the graph doesn't know."""
    trainable = {
        variable.op.name for variable in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)
    }
    logged = {entry.name: entry for entry in op_log.log_entries} if op_log else {}
    measured = _step_statistics(run_meta)
    without_shapes = 0
    found = []
    for op in graph.get_operations():
        node = NodeStatistics(op.name, [op.type])
        node.shape, node.parameters = _parameters(op)
        node.input_shapes = [tensor.get_shape() for tensor in op.inputs]
        try:
            flops = get_stats_for_node_def(graph, op.node_def, FLOPS).value
            node.float_ops = int(flops or 0)
        except ValueError:
            without_shapes += 1
        if op.name in trainable:
            node.types.append(TRAINABLE_VARIABLES)
        if op.name in logged:
            node.types += logged[op.name].types
            node.float_ops = node.float_ops or logged[op.name].float_ops
        node.exec_micros, node.requested_bytes = measured.get(op.name, (0, 0))
        found.append(node)
    if without_shapes and not run_meta:
        sys.stderr.write(f"{without_shapes} ops no flops stats due to incomplete shapes.\n")
    return found


def merge_default_with_oplog(
    graph: Graph,
    op_log: Any = None,
    run_meta: Any = None,
    add_trace: bool = True,
    add_trainable_var: bool = True,
) -> Any:
    """An `OpLogProto` with the operations and types of a graph's nodes, added to a given one."""
    merged = proto.OpLogProto()
    if op_log:
        merged.CopyFrom(op_log)
    entries = {entry.name: entry for entry in merged.log_entries}
    for node in statistics_of(graph, run_meta):
        types = [each for each in node.types[1:] if add_trainable_var]
        if not node.float_ops and not types:
            continue
        entry = entries.get(node.name) or merged.log_entries.add(name=node.name)
        entry.types.extend(each for each in types if each not in entry.types)
        entry.float_ops = entry.float_ops or node.float_ops
    return merged
