"""What a traced step did: which node ran when, and what it made, as TensorFlow's StepStats."""

from __future__ import annotations

import threading
import time
from typing import Any

from penstock import proto
from penstock.ir.step_graph import Node, StepGraph

clock = time.perf_counter_ns


class Trace:
    """One traced run: lines of its plan with their begin and end, in nanoseconds."""

    def __init__(self) -> None:
        self._since_epoch = time.time_ns() - clock()
        self._thread = threading.get_ident() & 0x7FFFFFFF
        self._events: list[tuple[Node, int, int, tuple[Any, ...]]] = []

    def record(self, node: Node, begin: int, end: int, *outputs: Any) -> None:
        self._events.append((node, begin, end, tuple(_described(each) for each in outputs)))

    def step_stats(self) -> Any:
        """The StepStats message: nodes by device, in the order in which they ran."""
        message = proto.StepStats()
        devices: dict[str, Any] = {}
        for node, begin, end, outputs in self._events:
            if node.device not in devices:
                devices[node.device] = message.dev_stats.add(device=node.device)
            self._add(devices[node.device].node_stats.add(), node, begin, end, outputs)
        return message

    def _add(self, stats: Any, node: Node, begin: int, end: int, outputs: tuple[Any, ...]) -> None:
        stats.node_name = node.name
        sources = ", ".join(edge.node.name for edge in node.inputs)
        stats.timeline_label = f"{node.name} = {node.type}({sources})"
        stats.thread_id = self._thread
        started = begin + self._since_epoch
        stats.all_start_nanos = stats.scheduled_nanos = started
        stats.all_start_micros = stats.scheduled_micros = started // 1000
        took = end - begin
        stats.op_end_rel_nanos = stats.all_end_rel_nanos = took
        stats.op_end_rel_micros = stats.all_end_rel_micros = max(1, took // 1000)
        for slot, (dtype, shape, size) in enumerate(outputs):
            if dtype is None:
                continue
            described = stats.output.add(slot=slot).tensor_description
            described.dtype = dtype
            for length in shape:
                described.shape.dim.add(size=length)
            described.allocation_description.requested_bytes = size
            described.allocation_description.allocated_bytes = size
            described.allocation_description.allocator_name = "cpu"


def _described(value: Any) -> tuple[Any, tuple[int, ...], int]:
    """Type, shape and bytes of a value; no type for what is no tensor."""
    from penstock.dtypes import as_dtype
    from penstock.kernels.values import to_array

    if not hasattr(value, "reshape"):  # a reference, a handle, a number of a loop
        return None, (), 0
    size = value.nbytes if hasattr(value, "nbytes") else 0
    kind = to_array(value.reshape(-1)[:0]).dtype
    dtype = as_dtype("string" if kind.hasobject else kind)
    return dtype.as_datatype_enum, tuple(value.shape), int(size)


def graph_def_of(step: StepGraph) -> Any:
    """A compiled step as a GraphDef: what is left of the graph after all passes, with devices."""
    message = proto.GraphDef()
    for node in step.nodes:
        made = message.node.add(name=node.name, op=node.type, device=node.device)
        made.input.extend(
            edge.node.name if edge.index == 0 else f"{edge.node.name}:{edge.index}"
            for edge in node.inputs
        )
        made.input.extend(f"^{control.name}" for control in node.controls)
    return message
