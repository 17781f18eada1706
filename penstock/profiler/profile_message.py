"""A `ProfileProto`: the nodes of a graph with their edges, lines, and the steps they ran in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock import proto
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.profiler.node_statistics import statistics_of


class _Words:
    """Numbers for texts, each of which is written down once."""

    def __init__(self, table: Any):
        self._table = table
        self._numbers: dict[str, int] = {}

    def __getitem__(self, text: str) -> int:
        number = self._numbers.setdefault(text, len(self._numbers) + 1)
        self._table[number] = text
        return number


def profile_message(graph: Graph, steps: Mapping[int, Sequence[Any]]) -> Any:
    """What is known of a graph and of its traced steps (`RunMetadata` by number)."""
    message = proto.ProfileProto(has_trace=True, steps=sorted(steps))
    words = _Words(message.id_to_string)
    numbers = {op.name: number for number, op in enumerate(graph.get_operations())}
    for node in statistics_of(graph, steps=list(steps.values())):
        op = graph.get_operation_by_name(node.name)
        entry = message.nodes[numbers[node.name]]
        entry.name, entry.op, entry.id = node.name, op.type, numbers[node.name]
        entry.op_types.extend(node.types)
        entry.float_ops = node.float_ops
        entry.shape.extend(node.shape)
        if node.devices:
            entry.canonical_device = node.devices[0]
        for index, tensor in enumerate(op.inputs):
            entry.inputs[index] = numbers[tensor.op.name]
            entry.src_output_index[numbers[tensor.op.name]] = tensor.value_index
        for key, value in op.node_def.attr.items():
            entry.attrs[key].CopyFrom(value)
        _add_lines(entry.trace, op, words)
    for step, traces in steps.items():
        for run_meta in traces:
            _add_executions(message, step, run_meta, numbers)
    return message


def _add_lines(trace: Any, op: Operation, words: _Words) -> None:
    for frame in op.traceback:
        path, number, function, text = (*frame, "", "")[:4]
        trace.traces.add(
            lineno=number,
            file_id=words[path],
            function_id=words[function],
            line_id=words[text or ""],
        )


def _add_executions(message: Any, step: int, run_meta: Any, numbers: Mapping[str, int]) -> None:
    """Adds when nodes ran in a step, and the memory that they took."""
    for row in run_meta.step_stats.dev_stats:
        device = row.device.lower()
        for stats in row.node_stats:
            if stats.node_name not in numbers:
                continue
            times = message.nodes[numbers[stats.node_name]].execs[step]
            times.run_count += 1
            times.all_start_micros = times.all_start_micros or stats.all_start_micros
            end = stats.all_start_micros + stats.all_end_rel_micros
            times.latest_end_micros = max(times.latest_end_micros, end)
            if device not in times.devices:
                times.devices.append(device)
            execs = times.accelerator_execs if "/stream:" in device else times.cpu_execs
            values = [stats.all_start_micros, stats.all_end_rel_micros]
            execs[device].times.add(int64_values=values)
            times.memory_execs.add(
                memory_micros=stats.all_start_micros,
                requested_bytes=sum(memory.total_bytes for memory in stats.memory),
                peak_bytes=sum(memory.peak_bytes for memory in stats.memory),
                residual_bytes=sum(memory.live_bytes for memory in stats.memory),
            )
