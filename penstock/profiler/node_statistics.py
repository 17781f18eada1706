"""What is known of each node of a graph: parameters, operations, and a traced step's time."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
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


_MEASURED = (
    *("run_count", "requested_bytes", "peak_bytes", "residual_bytes", "output_bytes"),
    *("accelerator_exec_micros", "cpu_exec_micros"),
)


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


def _add_steps(nodes: dict[str, NodeStatistics], steps: Sequence[Sequence[Any]]) -> None:
    """Adds the times and the memory of nodes: of several steps the mean of those they ran in."""
    steps_of: Counter[str] = Counter()
    for traces in steps:
        ran: set[str] = set()
        for run_meta in traces:
            _add_trace(nodes, run_meta, ran)
        steps_of.update(ran)
    for name, count in steps_of.items():
        node = nodes[name]
        for field_name in _MEASURED:
            setattr(node, field_name, getattr(node, field_name) // count)
        node.float_ops *= max(node.run_count, 1)  # in a loop it computes several times


def _add_trace(found: dict[str, NodeStatistics], run_meta: Any, ran: set[str]) -> None:
    """Adds what one RunMetadata tells, and the names of the nodes that it tells of to `ran`."""
    for row in run_meta.step_stats.dev_stats:
        is_stream = "/stream:" in row.device  # what a GPU did, beside the row of its kernels' calls
        for stats in row.node_stats:
            node = found.get(stats.node_name)
            if node is None:
                continue
            ran.add(node.name)
            if is_stream:
                node.accelerator_exec_micros += stats.all_end_rel_micros
                continue
            node.cpu_exec_micros += stats.all_end_rel_micros
            node.run_count += 1
            if row.device.lower() not in node.devices:
                node.devices.append(row.device.lower())
            size = sum(
                output.tensor_description.allocation_description.requested_bytes
                for output in stats.output
            )
            kept = size if _is_constant(stats) else 0
            node.requested_bytes += sum(memory.total_bytes for memory in stats.memory)
            node.peak_bytes += kept + sum(memory.peak_bytes for memory in stats.memory)
            node.residual_bytes += kept + sum(memory.live_bytes for memory in stats.memory)
            node.output_bytes += size


def _is_constant(stats: Any) -> bool:
    """Whether a traced node was a constant in its step: its memory is there before and after."""
    return not stats.memory and stats.timeline_label.endswith("= Const()")


def _with_sizes_of_runs(graph: Graph, steps: Sequence[Sequence[Any]]) -> Graph:
    """A copy of a graph with the sizes that a run has found; the graph itself if it knows them."""
    from penstock.ir.importer import import_graph_def

    if not steps:
        return graph
    found = {
        (stats.node_name, output.slot): [dim.size for dim in output.tensor_description.shape.dim]
        for traces in steps
        for run_meta in traces
        for row in run_meta.step_stats.dev_stats
        for stats in row.node_stats
        for output in stats.output
    }
    known = {tensor.name: tensor.shape for op in graph.get_operations() for tensor in op.outputs}
    if all(shape.is_fully_defined() for shape in known.values()):
        return graph
    copy = Graph()
    with copy.as_default():
        import_graph_def(graph.as_graph_def(), name="")
    for name, shape in known.items():
        tensor = copy.get_tensor_by_name(name)
        tensor.set_shape(shape)
        sizes = found.get((tensor.op.name, tensor.value_index))
        if sizes is not None and shape.is_compatible_with(sizes):
            tensor.set_shape(sizes)
    return copy


def statistics_of(
    graph: Graph, run_meta: Any = None, op_log: Any = None, steps: Sequence[Sequence[Any]] = ()
) -> list[NodeStatistics]:
    """The counts of all nodes; `op_log` adds types and operations that the graph doesn't know.

    What was measured comes from `run_meta`, or from the traces of `steps`.
    """
    trainable = {
        variable.op.name for variable in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)
    }
    logged = {entry.name: entry for entry in op_log.log_entries} if op_log else {}
    if run_meta:
        steps = [[run_meta]]
    graph = _with_sizes_of_runs(graph, steps)
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
    _add_steps(found, steps)
    if without_shapes and not steps:
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
