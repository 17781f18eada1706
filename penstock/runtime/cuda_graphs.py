"""Steps that are recorded on a GPU once they ran often, and replayed from then on.

A replay hands the GPU all work of a step at once, where a plan launches one kernel after the other.
What always holds:

1. A recording is used for feeds of the shapes that it was made with, and while every variable of
   the step is in the memory that it was in.
2. Recording runs nothing. Where it fails, the step is run by its plan for ever.
   What the host has computed of shapes and copied is taken from the run before.
3. It is kept only if it was faster than the plan in some runs of each.
4. One step at a time is replayed on a device: recordings share their memory. A step of another
   thread is run by its plan meanwhile.
"""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any, Protocol

import torch

from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.kernels.values import fetcher
from penstock.runtime.binding import BoundNode
from penstock.runtime.cuda_graphs_qualify import obstacle
from penstock.runtime.cuda_recorder import recorder_for
from penstock.runtime.device import Device, refused_copies
from penstock.runtime.plan import Plan, make_plan
from penstock.runtime.step import Step
from penstock.state.variable import VariableState

if TYPE_CHECKING:
    from penstock.runtime.compiled import Runnable

_log = logging.getLogger("penstock.cuda_graphs")

WARM_RUNS = 12  # before a step is tried: libraries choose their algorithms, filters their order
TRIALS = 5
WORTH_IT = 0.995  # a replay is kept if it takes at most this part of the plan's time
MOST_FORMS = 4  # shapes of feeds of one step; others are run by the plan
MOST_RECORDINGS = 3  # of one form: variables that keep moving are not worth it


class Replay(Protocol):
    """Work that was recorded, and the values that it leaves behind."""

    outputs: tuple[Any, ...]

    def run(self) -> None:
        """Starts the work anew, behind all that was started before."""

    def release(self) -> None:
        """Gives the memory back."""


class Recorder(Protocol):
    """What records on one device."""

    lock: Any  # held while a step is recorded or replayed

    def record(self, function: Callable[[], tuple[Any, ...]]) -> Replay:
        """Records what a function would do; raises where that is not possible."""

    def static_input(self, value: Any) -> Any:
        """Memory of the device for values of this form."""

    def now(self) -> float:
        """Seconds on a clock, read when the device has done its work."""

    def watch(self) -> AbstractContextManager[list[str]]:
        """A block of work of this thread; the list then has what made it wait for the device."""


class _Recording:
    """A step recorded for one form of feeds."""

    def __init__(
        self, recorder: Recorder, step: _Recordable, feeds: Sequence[Any], copied: Sequence[Any]
    ):
        self.states = [(state, state.value) for state in step.states]
        self.inputs = [recorder.static_input(value) for value in feeds]
        self.function = step.function_with(copied)
        self.replay = recorder.record(self._call)
        self.fetchers = [
            fetcher(edge.dtype.base_dtype, None, copy=not _leaves_device(value))
            for edge, value in zip(step.graph.fetches, self.replay.outputs, strict=True)
        ]

    def _call(self) -> tuple[Any, ...]:
        try:
            with refused_copies():
                outputs = self.function(None, *self.inputs)
            if not self.is_current():
                raise RuntimeError("a variable gets new memory in each step")
            return outputs
        finally:
            for state, value in self.states:
                state.value = value

    def is_current(self) -> bool:
        """Whether all variables are where they were."""
        return all(state.value is value for state, value in self.states)

    def run(self, feeds: Sequence[Any]) -> tuple[Any, ...]:
        for memory, value in zip(self.inputs, feeds, strict=True):
            _load(memory, value)
        self.replay.run()
        return tuple(
            [give(value) for give, value in zip(self.fetchers, self.replay.outputs, strict=True)]
        )


_WORTH_PINNING = 1 << 16  # bytes: a smaller copy is over before its pages are locked


def _load(memory: Any, value: Any) -> None:
    if memory.is_cuda and value.is_cpu and value.nbytes >= _WORTH_PINNING:
        value = value.pin_memory()
    memory.copy_(value, non_blocking=True)


def _leaves_device(value: Any) -> bool:
    """Whether fetching a value copies it."""
    return isinstance(value, torch.Tensor) and value.is_cuda


