"""What a task runs of a registered step on its own devices, and what is known of its runs."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from penstock.distributed.spinning import FEW_PROCESSORS
from penstock.distributed.step_spec import StepSpec, parts_of, task_of
from penstock.ir.registry import WAITS
from penstock.ir.step_graph import Node, StepGraph
from penstock.partition.kept_sends import PATIENCE, mark_sends
from penstock.partition.late_wakes import wakes_late
from penstock.partition.split import Partition
from penstock.passes.fold import Evaluate
from penstock.passes.pipeline import PassOptions
from penstock.runtime.binding import evaluator
from penstock.runtime.compiled import CompiledStep, compiled_parts, settle_memory, uncut
from penstock.runtime.local import LocalRuntime
from penstock.runtime.partitioned import PartitionedPlan
from penstock.runtime.resumable import Stretches
from penstock.runtime.step import Step
from penstock.runtime.tracing import Trace, graph_def_of

_QUICK_SECONDS = 0.01  # of a part whose thread may lead
_INSTANT_SECONDS = 0.001  # of a part during which nobody has to read
# That an order may wait for values that go with it, where processors are few: with more, the other
# task takes the order up meanwhile.
_SOON_SECONDS = 0.0005
_PATIENCE_OF_FEW = 500e-6  # of values that wait for others, where each message costs all of them
_MOST_COUNTED = 4  # times as long: a run that took longer was held up by something else
_FADING = 0.9  # of what is known of a run, with each further run


class StepPart:
    """What this task runs of one registered step.

    Attributes:
      feeds, fetches: which of the step's it takes and gives.
      tasks: those that have a part of the step.
      senders: those of them that send something to this one.
      wakes_late: whether it wakes others when it waits itself, and at its end.
      first_to: those that this one sends something to before it waits for anything, if orders are
        to wait for that.
      graphs: the parts of all tasks.
      seconds: how long the last run took.
    """

    def __init__(self, spec: StepSpec, runtime: LocalRuntime, task: str):
        step, parts = self._cut(spec, evaluator(runtime.host))
        devices = {device.name: device for device in runtime.devices}
        own = [part for part in parts if task_of(part.device) == task]
        is_whole = any(part.graph is step for part in own)
        for part in () if is_whole else own:
            settle_memory(part.graph, devices[part.device])
            mark_sends(part.graph, part.device, _PATIENCE_OF_FEW if FEW_PROCESSORS else PATIENCE)
        self._is_resumable = False
        self._runtime = runtime  # which lives as long as the parts of its session
        self._own = own
        if is_whole:
            self._step = CompiledStep(*uncut(step, devices), inner=True)
        else:
            self._is_resumable = len(own) == 1 and task != spec.master
            self._step = compiled_parts(
                step, own, devices, runtime.crew, inner=True, resumable=self._is_resumable
            )
        if own:
            self._step.warming = runtime.warming(self._step, PassOptions(**spec.options))
        self.feeds = sorted({i for part in own for i in part.feeds})
        self.fetches = sorted({i for part in own for i in part.fetches})
        self.tasks = list(dict.fromkeys(task_of(part.device) for part in parts))
        received = [n for part in own for n in part.graph.nodes if n.type == "_Recv"]
        senders = dict.fromkeys(task_of(node.attrs["send_device"]) for node in received)
        self._is_alone = (
            len(own) == 1 and own[0].feeds == self.feeds and own[0].fetches == self.fetches
        )
        self.wakes_late = len(own) == 1 and wakes_late(own[0].graph, own[0].device)
        self.senders = [sender for sender in senders if sender != task]
        self._from_others = sum(task_of(n.attrs["send_device"]) != task for n in received)
        self.first_to = set[str]()
        if FEW_PROCESSORS:
            self.first_to = {each for part in own for each in _sent_first(part.graph)} - {task}
        self.graphs = [part.graph for part in parts]
        self.seconds = math.inf
        self._seconds_to_orders = 0.0
        self._waits_for_tasks_alone = len(own) < 2 and not any(
            WAITS in node.spec.traits for part in own for node in part.graph.nodes
        )
        self._feed_count = len(step.feeds)

    def _cut(self, spec: StepSpec, evaluate: Evaluate) -> tuple[StepGraph, list[Partition]]:
        return parts_of(spec, evaluate)

    def partition_graphs(self) -> list[Any]:
        """What all tasks run, as GraphDefs."""
        return [graph_def_of(graph) for graph in self.graphs]

    @property
    def may_lead(self) -> bool:
        """Whether the thread that runs it may keep others from reading what it waits for.

        Not for long, and not while it waits for something else, a queue say.
        """
        return self._waits_for_tasks_alone and self.seconds < _QUICK_SECONDS

    @property
    def is_brief(self) -> bool:
        """Whether it takes but a moment, besides its waits, all of which let others read."""
        lets_read = self._waits_for_tasks_alone or self.wakes_late
        return lets_read and self.seconds < _INSTANT_SECONDS

    def is_instant(self, arrived: int) -> bool:
        """Whether it waits for nothing, so many values being there, and takes but a moment."""
        waits = self._from_others > arrived or not self._waits_for_tasks_alone
        return not waits and self.is_brief

    @property
    def orders_wait_for(self) -> Collection[str]:
        """The tasks whose orders go with what this part sends there, if that is soon."""
        return self.first_to if self._seconds_to_orders < _SOON_SECONDS else ()

    def took(self, seconds: float, to_orders: float | None) -> None:
        """Notes how long a run took, and how long orders waited, if any did."""
        self.seconds = seconds
        # One run that was held up decides nothing, and those that took long are tried again some
        # runs later: the first ones are slow.
        latest = 0.0 if to_orders is None else min(to_orders, _MOST_COUNTED * _SOON_SECONDS)
        self._seconds_to_orders += (1 - _FADING) * (latest - self._seconds_to_orders)

    def run(self, step: Step, feeds: Sequence[Any]) -> Sequence[Any]:
        """Runs on the values of `self.feeds`; gives those of `self.fetches`."""
        plan = self._step.plan
        is_hot = self._step.warming is None and step.trace is None
        if is_hot and self._is_alone and isinstance(plan, PartitionedPlan):
            return plan.run_only_part(step, feeds)
        return self._run_among_parts(step, feeds)

    def stretches(self, step: Step, feeds: Sequence[Any]) -> Stretches | None:
        """A run that takes no thread while it waits; None if it needs one."""
        plan = self._step.plan
        is_hot = self._step.warming is None and step.trace is None
        if is_hot and self._is_resumable and self._is_alone and isinstance(plan, PartitionedPlan):
            return plan.stretches_of_only_part(step, feeds)
        return None

    def _run_among_parts(self, step: Step, feeds: Sequence[Any]) -> Sequence[Any]:
        given: list[Any] = [None] * self._feed_count
        for i, value in zip(self.feeds, feeds, strict=True):
            given[i] = value
        results = self._step.run_inside(step, given)
        return [results[i] for i in self.fetches]

    def step_stats(self, trace: Trace, feeds: Sequence[Any]) -> Any:
        """What a traced run of this part did."""
        values = dict(zip(self.feeds, feeds, strict=True))
        for part in self._own:
            nodes = set(part.graph.nodes)
            entries = [entry for entry in self._step.bound if entry.node in nodes]
            trace.add_silent(part.graph, entries, [values[i] for i in part.feeds])
        return trace.step_stats()


def _sent_first(graph: StepGraph) -> Iterator[str]:
    """The tasks that a part sends something to which does not depend on what it waits for."""
    late: set[Node] = set()
    for node in graph.nodes:
        if node.type == "_Recv" or WAITS in node.spec.traits or late.intersection(node.producers()):
            late.add(node)
        elif node.type == "_Send":
            yield task_of(node.attrs["recv_device"])
