"""What a task runs of a watched step: each run writes the tensors that it is told to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import proto
from penstock.distributed.step_part import StepPart
from penstock.distributed.step_spec import StepSpec, cut, placed_of, task_of
from penstock.ir.step_graph import Node, StepGraph
from penstock.partition.split import Partition
from penstock.passes.fold import Evaluate
from penstock.runtime.executor import execute
from penstock.runtime.local import LocalRuntime
from penstock.runtime.shown_nodes import show_nodes
from penstock.runtime.step import Step
from penstock.runtime.tracing import graph_def_of
from penstock.runtime.watching import Dump, by_device


def step_part(spec: StepSpec, runtime: LocalRuntime, task: str) -> StepPart:
    """What a task runs of a step."""
    return (WatchedPart if spec.watched else StepPart)(spec, runtime, task)


class WatchedPart(StepPart):
    """A part whose nodes are shown to an observer.

    1. What to write, a DebugOptions message, is one more value that every task is fed: so a step is
       registered once, however often the watches change, and orders are those of any other step.
    2. A step on one task is run by the executor, which shows every node. Of one on several, plans
       show what they have of the nodes: not those that loops and conditionals are made of.
    """

    def __init__(self, spec: StepSpec, runtime: LocalRuntime, task: str):
        self._task = task
        self._shown: list[Node] = []
        self._graph_defs: dict[str, Any] = {}  # of all devices
        self._is_whole = False
        super().__init__(spec, runtime, task)
        self.feeds = [*self.feeds, self._feed_count]
        self._feed_count += 1
        self._is_alone = False  # it takes one feed more than its plan does

    def _cut(self, spec: StepSpec, evaluate: Evaluate) -> tuple[StepGraph, list[Partition]]:
        placed = placed_of(spec, evaluate)
        whole = graph_def_of(placed)
        nodes = list(placed.nodes)
        written = {node.name: node.copy() for node in nodes if node.type != "_Feed"}
        step, parts = cut(placed, spec)
        self._is_whole = parts[0].graph is step
        if self._is_whole:
            self._graph_defs = by_device(whole)
            self._shown = nodes
        else:
            self._show(parts, whole, written)
        return step, parts

    def _show(self, parts: list[Partition], whole: Any, written: dict[str, Node]) -> None:
        devices = {part.device for part in parts}
        # Each part has the constants that it uses. They are shown where they are placed; those of
        # a device without a part are shown once.
        homeless = {name for name, node in written.items() if node.device not in devices}
        for part in parts:
            here = {name for name, node in written.items() if node.device == part.device}
            known = {
                name: node
                for name, node in written.items()
                if node.type != "Const" or name in here or name in homeless
            }
            shown = show_nodes(part.graph, part.device, known)
            homeless -= shown.keys()
            self._graph_defs[part.device] = _graph_of(part, whole, {*here, *shown})
            if task_of(part.device) == self._task:
                self._shown += shown.values()

    def partition_graphs(self) -> list[Any]:
        return list(self._graph_defs.values())

    def run(self, step: Step, feeds: Sequence[Any]) -> Sequence[Any]:
        *given, asked = feeds
        dump = Dump(proto.DebugOptions.FromString(bytes(asked)), self._shown, limited=True)
        own = {d: graph for d, graph in self._graph_defs.items() if task_of(d) == self._task}
        dump.write_graphs(own)
        step.observer = dump
        if not self._is_whole:
            return super().run(step, feeds)
        results = execute(self._step.graph, self._step.bound, given, step, inner=True)
        return [results[i] for i in self.fetches]


def _graph_of(part: Partition, whole: Any, names: set[str]) -> Any:
    """What a device runs, as it is written: inputs may be nodes of other devices."""
    made = proto.GraphDef(node=[whole.node[i] for i in part.feeds])
    made.node.extend(node for node in whole.node if node.name in names)
    for node in made.node:
        node.device = part.device
    return made
