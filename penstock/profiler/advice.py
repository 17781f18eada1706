"""`tf.profiler.advise`: what in a profile looks as if it could be faster."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from penstock import proto
from penstock.ir.graph import Graph
from penstock.profiler.node_statistics import NodeStatistics
from penstock.profiler.numbers import formatted_micros

_MOST = 3  # how many of the most expensive ones are told
_IDLE = 0.3  # the share of its time below which an accelerator counts as idle


def _expensive(graph: Graph, nodes: Sequence[NodeStatistics]) -> Iterator[str]:
    """The types of operations, and the nodes, that take most time."""
    total = sum(node.exec_micros for node in nodes)
    if not total:
        return
    for what, key in (
        ("operation type", lambda node: node.types[0]),
        ("graph node", lambda node: node.name),
    ):
        yield "\n".join(_most_expensive(nodes, what, key, total))


def _most_expensive(
    nodes: Sequence[NodeStatistics], what: str, key: Callable[[NodeStatistics], str], total: int
) -> Iterator[str]:
    groups: dict[str, list[NodeStatistics]] = defaultdict(list)
    for node in nodes:
        groups[key(node)].append(node)

    def time(group: list[NodeStatistics]) -> int:
        return sum(node.exec_micros for node in group)

    ranked = sorted(groups.items(), key=lambda item: -time(item[1]))
    for place, (name, group) in enumerate(ranked[:_MOST], 1):
        cpu = formatted_micros(sum(node.cpu_exec_micros for node in group))
        accelerator = formatted_micros(sum(node.accelerator_exec_micros for node in group))
        yield (
            f"top {place} {what}: {name}, cpu: {cpu}, accelerator: {accelerator}, "
            f"total: {formatted_micros(time(group))} ({time(group) / total:.2%})"
        )


def _slow_forms(graph: Graph, nodes: Sequence[NodeStatistics]) -> Iterator[str]:
    """Operations of which there are faster ones."""
    on_gpu = {node.name for node in nodes if any("gpu" in device for device in node.devices)}
    formats = {
        op.name: op.node_def.attr["data_format"].s
        for op in graph.get_operations()
        if op.name in on_gpu and "data_format" in op.node_def.attr
    }
    if b"NHWC" in formats.values():
        yield "Found operation using NHWC data_format on GPU. Maybe NCHW is faster."
    for op in graph.get_operations():
        if op.type == "BatchNormWithGlobalNormalization":
            yield f"Maybe use faster FusedBatchNorm instead of {op.name}"


def _idle_accelerators(graph: Graph, nodes: Sequence[NodeStatistics]) -> Iterator[str]:
    """Accelerators that wait most of the time."""
    busy: dict[str, int] = defaultdict(int)
    total = sum(node.exec_micros for node in nodes)
    for node in nodes:
        for device in node.devices:
            if "gpu" in device:
                busy[device] += node.accelerator_exec_micros or node.cpu_exec_micros
    for device, micros in busy.items():
        if micros < _IDLE * total:
            yield f"device: {device} low utilization: {micros / total:.2f}"


_CHECKERS: dict[str, Callable[[Graph, Sequence[NodeStatistics]], Iterator[str]]] = {
    "ExpensiveOperationChecker": _expensive,
    "OperationChecker": _slow_forms,
    "AcceleratorUtilizationChecker": _idle_accelerators,
}

#: All checkers; their options are empty. The third one is known, and checks nothing.
ALL_ADVICE: dict[str, dict[str, str]] = {
    "ExpensiveOperationChecker": {},
    "AcceleratorUtilizationChecker": {},
    "JobChecker": {},
    "OperationChecker": {},
}


def advice(graph: Graph, nodes: Sequence[NodeStatistics], options: dict[str, Any]) -> Any:
    """Prints and returns (`AdviceProto`) what the checkers that `options` name have found."""
    found = proto.AdviceProto()
    for name, check in _CHECKERS.items():
        if name in options:
            reports = list(check(graph, nodes))
            found.checkers[name].reports.extend(reports)
            sys.stdout.write("\n".join([f"\n{name}:", *reports, ""]))
    return found
