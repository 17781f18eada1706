"""`Timeline`: the statistics of a step as a trace for Chrome's viewer.

>>> metadata = tf.RunMetadata()
>>> sess.run(y, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
>>> trace = timeline.Timeline(metadata.step_stats).generate_chrome_trace_format()
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from penstock.platform import logging
from penstock.tracing.chrome_trace import ChromeTrace

__all__ = ["AllocationMaximum", "StepStatsAnalysis", "Timeline"]

_LABEL = re.compile(r"(.*) = (.*)\((.*)\)")
_RECV = "RecvTensor"


class AllocationMaximum(NamedTuple):
    """When an allocator had given out the most memory, how much, and for which tensors."""

    timestamp: int
    num_bytes: int
    tensors: set[str]


class StepStatsAnalysis(NamedTuple):
    """The trace of a step, and the maximum of each allocator."""

    chrome_trace: ChromeTrace
    allocator_maximums: dict[str, AllocationMaximum]


class _Tensor:
    """The life of a tensor in a step."""

    def __init__(
        self, name: str, object_id: int, create_time: int, pid: int, allocator: str, num_bytes: int
    ):
        self.name = name
        self.object_id = object_id
        self.create_time = create_time
        self.pid = pid
        self.allocator = allocator
        self.num_bytes = num_bytes
        self.last_unref = create_time

    def used_until(self, timestamp: int) -> None:
        self.last_unref = max(self.last_unref, timestamp)


def _parse_op_label(label: str) -> tuple[str, str, list[str]]:
    """The name, type and inputs of a node, from a label such as "y = Add(a, b)"."""
    match = _LABEL.match(label)
    if match is None:
        return "unknown", "unknown", []
    name, op, inputs = match.groups()
    return name, op, inputs.split(", ") if inputs else []


def _is_gputrace_device(device: str) -> bool:
    """Whether a row shows what a GPU itself did, not what was asked of it."""
    return "/stream:" in device or "/memcpy" in device


class Timeline:
    """Makes a trace of the statistics that a traced step leaves in `RunMetadata.step_stats`.

    Args:
      step_stats: a `StepStats` message; an empty one gives a trace without bars.
      graph: not used.
    """

    def __init__(self, step_stats: Any, graph: Any = None):
        self._step_stats = step_stats
        self._graph = graph
        self._chrome_trace = ChromeTrace()
        self._next_pid = 0
        self._next_flow_id = 0
        self._device_pids: dict[str, int] = {}
        self._tensor_pids: dict[str, int] = {}
        self._tensors: dict[str, _Tensor] = {}
        self._flow_starts: dict[str, tuple[int, int, int]] = {}
        self._allocator_maximums: dict[str, AllocationMaximum] = {}

    def generate_chrome_trace_format(
        self, show_dataflow: bool = True, show_memory: bool = False
    ) -> str:
        """The trace as JSON: save it to a file and open it at chrome://tracing.

        Args:
          show_dataflow: whether arrows connect producers and consumers of tensors.
          show_memory: whether the lives of tensors and the memory of allocators are shown.
        """
        analysis = self.analyze_step_stats(show_dataflow, show_memory)
        return analysis.chrome_trace.format_to_string(pretty=True)

    def analyze_step_stats(
        self, show_dataflow: bool = True, show_memory: bool = True
    ) -> StepStatsAnalysis:
        """The trace before it is JSON, and how much memory was used."""
        self._allocate_pids()
        self._assign_lanes()
        self._analyze_tensors(show_memory)
        for device, pid, node in self._nodes():
            is_gputrace = _is_gputrace_device(device)
            self._emit_op(node, pid, is_gputrace)
            if not is_gputrace and node.node_name != _RECV:
                self._emit_inputs(node, pid, show_dataflow)
        if show_memory:
            self._show_memory_counters()
        return StepStatsAnalysis(self._chrome_trace, self._allocator_maximums)

    def _nodes(self) -> Iterator[tuple[str, int, Any]]:
        """All that ran: the device, its process in the trace, and the statistics."""
        for device in self._step_stats.dev_stats:
            for node in device.node_stats:
                yield device.device, self._device_pids[device.device], node

    def _new_pid(self, name: str) -> int:
        pid = self._next_pid
        self._next_pid += 1
        self._chrome_trace.emit_pid(name, pid)
        return pid

    def _allocate_pids(self) -> None:
        self._allocators_pid = self._new_pid("Allocators")
        for stats in self._step_stats.dev_stats:
            self._device_pids[stats.device] = self._new_pid(f"{stats.device} Compute")
            self._tensor_pids[stats.device] = self._new_pid(f"{stats.device} Tensors")

    def _assign_lanes(self) -> None:
        """Puts nodes that ran at the same time into different rows."""
        for device in self._step_stats.dev_stats:
            busy_until = [0]
            for node in device.node_stats:
                start, end = node.all_start_micros, _end(node)
                free = (lane for lane, until in enumerate(busy_until) if start > until)
                lane = next(free, len(busy_until))
                if lane == len(busy_until):
                    busy_until.append(end)
                busy_until[lane] = end
                node.thread_id = lane

    def _analyze_tensors(self, show_memory: bool) -> None:
        for device, pid, node in self._nodes():
            for index, output in enumerate(node.output):
                name = f"{node.node_name}:{index}" if index else node.node_name
                allocation = output.tensor_description.allocation_description
                tensor = _Tensor(
                    name,
                    len(self._tensors),
                    node.all_start_micros,
                    self._tensor_pids[device],
                    allocation.allocator_name,
                    allocation.requested_bytes,
                )
                tensor.used_until(_end(node))
                self._tensors[name] = tensor
                self._flow_starts[name] = (_end(node), pid, node.thread_id)
                if show_memory:
                    self._emit_tensor(tensor, node, output)

    def _emit_tensor(self, tensor: _Tensor, node: Any, output: Any) -> None:
        trace, tid = self._chrome_trace, node.thread_id
        trace.emit_obj_create(
            "Tensor", tensor.name, tensor.create_time, tensor.pid, tid, tensor.object_id
        )
        trace.emit_obj_snapshot(
            "Tensor",
            tensor.name,
            _end(node) - 1,
            tensor.pid,
            tid,
            tensor.object_id,
            {"tensor_description": str(output.tensor_description).replace('"', "")},
        )

    def _emit_op(self, node: Any, pid: int, is_gputrace: bool) -> None:
        name = node.node_name
        inputs: list[str] = []
        if is_gputrace:  # named "node:kernel"
            name, op = [*name.split(":"), "unknown"][:2]
        elif name == _RECV:
            op = _RECV
        else:
            _, op, inputs = _parse_op_label(node.timeline_label)
        args = {"name": name, "op": op}
        args.update({f"input{i}": each for i, each in enumerate(inputs)})
        self._chrome_trace.emit_region(
            node.all_start_micros, node.all_end_rel_micros, pid, node.thread_id, "Op", op, args
        )

    def _emit_inputs(self, node: Any, pid: int, show_dataflow: bool) -> None:
        """Notes that tensors are used, with arrows from where they were made."""
        for name in _parse_op_label(node.timeline_label)[2]:
            if name not in self._tensors and name.rfind("/_") > 0:
                name = name[: name.rfind("/_")]  # what a device received is named after its source
            if name not in self._tensors:
                logging.vlog(1, "Can't find tensor %s - removed by CSE?", name)
                continue
            self._tensors[name].used_until(_end(node) - 1)
            made_at, made_pid, made_tid = self._flow_starts[name]
            if show_dataflow and (made_pid, made_tid) != (pid, node.thread_id):
                flow, tid = self._next_flow_id, node.thread_id
                self._next_flow_id += 1
                self._chrome_trace.emit_flow_start(name, made_at, made_pid, made_tid, flow)
                self._chrome_trace.emit_flow_end(name, node.all_start_micros, pid, tid, flow)

    def _show_memory_counters(self) -> None:
        """Adds a curve of memory for each allocator, and finds its maximum."""
        changes: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
        for name, tensor in self._tensors.items():
            self._chrome_trace.emit_obj_delete(
                "Tensor", name, tensor.last_unref, tensor.pid, 0, tensor.object_id
            )
            changes[tensor.allocator] += [
                (tensor.create_time, tensor.num_bytes, name),
                (tensor.last_unref, -tensor.num_bytes, name),
            ]
        for allocator, history in changes.items():
            total = 0
            living: set[str] = set()
            maximum = AllocationMaximum(0, 0, set())
            for timestamp, num_bytes, name in sorted(history):
                total += num_bytes
                (living.discard if num_bytes < 0 else living.add)(name)
                if total > maximum.num_bytes:
                    maximum = AllocationMaximum(timestamp, total, set(living))
                self._chrome_trace.emit_counter(
                    "Memory", allocator, self._allocators_pid, timestamp, allocator, total
                )
            self._allocator_maximums[allocator] = maximum


def _end(node: Any) -> int:
    return int(node.all_start_micros + node.all_end_rel_micros)
