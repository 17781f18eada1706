"""Steps ready to run: bound kernels, and the plan that calls them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import torch

from penstock import proto
from penstock.ir.step_graph import StepGraph
from penstock.kernels.kernel_threads import kernel_threads
from penstock.partition.loops import devices_of
from penstock.partition.memory import ANY, HOST, settle
from penstock.partition.split import Partition, partition
from penstock.passes.regions import needs_regions
from penstock.passes.structure import structured
from penstock.runtime import observation
from penstock.runtime.binding import BoundNode, bind_all, has_kernel
from penstock.runtime.cost_graph import MeasuredRuns, cost_graph_of
from penstock.runtime.crew import Crew
from penstock.runtime.device import Device
from penstock.runtime.executor import execute
from penstock.runtime.fusion.trial import Trial
from penstock.runtime.fusion.warming import Warming
from penstock.runtime.observation import Observer
from penstock.runtime.partitioned import Bound, PartitionedPlan
from penstock.runtime.plan import Plan, make_plan
from penstock.runtime.schedule import Schedule
from penstock.runtime.step import Step
from penstock.runtime.tracing import Trace, graph_def_of
from penstock.runtime.watching import Dump, by_device
from penstock.state.waiting import Cancellation

#: Seconds that no step takes. A step with a deadline looks up, at each node, whether to go on.
FOREVER = 1e8


class Runnable(Protocol):
    """A plan, or several that run as one."""

    @property
    def source(self) -> str: ...

    def run(self, step: Step | None, feeds: Sequence[Any]) -> tuple[Any, ...]: ...


class _LimitedThreads:
    """A plan whose kernels use a number of threads of their own."""

    def __init__(self, plan: Runnable, count: int):
        self._plan = plan
        self._run = plan.run
        self._count = count

    @property
    def source(self) -> str:
        return self._plan.source

    def run(self, step: Step | None, feeds: Sequence[Any]) -> tuple[Any, ...]:
        if torch.get_num_threads() == self._count:  # nothing to set: spares a microsecond or two
            return self._run(step, feeds)
        with kernel_threads(self._count):
            return self._run(step, feeds)


class CompiledStep:
    """A step with its kernels bound and its plan made; safe to run from many threads at once."""

    is_brief = False  # nobody knows how long its kernels take

    def __init__(
        self,
        graph: StepGraph,
        bound: list[BoundNode],
        *,
        inner: bool = False,
        make: Callable[..., Runnable] | None = None,
        parts: Sequence[Partition] = (),
    ):
        self.graph = graph
        self.placed = graph  # before loops and branches became parts of a plan
        self.bound = bound
        self.parts = parts  # of several devices, or of one where others are in other tasks
        self._inner = inner
        self._make: Callable[..., Runnable]
        self._make = make or (Schedule if needs_regions(graph) else make_plan)
        self.plan: Runnable | None = None
        if not graph.has_control_flow:
            self.plan = self._make(graph, bound, inner=inner)
        self._checked: Runnable | None = None
        self._traced: Runnable | None = None
        #: Compiles the step as the graph is written; None where that has been done.
        self.rewritten: Callable[[], CompiledStep] | None = None
        self._as_written: CompiledStep | None = None
        self._lock = threading.Lock()
        self._wants_step = make is not None or any(entry.takes_step for entry in bound)
        self.cancellation = Cancellation()
        #: Counts runs until the step is hot; None for a step that stays as it is.
        self.warming: Warming | None = None
        self.fused: Sequence[StepGraph] = ()  # the graphs of a plan with fused regions
        #: Which runs are measured for RunMetadata.cost_graph; None for none.
        self.measured_runs: MeasuredRuns | None = None

    def limit_threads(self, count: int) -> None:
        """Lets the kernels of the step use so many threads, whatever others use."""
        make = self._make

        def limited(plan: Runnable) -> Runnable:
            calls_kernels = not isinstance(plan, Plan) or plan.lines
            return _LimitedThreads(plan, count) if calls_kernels else plan

        self._make = lambda *args, **options: limited(make(*args, **options))
        self.plan = self.plan and limited(self.plan)

    def replay_with(
        self, replayed: Callable[[Runnable, StepGraph, list[BoundNode]], Runnable]
    ) -> None:
        """Lets plans of the step be recorded and replayed; not those that are looked into."""
        make = self._make

        def made(graph: StepGraph, bound: list[BoundNode], **options: Any) -> Runnable:
            plan = make(graph, bound, **options)
            return plan if options else replayed(plan, graph, bound)

        self._make = made
        self.plan = self.plan and replayed(self.plan, self.graph, self.bound)

    @property
    def planned(self) -> list[StepGraph]:
        """The graphs that plans are made of: the step's own, or those of its parts."""
        return [part.graph for part in self.parts] or [self.graph]

    def planned_with(self, feeds: Sequence[Any]) -> list[tuple[StepGraph, Sequence[Any]]]:
        """The graphs that plans are made of, each with those of the step's feeds that it takes."""
        if not self.parts:
            return [(self.graph, feeds)]
        return [(part.graph, [feeds[i] for i in part.feeds]) for part in self.parts]

    def use_fused(self, graphs: Sequence[StepGraph], devices: Mapping[str, Device]) -> None:
        """Takes the plan of another form of the same step; whoever traces sees the nodes still."""
        self.fused, self.plan = graphs, self._plan_of(graphs, devices)

    def _plan_of(self, graphs: Sequence[StepGraph], devices: Mapping[str, Device]) -> Runnable:
        """The plan of another form of the same step, which `planned` has the graphs of."""
        bound = [bind_all(graph, devices) for graph in graphs]
        options = {"inner": True} if self._inner else {}
        if not self.parts:
            return self._make(graphs[0], bound[0], **options)
        parts = [replace(part, graph=graph) for part, graph in zip(self.parts, graphs, strict=True)]
        return self._make(
            self.graph, self.bound, parts=list(zip(parts, bound, strict=True)), **options
        )

    def try_other(self, graph: StepGraph, devices: Mapping[str, Device]) -> None:
        """Lets the plan of another form of the same step take turns with that of now."""
        assert self.plan is not None
        graphs, plans = (self.fused, [graph]), (self.plan, self._plan_of([graph], devices))

        def choose(number: int) -> None:
            self.fused, self.plan = graphs[number], plans[number]

        self.plan = Trial(plans, choose)

    def run(self, feeds: Sequence[Any], timeout: float | None = None) -> tuple[Any, ...]:
        """Runs the step on runtime values; `timeout` is in seconds."""
        if self.measured_runs is not None:
            self.measured_runs.next_is_due()
        if observation.listener is not None:
            return observation.listener.run(self, feeds, timeout)
        plan = self.plan
        if plan is None or timeout is not None or self.warming is not None:
            return self.run_unseen(feeds, timeout)
        return plan.run(Step(None, self.cancellation) if self._wants_step else None, feeds)

    def run_unseen(self, feeds: Sequence[Any], timeout: float | None = None) -> tuple[Any, ...]:
        """Runs the step, whoever listens to the steps of the process."""
        plan, warming = self.plan, self.warming
        if plan is None or timeout is not None:
            return self._run_checked(feeds, Step(_deadline(timeout), self.cancellation))
        step = Step(None, self.cancellation) if self._wants_step else None
        return plan.run(step, feeds) if warming is None else warming.run(self, step, feeds)

    def _run_checked(self, feeds: Sequence[Any], step: Step) -> tuple[Any, ...]:
        if self.plan is None:
            return execute(self.graph, self.bound, feeds, step)
        if self._checked is None:
            with self._lock:
                self._checked = self._make(self.graph, self.bound, checked=True)
        results = self._checked.run(step, feeds)
        step.check()
        return results

    def run_cancellable(
        self, feeds: Sequence[Any], cancellation: Cancellation, timeout: float | None = None
    ) -> tuple[Any, ...]:
        """Runs the step until somebody cancels it, be it in a wait or between two nodes."""
        if self.measured_runs is not None:
            self.measured_runs.next_is_due()
        return self._run_checked(feeds, Step(_deadline(timeout or FOREVER), cancellation))

    def run_with_options(
        self,
        feeds: Sequence[Any],
        options: Any,
        metadata: Any,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> tuple[Any, ...]:
        """Runs the step, and puts what RunOptions ask for into RunMetadata."""
        if options.output_partition_graphs:
            metadata.partition_graphs.extend(self.partition_graphs())
        measured = self.measured_runs is not None and self.measured_runs.next_is_due()
        if measured or options.trace_level != proto.RunOptions.NO_TRACE:
            results, stats = self.run_traced(feeds, timeout, cancellation)
            metadata.step_stats.CopyFrom(stats)
            if measured:
                metadata.cost_graph.CopyFrom(cost_graph_of([self.placed], stats))
            return results
        if cancellation is None and observation.listener is not None:
            return observation.listener.run(self, feeds, timeout)
        if cancellation is None:
            return self.run_unseen(feeds, timeout)
        return self._run_checked(feeds, Step(_deadline(timeout or FOREVER), cancellation))

    def partition_graphs(self) -> list[Any]:
        """What of the graph is left after all passes, as GraphDefs."""
        return [graph_def_of(self.placed)]

    def run_traced(
        self,
        feeds: Sequence[Any],
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> tuple[tuple[Any, ...], Any]:
        """Runs the step, and says in StepStats what the lines of its plan did."""
        trace = Trace()
        results = self.run_recorded(feeds, trace, timeout, cancellation)
        trace.add_silent(self.graph, self.bound, feeds)
        return results, trace.step_stats(self.graph)

    def run_recorded(
        self,
        feeds: Sequence[Any],
        trace: Trace,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
        step: Step | None = None,
    ) -> tuple[Any, ...]:
        """Runs the step, by itself or in a larger `step`, while its lines tell a trace of it."""
        step = step or Step(_deadline(timeout), cancellation or self.cancellation)
        step.trace = trace
        try:
            if self.plan is None:
                return execute(self.graph, self.bound, feeds, step)
            return self._traced_plan().run(step, feeds)
        finally:
            step.trace = None

    def run_watched(
        self,
        feeds: Sequence[Any],
        options: Any,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
        *,
        limited: bool = False,
    ) -> tuple[Any, ...]:
        """Runs the step as it is written, and writes the tensors that DebugOptions name to files.

        `limited` to the folders that graphs of others may touch.
        """
        dump = Dump(options, self.as_written().graph.nodes, limited=limited)
        dump.write_graphs(by_device(graph_def_of(self.as_written().placed)))
        return self.run_observed(feeds, dump, timeout, cancellation)

    def run_observed(
        self,
        feeds: Sequence[Any],
        observer: Observer,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> tuple[Any, ...]:
        """Runs the step node by node as it is written, each before the eyes of an observer."""
        step = Step(_deadline(timeout), cancellation or self.cancellation)
        step.observer = observer
        written = self.as_written()
        return execute(written.graph, written.bound, feeds, step)

    def as_written(self) -> CompiledStep:
        """The same step with every node of the graph: none is folded, merged or left out."""
        if self.rewritten is None:
            return self
        with self._lock:
            if self._as_written is None:
                self._as_written = self.rewritten()
            return self._as_written

    def run_inside(self, step: Step, feeds: Sequence[Any]) -> tuple[Any, ...]:
        """Runs an `inner` step as a part of one that is under way, on runtime values."""
        if self.plan is None:
            return execute(self.graph, self.bound, feeds, step, inner=True)
        if step.trace is not None:
            return self._traced_plan().run(step, feeds)
        if self.warming is not None:
            return self.warming.run(self, step, feeds)
        return self.plan.run(step, feeds)

    def _traced_plan(self) -> Runnable:
        with self._lock:
            if self._traced is None:
                self._traced = self._make(
                    self.graph, self.bound, checked=True, inner=self._inner, traced=True
                )
            return self._traced


def compiled(
    graph: StepGraph,
    devices: Mapping[str, Device],
    crew: Crew | None = None,
    *,
    structure: bool = True,
    inner: bool = False,
) -> CompiledStep:
    """The step as a plan for each device that it is placed on.

    What is not one of loops and conditionals is left to the executor, which runs the nodes of all
    devices; so is everything where there is no `crew` of threads.
    """
    shaped: StepGraph | None = graph
    if graph.has_control_flow:
        shaped = structured(graph) if structure else None
    if shaped is None or (needs_regions(shaped) and any(node.guard for node in shaped.nodes)):
        return CompiledStep(*uncut(graph, devices), inner=inner)
    used = {name for node in shaped.nodes if node.type != "_Feed" for name in devices_of(node)}
    if len(used) > 1 and crew is not None:
        parts = partition(shaped)
        for part in parts:
            settle_memory(part.graph, devices[part.device])
        step = compiled_parts(shaped, parts, devices, crew, inner=inner)
    else:
        whole = shaped.copy() if shaped is graph else shaped
        for name in used:
            settle_memory(whole, devices[name])
        step = CompiledStep(whole, bind_all(whole, devices), inner=inner)
    step.placed = graph
    return step


def uncut(graph: StepGraph, devices: Mapping[str, Device]) -> tuple[StepGraph, list[BoundNode]]:
    """A step for the executor, which runs the nodes of all devices: at most one with a memory of
    its own."""
    used = {devices[node.device] for node in graph.nodes if node.type != "_Feed"}
    apart = [device for device in used if device.host is not device]
    if apart:
        graph = graph.copy()
        for device in apart:
            settle_memory(graph, device)
    return graph, bind_all(graph, devices)


def settle_memory(graph: StepGraph, device: Device) -> None:
    """Puts copies into a part that has a memory of its own."""
    if device.host is not device:
        # A GPU's values are tensors, which whoever fetches them knows; those of others are not.
        fetches = ANY if device.kind is None else HOST
        settle(graph, device.name, device.host.name, has_kernel, fetches=fetches)


def compiled_parts(
    graph: StepGraph,
    parts: Sequence[Partition],
    devices: Mapping[str, Device],
    crew: Crew,
    *,
    inner: bool = False,
    resumable: bool = False,
) -> CompiledStep:
    """Parts of a step, all of them or those of one task, as a plan for each."""
    bound: Bound = [(part, bind_all(part.graph, devices)) for part in parts]

    def make(step: StepGraph, _: list[BoundNode], parts: Bound = bound, **options: Any) -> Runnable:
        return PartitionedPlan(step, parts, crew, resumable=resumable, **options)

    entries = [entry for _, part in bound for entry in part]
    return CompiledStep(graph, entries, inner=inner, make=make, parts=parts)


def _deadline(timeout: float | None) -> float | None:
    return None if timeout is None else time.monotonic() + timeout
