"""What a step costs: the time of an operation on a device, the time of a value between devices.

Times are estimated from static shapes and the speed of a device type, or measured: a model made of
traces (`CostModel.from_step_stats`) knows the nodes that ran, and estimates the others.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.devices import DeviceSpec
from penstock.dtypes import as_dtype
from penstock.ir.step_graph import Edge, Node
from penstock.placement.work import Sizes, bytes_per_element, takes_no_time, work_of


@dataclass(frozen=True)
class Speed:
    """What a device does in a second, and how long it takes to start an operation."""

    flops: float
    bytes: float
    overhead: float


@dataclass(frozen=True)
class Link:
    """A way between two devices: seconds until the first byte is there, bytes per second."""

    latency: float
    bytes: float = math.inf

    def seconds(self, count: float) -> float:
        return self.latency + count / self.bytes


#: A few cores of a server; a data-centre GPU. Only their ratios matter to a choice of devices.
SPEEDS: Mapping[str, Speed] = {
    "CPU": Speed(flops=1e11, bytes=1e10, overhead=5e-6),
    "GPU": Speed(flops=2e13, bytes=1e12, overhead=8e-6),
}

SAME_DEVICE = Link(0.0)
SHARED_MEMORY = Link(50e-6)  # CPU devices of one task: a thread wakes another, nothing is copied
HOST_TO_DEVICE = Link(20e-6, 1.2e10)
DEVICE_TO_DEVICE = Link(20e-6, 5e10)
NETWORK = Link(200e-6, 1e9)

#: How often a loop is taken to run: a trace knows better.
LOOP_ITERATIONS = 10


@dataclass
class CostModel:
    """Times of operations and transfers, in seconds.

    `unknown_size` stands for a dimension that is not known before a run, often the batch.
    `measured` has times by node name and device type, `measured_bytes` sizes by node name and
    output.
    """

    speeds: Mapping[str, Speed] = field(default_factory=lambda: SPEEDS)
    unknown_size: int = 32
    measured: dict[tuple[str, str], float] = field(default_factory=dict)
    measured_bytes: dict[tuple[str, int], float] = field(default_factory=dict)

    @classmethod
    def from_step_stats(cls, *traces: Any, **settings: Any) -> CostModel:
        """A model of what was measured, from `RunMetadata.step_stats` of one run or several.

        The time of a node is the mean over the runs of all it did in one: a node of a loop did
        something in every iteration. Time in which it waited for others does not count.
        """
        if not traces:
            raise ValueError("from_step_stats needs at least one StepStats")
        seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
        sizes: dict[tuple[str, int], float] = {}
        for trace in traces:
            in_run: dict[tuple[str, str], float] = defaultdict(float)
            for device_type, node in _timed_nodes(trace):
                in_run[node.node_name, device_type] += _seconds(node)
                for output in node.output:
                    sizes[node.node_name, output.slot] = _bytes(output.tensor_description)
            for key, value in in_run.items():
                seconds[key].append(value)
        means = {key: sum(values) / len(values) for key, values in seconds.items()}
        return cls(measured=means, measured_bytes=sizes, **settings)

    def time(self, node: Node, device_type: str, loops: int = 0) -> float:
        """Seconds of a node in one step; `loops` says how many loops it is inside of."""
        measured = self.measured.get((node.name, device_type))
        if measured is not None:
            return measured
        if takes_no_time(node):
            return 0.0
        speed = self.speeds.get(device_type) or self.speeds["CPU"]
        work = work_of(node, Sizes(self.unknown_size))
        once = speed.overhead + max(work.flops / speed.flops, work.bytes / speed.bytes)
        return once * LOOP_ITERATIONS**loops

    def bytes(self, edge: Edge) -> float:
        """The size of a value."""
        measured = self.measured_bytes.get((edge.node.name, edge.index))
        return Sizes(self.unknown_size).bytes(edge) if measured is None else measured

    def link(self, source: DeviceSpec, target: DeviceSpec) -> Link:
        """The way from one device to another."""
        if source == target:
            return SAME_DEVICE
        if _task(source) != _task(target):
            return NETWORK
        types = {source.device_type, target.device_type}
        if types == {"CPU"}:
            return SHARED_MEMORY
        return HOST_TO_DEVICE if "CPU" in types else DEVICE_TO_DEVICE


def _task(spec: DeviceSpec) -> tuple[str | None, int | None, int | None]:
    return spec.job, spec.replica, spec.task


def _timed_nodes(trace: Any) -> Iterable[tuple[str, Any]]:
    """The nodes of a trace with the types of their devices; rows that are no devices are left out.

    TensorFlow adds rows such as `/device:GPU:0/stream:all`, with the nodes a second time.
    """
    for row in trace.dev_stats:
        try:
            device_type = DeviceSpec.from_string(row.device).device_type
        except ValueError:
            continue
        for node in row.node_stats:
            yield device_type or "CPU", node


def _seconds(node: Any) -> float:
    if node.all_start_nanos:  # a trace with nanoseconds; in microseconds no node takes less than 1
        return max(0, node.op_end_rel_nanos - node.op_start_rel_nanos) * 1e-9
    return max(0, node.op_end_rel_micros - node.op_start_rel_micros) * 1e-6


def _bytes(description: Any) -> float:
    allocation = description.allocation_description
    if allocation.requested_bytes:
        return float(allocation.requested_bytes)
    if not description.dtype:
        return 0.0
    elements = math.prod(dim.size for dim in description.shape.dim)
    return float(elements * bytes_per_element(as_dtype(description.dtype)))
