"""`tensorflow.python.grappler.cluster`: what a graph costs on devices, real or imagined."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import penstock as tf
from penstock.client import device_lib
from penstock.grappler.items import Item, RunnableGraph
from penstock.ir import registry
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.passes.prune import prune
from penstock.placement.cost_model import SPEEDS, CostModel
from penstock.proto import DeviceProperties, NamedDevice, NodeExecStats, OpPerformance, StepStats
from penstock.runtime.binding import has_kernel

__all__ = ["Cluster", "Provision"]

_LOCAL_TASK = "/job:localhost/replica:0/task:0"
_NANOSECONDS = 10**9

# Cores of a GPU's multiprocessor, by the first number of its architecture up to which it holds.
_CORES = ((2, 32), (3, 192), (5, 128))
_CORES_OF_LATER = 64


class LiveTensor(NamedTuple):
    """A node's output in memory, and the nanoseconds from its making to the end of its last use."""

    node: str
    slot: int
    bytes: int
    start: int
    end: int


class Cluster:
    """The devices of this process, or a list of `NamedDevice` messages that nothing runs on.

    Args:
      allow_soft_placement: whether nodes may run elsewhere than where they ask to.
      disable_detailed_stats: whether `MeasureCosts` leaves out the costs of single nodes.
      disable_timeline: whether `MeasureCosts` leaves out when each node ran.
      devices: the devices to imagine; None stands for the real ones.
    """

    def __init__(
        self,
        allow_soft_placement: bool = True,
        disable_detailed_stats: bool = True,
        disable_timeline: bool = True,
        devices: Sequence[Any] | None = None,
    ):
        self._soft = allow_soft_placement
        self._detailed = not disable_detailed_stats
        self._timeline = not disable_timeline
        self._is_virtual = devices is not None
        self._devices: list[Any] | None = _local_devices() if devices is None else list(devices)

    @property
    def tf_cluster(self) -> list[Any] | None:
        """The devices; None after `Shutdown`."""
        return self._devices

    def Shutdown(self) -> None:
        """Lets the devices go."""
        self._devices = None

    def ListDevices(self) -> list[Any]:
        """The devices, as `NamedDevice` messages."""
        return list(self._devices or [])

    def ListAvailableOps(self) -> list[str]:
        """The names of all op types, sorted."""
        return sorted(registry.specs())

    def GetSupportedDevices(self, item: Item) -> dict[str, list[str]]:
        """For each node the names of the devices whose type has a kernel for it."""
        step = _whole_graph(item.tf_item.graph)
        return {
            node.name: [
                device.name
                for device in self.ListDevices()
                if has_kernel(node, device.properties.type)
            ]
            for node in step.nodes
        }

    def EstimatePerformance(self, device: Any) -> float:
        """Billions of floating point operations that a device can do in a second; -1 if unknown."""
        properties = device.properties
        rate = properties.num_cores * properties.frequency * 1e-3
        if properties.type == "CPU":
            return float(rate)
        if properties.type != "GPU":
            return -1.0
        first = int(properties.environment["architecture"][:1])
        cores = next((cores for last, cores in _CORES if first <= last), _CORES_OF_LATER)
        return float(rate * cores * 2)  # a core multiplies and adds at once

    def MeasureCosts(self, item: Item) -> tuple[list[Any], float, Any]:
        """Costs of the nodes, seconds of a step, and when each node ran (`StepStats`).

        A real cluster runs a step, after the variables' initializers and with zeros for the
        placeholders; for an imagined one the figures are estimates.
        """
        if self._is_virtual:
            costs, stats = self._estimated(item.tf_item)
        else:
            stats = self._run(item.tf_item)
            costs = [_measured(each, item.tf_item.graph) for each in _nodes(stats)]
        seconds = _duration(stats) / _NANOSECONDS
        if not (self._detailed or self._is_virtual):
            costs = []
        return costs, seconds, stats if self._timeline else StepStats()

    def DeterminePeakMemoryUsage(self, item: Item) -> dict[str, tuple[int, list[LiveTensor]]]:
        """For each device the most bytes in use at once, and the tensors that were there then."""
        graph = item.tf_item.graph
        stats = self._estimated(item.tf_item)[1] if self._is_virtual else self._run(item.tf_item)
        peaks: dict[str, tuple[int, list[LiveTensor]]]
        peaks = {device.name: (-1, []) for device in self.ListDevices()}
        return peaks | {row.device: _peak(row.node_stats, graph) for row in stats.dev_stats}

    def _run(self, item: RunnableGraph) -> Any:
        """The `StepStats` of one run."""
        config = tf.ConfigProto(allow_soft_placement=self._soft)
        metadata = tf.RunMetadata()
        with tf.Session(graph=item.graph, config=config) as sess:
            sess.run(item.initializers())
            sess.run(
                [_fetchable(op) for op in item.operations(item.fetched)],
                item.feeds(),
                options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE),
                run_metadata=metadata,
            )
        return metadata.step_stats

    def _estimated(self, item: RunnableGraph) -> tuple[list[Any], Any]:
        """Costs of nodes one after the other on the first device, and the `StepStats` of that."""
        device = self.ListDevices()[0]
        kind = device.properties.type
        model = CostModel()
        stats = StepStats()
        row = stats.dev_stats.add(device=device.name)
        costs = []
        now = 0
        for node in prune([], [], item.operations(item.fetched)).nodes:
            took = round(model.time(node, kind if kind in SPEEDS else "CPU") * _NANOSECONDS)
            costs.append(_cost(node, device.properties, took, model))
            row.node_stats.append(_imagined_run(node, now, took, model))
            now += took
        return costs, stats


