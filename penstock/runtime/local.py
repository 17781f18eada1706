"""The runtime of one process: its devices, and compiled steps ready to run on them."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from penstock.ir.operation import Operation
from penstock.ir.step_graph import StepGraph
from penstock.ir.tensor import Tensor
from penstock.passes.pipeline import AS_WRITTEN, PassOptions, compile_step
from penstock.passes.regions import needs_regions
from penstock.passes.structure import structured
from penstock.placement.placer import place
from penstock.runtime import observation
from penstock.runtime.allocator import keep_freed_memory
from penstock.runtime.binding import BoundNode, bind_all, evaluator
from penstock.runtime.device import Device
from penstock.runtime.executor import execute
from penstock.runtime.observation import Observer
from penstock.runtime.plan import Plan, make_plan
from penstock.runtime.schedule import Schedule
from penstock.runtime.step import Step
from penstock.runtime.tracing import Trace
from penstock.state.containers import ResourceManager
from penstock.state.session_tensors import SessionTensors
from penstock.state.waiting import Cancellation


class CompiledStep:
    """A step with its kernels bound and its plan made; safe to run from many threads at once."""

    def __init__(self, graph: StepGraph, bound: list[BoundNode], *, inner: bool = False):
        self.graph = graph
        self.placed = graph  # before loops and branches became parts of a plan
        self.bound = bound
        self._make = Schedule if needs_regions(graph) else make_plan
        self.plan: Plan | Schedule | None = None
        if not graph.has_control_flow:
            self.plan = self._make(graph, bound, inner=inner)
        self._checked: Plan | Schedule | None = None
        self._traced: Plan | Schedule | None = None
        #: Compiles the step as the graph is written; None where that has been done.
        self.rewritten: Callable[[], CompiledStep] | None = None
        self._as_written: CompiledStep | None = None
        self._lock = threading.Lock()
        self._wants_step = any(entry.takes_step for entry in bound)
        self.cancellation = Cancellation()

    def run(self, feeds: Sequence[Any], timeout: float | None = None) -> tuple[Any, ...]:
        """Runs the step on runtime values; `timeout` is in seconds."""
        if (listener := observation.listener()) is not None:
            return listener.run(self, feeds, timeout)
        return self.run_unseen(feeds, timeout)

    def run_unseen(self, feeds: Sequence[Any], timeout: float | None = None) -> tuple[Any, ...]:
        """Runs the step, whoever listens to the steps of the process."""
        if self.plan is None:
            step = Step(_deadline(timeout), self.cancellation)
            return execute(self.graph, self.bound, feeds, step)
        if timeout is None:
            context = Step(None, self.cancellation) if self._wants_step else None
            return self.plan.run(context, feeds)
        if self._checked is None:
            with self._lock:
                self._checked = self._make(self.graph, self.bound, checked=True)
        step = Step(_deadline(timeout), self.cancellation)
        results = self._checked.run(step, feeds)
        step.check()
        return results

    def run_traced(
        self, feeds: Sequence[Any], timeout: float | None = None
    ) -> tuple[tuple[Any, ...], Any]:
        """Runs the step, and says in StepStats what the lines of its plan did."""
        trace = Trace()
        results = self.run_recorded(feeds, trace, timeout)
        return results, trace.step_stats(dict.fromkeys(node.device for node in self.placed.nodes))

    def run_recorded(
        self, feeds: Sequence[Any], trace: Trace, timeout: float | None = None
    ) -> tuple[Any, ...]:
        """Runs the step, whose lines tell a trace what they do."""
        step = Step(_deadline(timeout), self.cancellation)
        step.trace = trace
        if self.plan is None:
            return execute(self.graph, self.bound, feeds, step)
        return self._traced_plan(inner=False).run(step, feeds)

    def run_observed(
        self, feeds: Sequence[Any], observer: Observer, timeout: float | None = None
    ) -> tuple[Any, ...]:
        """Runs the step node by node as it is written, each before the eyes of an observer."""
        step = Step(_deadline(timeout), self.cancellation)
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
            return self._traced_plan(inner=True).run(step, feeds)
        return self.plan.run(step, feeds)

    def _traced_plan(self, *, inner: bool) -> Plan | Schedule:
        with self._lock:
            if self._traced is None:
                self._traced = self._make(
                    self.graph, self.bound, checked=True, inner=inner, traced=True
                )
            return self._traced


def compiled(
    graph: StepGraph,
    bound: list[BoundNode],
    device: Device,
    *,
    structure: bool = True,
    inner: bool = False,
) -> CompiledStep:
    """The step as a plan where it is one of loops and conditionals; the executor runs the rest."""
    shaped = structured(graph) if structure and graph.has_control_flow else None
    if shaped is None or (needs_regions(shaped) and any(node.guard for node in shaped.nodes)):
        return CompiledStep(graph, bound, inner=inner)
    step = CompiledStep(shaped, bind_all(shaped, device), inner=inner)
    step.placed = graph
    return step


def _deadline(timeout: float | None) -> float | None:
    return None if timeout is None else time.monotonic() + timeout


class LocalRuntime:
    """The devices of one session in this process."""

    def __init__(
        self,
        cpu_devices: int = 1,
        threads: int = 0,
        options: PassOptions | None = None,
        *,
        soft_placement: bool = False,
        log_placement: bool = False,
        task_name: str = "/job:localhost/replica:0/task:0",
        resources: ResourceManager | None = None,
    ):
        keep_freed_memory()
        if threads > 0:  # of one kernel; torch has one pool for the process
            torch.set_num_threads(threads)
        prefix = f"{task_name}/device:CPU:"
        cpu = torch.device("cpu")
        self.devices = [Device(f"{prefix}{i}", "CPU", cpu) for i in range(cpu_devices)]
        # The CPU devices of a process share its memory, and so their state; a server's outlives
        # its sessions.
        shared = self.devices[0].resources if resources is None else resources
        for device in self.devices:
            device.resources = shared
        self.options = options or PassOptions()
        self.cancellation = Cancellation()
        self.soft_placement = soft_placement
        self.log_placement = log_placement

    def compile(
        self,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        options: PassOptions | None = None,
    ) -> CompiledStep:
        """A step ready to run."""
        chosen = self.options if options is None else options
        graph, bound = self.prepare(feeds, fetches, targets, chosen)
        step = compiled(graph, bound, self.devices[0], structure=chosen.structure)
        step.cancellation = self.cancellation
        if chosen != AS_WRITTEN:
            step.rewritten = partial(self.compile, feeds, fetches, targets, AS_WRITTEN)
        return step

    def prepare(
        self,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        options: PassOptions | None = None,
    ) -> tuple[StepGraph, list[BoundNode]]:
        """The optimised, placed step with its kernels."""
        device = self.devices[0]
        graph = compile_step(feeds, fetches, targets, evaluator(device), options or self.options)
        place(graph, [d.name for d in self.devices], soft=self.soft_placement)
        if self.log_placement:
            lines = [f"{node.name}: ({node.type}): {node.device}\n" for node in graph.nodes]
            sys.stderr.write("".join(lines))
        return graph, bind_all(graph, device)

    def session_tensors(self) -> SessionTensors:
        """The tensors that steps have left here under handles."""
        device = self.devices[0]
        return device.resources.get_or_create(
            SessionTensors, "", "", lambda: SessionTensors(device.name)
        )

    def cancel(self) -> None:
        """Ends the waits of all steps, those to come too, with CancelledError."""
        self.cancellation.cancel()

    def reset(self, containers: Sequence[str] = ()) -> None:
        """Clears containers of state; without names, all of them."""
        for device in self.devices:
            device.resources.clear(containers)