class _Recordable:
    """What a recording is made of: plans that give runtime values, and the step's variables."""

    def __init__(self, graph: StepGraph, bound: list[BoundNode]):
        self.graph = graph
        self.states = [e.constant for e in bound if isinstance(e.constant, VariableState)]
        self._bound = bound
        self._copies = [e.node for e in bound if _copies_what_the_host_made(e.node)]
        fetches = [*graph.fetches, *(Edge(node, 0) for node in self._copies)]
        seen = StepGraph(graph.nodes, graph.feeds, fetches, graph.targets)
        self._observed = make_plan(seen, bound, inner=True)
        self._give = [fetcher(e.dtype.base_dtype, None, copy=True) for e in graph.fetches]

    def observe(
        self, recorder: Recorder, step: Step | None, feeds: Sequence[Any]
    ) -> tuple[Any, list[Any], list[str]]:
        """Runs the step; returns its results, what was copied from the host, and its waits."""
        with recorder.watch() as waits:
            values = self._observed.run(step, feeds)
        results = [give(value) for give, value in zip(self._give, values, strict=False)]
        return tuple(results), list(values[len(results) :]), waits

    def function_with(self, copied: Sequence[Any]) -> Callable[..., tuple[Any, ...]]:
        """A function of the step in which these values stand for the copies."""
        known = dict(zip(self._copies, copied, strict=True))
        bound = [
            replace(entry, function=None, constant=known[entry.node])
            if entry.node in known
            else _in_place(entry)
            for entry in self._bound
        ]
        return make_plan(self.graph, bound, inner=True).function


def _copies_what_the_host_made(node: Node) -> bool:
    return node.type == "_Copy" and node.inputs[0].node.type != "_Feed"


def _in_place(entry: BoundNode) -> BoundNode:
    """A node that writes into a variable's memory, where it might hand it a value's instead."""
    if entry.node.type == "AssignVariableOp":
        return replace(entry, of_tensors=False)
    return entry


class _Form:
    """How far a step has come with feeds of one form."""

    def __init__(self) -> None:
        self.runs = 0
        self.by_plan: list[float] = []
        self.by_replay: list[float] = []
        self.copied: list[Any] | None = None  # what the host made and the device got
        self.recording: _Recording | None = None
        self.recordings = 0
        self.is_kept = False
        self.given_up = ""  # why

    def state(self) -> str:
        if self.given_up:
            return f"run by its plan: {self.given_up}"
        if self.is_kept:
            return f"replayed, in {self.ratio():.2f} of the plan's time"
        return f"tried after {WARM_RUNS} runs"

    def ratio(self) -> float:
        return median(self.by_replay) / median(self.by_plan)