@contextlib.contextmanager
def Provision(
    allow_soft_placement: bool = True,
    disable_detailed_stats: bool = True,
    disable_timeline: bool = True,
    devices: Sequence[Any] | None = None,
) -> Iterator[Cluster]:
    """A `Cluster` that is shut down at the end of the block."""
    cluster = Cluster(allow_soft_placement, disable_detailed_stats, disable_timeline, devices)
    yield cluster
    cluster.Shutdown()


def _local_devices() -> list[Any]:
    found = []
    for each in device_lib.list_local_devices():
        properties = DeviceProperties(
            type=each.device_type, num_cores=os.cpu_count() or 1, memory_size=each.memory_limit
        )
        found.append(NamedDevice(name=_LOCAL_TASK + each.name, properties=properties))
    return found


def _fetchable(op: tf.Operation) -> Any:
    """A node's first value, if it has one that can be fetched: the trace then knows its size."""
    return next((value for value in op.outputs[:1] if value.dtype.is_numpy_compatible), op)


def _whole_graph(graph: tf.Graph) -> StepGraph:
    return prune([], [], graph.get_operations())


def _nodes(stats: Any) -> Iterator[Any]:
    for row in stats.dev_stats:
        yield from row.node_stats


def _duration(stats: Any) -> int:
    """Nanoseconds from the first node's start to the last one's end."""
    spans = [_span(each) for each in _nodes(stats)]
    if not spans:
        return 0
    return max(end for _, end in spans) - min(start for start, _ in spans)


def _span(each: Any) -> tuple[int, int]:
    return each.all_start_nanos, each.all_start_nanos + each.all_end_rel_nanos


def _measured(each: Any, graph: tf.Graph) -> Any:
    """What a node of a trace cost. A node that the trace alone has is of no op type."""
    message = OpPerformance(node=each.node_name, compute_cost=each.all_end_rel_nanos)
    message.op_memory.output_memory.extend(
        output.tensor_description.allocation_description.requested_bytes for output in each.output
    )
    try:
        op = graph.get_operation_by_name(each.node_name)
    except KeyError:
        return message
    _describe(message.op, op)
    return message


def _cost(node: Node, device: Any, took: int, model: CostModel) -> Any:
    message = OpPerformance(node=node.name, compute_cost=took)
    message.op_memory.output_memory.extend(_sizes(node, model))
    if node.origin is not None:
        _describe(message.op, node.origin)
    message.op.device.CopyFrom(device)
    return message


def _describe(message: Any, op: tf.Operation) -> None:
    """Fills in an `OpInfo`: the type of an operation, its attrs, its inputs and outputs."""
    message.op = op.type
    for name, value in op.node_def.attr.items():
        message.attr[name].CopyFrom(value)
    for tensors, into in ((op.inputs, message.inputs), (op.outputs, message.outputs)):
        for tensor in tensors:
            into.add(dtype=tensor.dtype.as_datatype_enum, shape=tensor.shape.as_proto())


def _sizes(node: Node, model: CostModel) -> list[int]:
    return [round(model.bytes(Edge(node, slot))) for slot in range(len(node.dtypes))]


def _imagined_run(node: Node, start: int, took: int, model: CostModel) -> Any:
    stats = NodeExecStats(
        node_name=node.name,
        timeline_label=node.type,
        all_start_nanos=start,
        all_end_rel_nanos=took,
        op_end_rel_nanos=took,
    )
    for slot, size in enumerate(_sizes(node, model)):
        description = stats.output.add(slot=slot).tensor_description
        description.allocation_description.requested_bytes = size
    return stats


def _peak(rows: Sequence[Any], graph: tf.Graph) -> tuple[int, list[LiveTensor]]:
    """The most bytes at once, with the values that take them."""
    values = _values(rows, graph)
    best: tuple[int, list[LiveTensor]] = (-1, [])
    for moment in {value.start for value in values}:
        live = [value for value in values if value.start <= moment < value.end]
        total = sum(value.bytes for value in live)
        if total > best[0]:
            best = total, live
    return best


def _values(rows: Sequence[Any], graph: tf.Graph) -> list[LiveTensor]:
    ends = {each.node_name: _span(each)[1] for each in rows}
    found = []
    for each in rows:
        start, end = _span(each)
        try:
            outputs = graph.get_operation_by_name(each.node_name).outputs
        except KeyError:
            outputs = []
        for output in each.output:
            uses = outputs[output.slot].consumers() if output.slot < len(outputs) else []
            last = max([end, *(ends.get(use.name, end) for use in uses)])
            size = output.tensor_description.allocation_description.requested_bytes
            found.append(LiveTensor(each.node_name, output.slot, size, start, last + 1))
    return found
