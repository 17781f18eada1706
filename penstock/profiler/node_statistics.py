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
    "peak_bytes": "peak_bytes",
    "residual_bytes": "residual_bytes",
    "output_bytes": "output_bytes",
    "micros": "exec_micros",
    "accelerator_micros": "accelerator_exec_micros",
    "cpu_micros": "cpu_exec_micros",
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
    run_count: int = 0
    devices: list[str] = field(default_factory=list)
    requested_bytes: int = 0
    peak_bytes: int = 0
    residual_bytes: int = 0
    output_bytes: int = 0
    accelerator_exec_micros: int = 0
    cpu_exec_micros: int = 0

    @property
    def exec_micros(self) -> int:
        return self.accelerator_exec_micros + self.cpu_exec_micros


def _parameters(op: Operation) -> tuple[list[int], int]:
    """The shape of a variable, and how many numbers it holds."""
    if op.type not in _VARIABLES:
        return [], 0
    shape = op.get_attr("shape")
    sizes = [dim.size for dim in shape.dim] if hasattr(shape, "dim") else list(shape)
    if any(size is None or size < 0 for size in sizes):
        return [], 0
    return sizes or [1], prod(sizes)


def _add_step(found: dict[str, NodeStatistics], run_meta: Any) -> None:
    """Adds the times and the memory of a traced step's nodes."""
    for row in run_meta.step_stats.dev_stats:
        is_stream = "/stream:" in row.device  # what a GPU did, beside the row of its kernels' calls
        for stats in row.node_stats:
            node = found.get(stats.node_name)
            if node is None:
                continue
            if is_stream:
                node.accelerator_exec_micros += stats.all_end_rel_micros
                continue
            node.cpu_exec_micros += stats.all_end_rel_micros
            node.run_count += 1
            if row.device.lower() not in node.devices:
                node.devices.append(row.device.lower())
            node.requested_bytes += sum(memory.total_bytes for memory in stats.memory)
            node.peak_bytes += sum(memory.peak_bytes for memory in stats.memory)
            node.residual_bytes += sum(memory.live_bytes for memory in stats.memory)
            node.output_bytes += sum(
                output.tensor_description.allocation_description.requested_bytes
                for output in stats.output
            )


def statistics_of(graph: Graph, run_meta: Any = None, op_log: Any = None) -> list[NodeStatistics]:
    """The counts of all nodes; `op_log` adds types and operations that the graph doesn't know."""
    trainable = {
        variable.op.name for variable in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)
    }
    logged = {entry.name: entry for entry in op_log.log_entries} if op_log else {}
    without_shapes = 0
    found = {}
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
        found[op.name] = node
    if run_meta:
        _add_step(found, run_meta)
    if without_shapes and not run_meta:
        sys.stderr.write(f"{without_shapes} ops no flops stats due to incomplete shapes.\n")
    return list(found.values())


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