class ReplayedPlan:
    """A plan of a step on one GPU that is replayed where that is possible and faster."""

    def __init__(
        self, plan: Runnable, graph: StepGraph, bound: list[BoundNode], recorder: Recorder
    ):
        self._plan = plan
        self._graph = graph
        self._bound = bound
        self._recorder = recorder
        self._recordable: _Recordable | None = None
        self._forms: dict[Any, _Form] = {}

    @property
    def source(self) -> str:
        states = dict.fromkeys(form.state() for form in self._forms.values())
        told = "; ".join(states) or f"tried after {WARM_RUNS} runs"
        return f"# CUDA graph: {told}\n{self._plan.source}"

    def run(self, step: Step | None, feeds: Sequence[Any]) -> tuple[Any, ...]:
        key = tuple([(value.shape, value.dtype) for value in feeds])
        form = self._forms.get(key)
        if form is None:
            if len(self._forms) >= MOST_FORMS:
                return self._plan.run(step, feeds)
            form = self._forms.setdefault(key, _Form())
        if form.given_up or not self._recorder.lock.acquire(blocking=False):
            return self._plan.run(step, feeds)
        try:
            return self._run(form, step, feeds)
        finally:
            self._recorder.lock.release()

    def _run(self, form: _Form, step: Step | None, feeds: Sequence[Any]) -> tuple[Any, ...]:
        recording = form.recording
        if recording is not None and recording.is_current():
            if form.is_kept:
                return recording.run(feeds)
            return self._try_replay(form, recording, feeds)
        if recording is not None:
            self._forget(form)
        form.runs += 1
        if form.runs <= WARM_RUNS:
            return self._plan.run(step, feeds)
        if len(form.by_plan) < TRIALS:
            begin = self._recorder.now()
            results = self._plan.run(step, feeds)
            form.by_plan.append(self._recorder.now() - begin)
            return results
        if form.copied is None:
            return self._observe(form, step, feeds)
        if form.recordings < MOST_RECORDINGS and self._record(form, feeds):
            assert form.recording is not None
            return self._try_replay(form, form.recording, feeds)
        if not form.given_up:
            self._give_up(form, "its variables keep moving")
        return self._plan.run(step, feeds)

    def _give_up(self, form: _Form, why: str) -> None:
        """Leaves a form to the plan; a step without feeds, which has no other, altogether."""
        form.given_up = why
        _log.info("a step is %s", form.state())
        if not self._graph.feeds:
            self.run = self._plan.run  # type: ignore[method-assign]  # spares the look-up

    def _observe(self, form: _Form, step: Step | None, feeds: Sequence[Any]) -> tuple[Any, ...]:
        """The last run before a recording, which would break off where the host waits."""
        results, form.copied, waits = self._parts().observe(self._recorder, step, feeds)
        if waits:
            self._give_up(form, f"it waits for the GPU ({waits[0]})")
        return results

    def _parts(self) -> _Recordable:
        if self._recordable is None:
            self._recordable = _Recordable(self._graph, self._bound)
        return self._recordable

    def _record(self, form: _Form, feeds: Sequence[Any]) -> bool:
        form.recordings += 1
        assert form.copied is not None
        try:
            form.recording = _Recording(self._recorder, self._parts(), feeds, form.copied)
        except Exception as error:
            self._give_up(form, f"it can't be recorded ({_first_line(error)})")
            return False
        return True

    def _try_replay(
        self, form: _Form, recording: _Recording, feeds: Sequence[Any]
    ) -> tuple[Any, ...]:
        begin = self._recorder.now()
        results = recording.run(feeds)
        form.by_replay.append(self._recorder.now() - begin)
        if len(form.by_replay) >= TRIALS:
            form.is_kept = form.ratio() <= WORTH_IT
            if form.is_kept:
                _log.info("a step is %s", form.state())
            else:
                self._give_up(form, f"a replay takes {form.ratio():.2f} of its time")
                self._release(form)
        return results

    def close(self) -> None:
        """Gives all memory back; the step is run by its plan from now on."""
        with self._recorder.lock:
            for form in self._forms.values():
                form.given_up = form.given_up or "its session is closed"
                form.copied = None
                self._release(form)

    def _forget(self, form: _Form) -> None:
        """Drops a recording whose variables are elsewhere now."""
        self._release(form)
        form.copied = None
        form.is_kept = False
        form.by_replay.clear()

    @staticmethod
    def _release(form: _Form) -> None:
        if form.recording is not None:
            form.recording.replay.release()
            form.recording = None


class Replaying:
    """The recorders of a runtime's devices, and which of its steps they are for."""

    def __init__(self, devices: Mapping[str, Device]):
        self._devices = devices
        made = {device: recorder_for(device) for device in devices.values()}
        self._recorders = {device: found for device, found in made.items() if found is not None}
        self._plans: weakref.WeakSet[ReplayedPlan] = weakref.WeakSet()

    @property
    def is_on(self) -> bool:
        return bool(self._recorders)

    def replayed(self, plan: Runnable, graph: StepGraph, bound: list[BoundNode]) -> Runnable:
        """The plan, to be recorded where nothing is in the way; else its source says what."""
        used = {self._devices[node.device] for node in graph.nodes if node.type != "_Feed"}
        recorders = [self._recorders[device] for device in used if device in self._recorders]
        if not recorders:
            return plan
        problem = obstacle(graph, bound, self._devices)
        if problem is None:
            made = ReplayedPlan(plan, graph, bound, recorders[0])
            self._plans.add(made)
            return made
        if isinstance(plan, Plan):
            plan.source = f"# no CUDA graph: {problem}\n{plan.source}"
        return plan

    def close(self) -> None:
        """Gives the memory of all recordings back."""
        for plan in list(self._plans):
            plan.close()


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}".rstrip(": ")
