"""The runtime of a session on a cluster: places over the devices of all tasks, runs on all.

A step is registered with the tasks that have a part of it when it first runs; from then on a run
sends each of them its feeds and a number, and the parts meet by that number.
"""

from __future__ import annotations

import itertools
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from penstock import errors, proto
from penstock.distributed.cluster_partial_run import ClusterPartialRun, PartialSteps
from penstock.distributed.frames import Value
from penstock.distributed.interrupts import Held, Open
from penstock.distributed.large_constants import GivenConstants
from penstock.distributed.meeting import Order
from penstock.distributed.readers import leave_turn
from penstock.distributed.reading import Leading
from penstock.distributed.statuses import located
from penstock.distributed.step_part import StepPart
from penstock.distributed.step_run import (
    Answered,
    Call,
    Event,
    KnownStep,
    Note,
    StepRun,
    Stop,
    Tick,
)
from penstock.distributed.step_spec import StepSpec, fields_of, spec_of, task_of
from penstock.distributed.watched_part import step_part
from penstock.distributed.worker import Worker
from penstock.dtypes import DType
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.ir.step_graph import StepGraph
from penstock.ir.tensor import Tensor
from penstock.kernels.values import fetcher
from penstock.passes.pipeline import AS_WRITTEN, PassOptions, compile_step
from penstock.passes.prune import prune
from penstock.placement.placer import place
from penstock.runtime.binding import evaluator, has_kernel
from penstock.runtime.cost_graph import MeasuredRuns, cost_graph_of
from penstock.runtime.local import LocalRuntime
from penstock.state.gates import LOOK_SECONDS, taken
from penstock.state.waiting import Cancellation


class ClusterRuntime:
    """What a `MasterSession` runs its steps on.

    Args:
      worker: that of the master's own task.
      local: a runtime of the session in the own task, for steps that stay there.
      devices: the DeviceAttributes of all tasks, by task.
      incarnations: which worker each of the other tasks had when the session was made.
      is_isolated: whether the session has its state for itself, in all tasks.
    """

    def __init__(
        self,
        worker: Worker,
        local: LocalRuntime,
        devices: dict[str, list[Any]],
        incarnations: Mapping[str, str],
        *,
        is_isolated: bool = False,
    ):
        self._worker = worker
        self._local = local
        self._devices = devices
        self._names = _preferred(each.name for found in devices.values() for each in found)
        self._places: dict[str, str] = {}
        self.cancellation = local.cancellation
        known = {**incarnations, worker.task: worker.incarnation}
        self._partial_steps = PartialSteps(self.compile)
        self._is_isolated = is_isolated
        self._prefix = f"{secrets.token_hex(8)}/"
        self._session = worker.master.session(self._prefix, known)
        self._given = GivenConstants()
        self._numbers = itertools.count(secrets.randbits(62))  # of steps, in all tasks

    def measured_runs(self) -> MeasuredRuns | None:
        """Which runs of a new step are measured for `RunMetadata.cost_graph`; None for none."""
        return self._local.measured_runs()

    @property
    def device_names(self) -> list[str]:
        """The names of the devices of all tasks."""
        return self._names

    def compile(
        self, feeds: Sequence[Tensor], fetches: Sequence[Tensor], targets: Sequence[Operation]
    ) -> Any:
        """A step ready to run, on whatever tasks it is placed."""
        step = self._compiled(feeds, fetches, targets, self._local.options)
        # As it is written, it may be on tasks that have no part in it otherwise.
        step.rewritten = partial(self._compiled, feeds, fetches, targets, AS_WRITTEN, watched=True)
        return step

    def _compiled(
        self,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        options: PassOptions,
        *,
        watched: bool = False,
    ) -> Any:
        graph = compile_step(feeds, fetches, targets, evaluator(self._local.host), options)
        if self._tasks_of(graph) <= {self._worker.task}:
            compiled = self._local.as_written if watched else self._local.compile
            return compiled(feeds, fetches, targets)
        if self._local.log_placement:
            written = prune(feeds, fetches, targets)
            self._place(written, dict(self._places))
            self._local.tell_places(written)
        spec = spec_of(
            graph,
            list(feeds),
            list(fetches),
            list(targets),
            self._names,
            replace(options, narrow_edges=self._local.options.narrow_edges),
            self._worker.task,
            watched=watched,
        )
        of = fetches[0].graph if fetches else targets[0].graph
        return ClusterStep(self, spec, list(fetches), of)

    def _tasks_of(self, step: StepGraph) -> set[str]:
        """Places a step; the tasks that have a part of it."""
        self._place(step, self._places)
        return {task_of(node.device) for node in step.nodes if node.type != "_Feed"}

    def _place(self, step: StepGraph, sticky: dict[str, str]) -> None:
        soft = self._local.soft_placement
        place(step, self._names, soft=soft, supports=has_kernel, sticky=sticky)

    # Registering and running ------------------------------------------------------------------

    def register(self, spec: StepSpec) -> _Registered:
        """Has all tasks with a part of a step compile it."""
        own = step_part(spec, self._local, self._worker.task)
        answers: SimpleQueue[Answered] = SimpleQueue()
        fields = fields_of(spec)
        fields |= {"session": self._prefix, "isolated": self._is_isolated}
        with Held():
            registration, calls = self._session.register(own.tasks, fields, [spec.nodes])
            for call in calls:
                if call.task == self._worker.task:
                    call.fields["part"] = own
                else:
                    call = self._given.with_missing(call, spec.constants)
                self._worker.ask(self._worker.connect(call.task), call, answers.put)
            while not registration.is_over:
                for late in registration.handle(_next(answers), time.monotonic()):
                    self._worker.release(late)
        if registration.error is not None:
            raise registration.error
        self._given.took(own.tasks, spec.constants)
        fed = {i: spec.feeds.index(n) for i, n in enumerate(spec.fetches) if n in spec.feeds}
        return _Registered(registration.step, fed, own)

    def run(
        self,
        registered: _Registered,
        feeds: Sequence[Any],
        count: int,
        timeout: float | None,
        cancellation: Cancellation,
        stats: Any = None,
    ) -> list[Any]:
        """Runs a registered step once; the runtime values of its fetches.

        A StepStats message gets what all tasks did.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        number = next(self._numbers)
        traced = stats is not None
        run = StepRun(registered.step, number, count, deadline, traced=traced)
        began = time.monotonic()
        part = registered.part
        running = _Running(self._worker, run, cancellation, part)
        with Held(running.interrupt):
            running.follow(feeds)
        part.took(time.monotonic() - began, running.seconds_to_orders)
        for each in run.stats:
            stats.MergeFromString(each)
        for i, fed in registered.fed.items():
            run.values[i] = feeds[fed]
        return run.values

    # As a session's runtime -------------------------------------------------------------------

    def partial_run(
        self, feeds: Sequence[Tensor], fetches: Sequence[Tensor], targets: Sequence[Operation]
    ) -> Any:
        graph = compile_step(feeds, fetches, targets, evaluator(self._local.host), AS_WRITTEN)
        if self._tasks_of(graph) <= {self._worker.task}:
            return self._local.partial_run(feeds, fetches, targets)
        return ClusterPartialRun(self._partial_steps, feeds, fetches, targets)

    def device_attributes(self) -> list[Any]:
        return [each for found in self._devices.values() for each in found]

    def kept_tensor(self, handle: str, dtype: DType) -> Any:
        return self._local.kept_tensor(handle, dtype)

    def forget_tensor(self, handle: str) -> None:
        self._local.forget_tensor(handle)

    def reset(self, containers: Sequence[str] = ()) -> None:
        self._local.reset(containers)

    def close(self) -> None:
        """Ends the session's steps, here and in the other tasks."""
        self._local.close()
        with Held():
            for call in self._session.close():
                self._worker.release(call)


def _next(answers: SimpleQueue[Answered]) -> Answered:
    with Open():
        return taken(answers)


def _preferred(devices: Iterable[str]) -> list[str]:
    """GPUs before CPUs, and by name: what a graph leaves open has one place for all masters.

    So workers share a variable without a device, as TensorFlow's do: it is on the first task of
    the job that comes first by name.
    """
    return sorted(devices, key=lambda name: ("/device:CPU:" in name, name))


@dataclass
class _Registered:
    """A step that its tasks know."""

    step: KnownStep
    fed: dict[int, int]  # fetches that are feeds: no task has them
    part: StepPart  # of the own task, be it empty


class _Running:
    """The thread that follows a `StepRun`.

    It runs the part of its own task, too, where no time limit has to be watched meanwhile. While it
    does, events are handled in the threads that they come from. If that part may lead, it reads by
    itself what the other tasks of the step send.

    Attributes:
      seconds_to_orders: how long orders have waited for what the own part sends with them.
    """

    def __init__(
        self, worker: Worker, run: StepRun, cancellation: Cancellation, part: StepPart
    ) -> None:
        self._worker = worker
        self._run = run
        self._cancellation = cancellation
        self._events: SimpleQueue[Event] = SimpleQueue()
        self._links: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._is_busy = False  # with the own part
        self._part = part
        self._leading: Leading | None = None
        self._orders: dict[str, Order] = {}
        self.seconds_to_orders: float | None = None

    def follow(self, feeds: Sequence[Any]) -> None:
        """Runs the step to its end, and raises its error."""
        self._cancellation.add(self, self._cancel)
        self._worker.master.began(self._run, self._post)
        try:
            self._give_orders(self._run.begin(feeds))
            while not self._run.is_over:
                self._tell(self._run.handle(self._next_event(), time.monotonic()))
        finally:
            if self._leading is not None:
                self._leading.end()
            self._worker.master.ended(self._run)
            self._cancellation.discard(self)
        if self._run.error is not None:
            raise self._run.error

    def interrupt(self) -> None:
        """Ends the step because of Ctrl-C."""
        self._post(_given_up(KeyboardInterrupt()))

    def _cancel(self) -> None:
        cancelled = errors.CancelledError(None, None, "the step was cancelled")
        self._post(Stop(cancelled, "it was cancelled"))

    def _post(self, event: Event) -> None:
        with self._lock:
            if not self._is_busy:
                self._events.put(event)
                if self._leading is not None:
                    self._leading.wake()
                return
            notes = self._run.handle(event, time.monotonic())
        if notes:
            self._tell(notes)

    def _give_orders(self, calls: Sequence[Call]) -> None:
        """To the other tasks first: they work at once with this one."""
        worker, links = self._worker, self._links
        own: Call | None = None
        others = []
        for call in calls:
            if call.task == worker.task:
                own = call
                continue
            try:
                links[call.task] = worker.connect(call.task)
                others.append(call)
            except errors.OpError as error:
                self._post(Answered(call.task, {}, [], error))
        if self._part.may_lead:
            # Who has nothing to compute here leaves it to those who have.
            led = [each for each in links.values() if own or not each.reading.is_contested]
            self._leading = Leading(led, among_others=own is not None)
        here = self._run.deadline is None and not worker.runtime.limits_threads
        late = self._part.orders_wait_for if here and own is not None else ()
        for call in others:
            if call.task in late:
                self._orders[call.task] = partial(self._order, call, time.monotonic())
            else:
                worker.ask(links[call.task], call, self._post)
        if own is None:
            return
        links[own.task] = worker.own_link
        if here:
            self._do_own_part(own)
        else:
            worker.ask(worker.own_link, own, self._post)

    def _order(self, call: Call, since: float, keys: list[Any], values: list[Value]) -> None:
        """Has another task run its part on what the own part has sent there so far."""
        if keys:
            call = Call(call.task, {**call.fields, "keys": keys}, [*call.values, *values])
        try:
            self._worker.ask(self._links[call.task], call, self._post)
        except BaseException as error:  # a value that can't travel, Ctrl-C
            self._post(Answered(call.task, {}, [], error))
        self.seconds_to_orders = time.monotonic() - since

    def _do_own_part(self, call: Call) -> None:
        notes: list[Note] = []
        with self._lock:
            self._is_busy = True
            while not self._events.empty():
                notes += self._run.handle(self._events.get(), time.monotonic())
        if notes:
            self._tell(notes)
        try:
            answered = self._worker.run_own(call, self._leading, self._orders)
        finally:
            with self._lock:
                self._is_busy = False
        self._tell(self._run.handle(answered, time.monotonic()))

    def _next_event(self) -> Event:
        deadline = self._run.deadline
        try:
            if self._leading is not None and self._events.empty():
                self._leading.wait(lambda: not self._events.empty(), deadline)
                if self._events.empty():
                    self._leading.end()
            if self._events.empty():
                leave_turn()
            left = LOOK_SECONDS
            if deadline is not None:
                left = min(left, max(0.0, deadline - time.monotonic()))
            with Open():
                return self._events.get(timeout=left)
        except Empty:
            return Tick()
        except BaseException as interrupt:  # Ctrl-C
            self._tell(self._run.handle(_given_up(interrupt), time.monotonic()))
            raise

    def _tell(self, notes: Sequence[Note]) -> None:
        for note in notes:
            link = self._links.get(note.task)  # none if it could not be reached at all
            with suppress(errors.OpError):  # if it is gone, its call has been answered with that
                if link is not None:
                    link.note(note.fields)


def _given_up(interrupt: BaseException) -> Stop:
    return Stop(interrupt, "its client has given it up")


class ClusterStep:
    """A step on several tasks, with the methods of a `CompiledStep`."""

    def __init__(
        self, runtime: ClusterRuntime, spec: StepSpec, fetches: list[Tensor], graph: Graph
    ):
        self._runtime = runtime
        self._graph = graph
        self._spec = spec
        self._registered: _Registered | None = None
        self._measured_runs = runtime.measured_runs()
        self._give = [fetcher(tensor.dtype.base_dtype, None, copy=True) for tensor in fetches]
        #: Compiles the step as the graph is written; None where that has been done.
        self.rewritten: Callable[[], Any] | None = None
        self._as_written: Any = None

    def run(self, feeds: Sequence[Any], timeout: float | None = None) -> tuple[Any, ...]:
        return self.run_cancellable(feeds, self._runtime.cancellation, timeout)

    def run_cancellable(
        self, feeds: Sequence[Any], cancellation: Cancellation, timeout: float | None = None
    ) -> tuple[Any, ...]:
        if self._measured_runs is not None:
            self._measured_runs.next_is_due()
        return self._run(feeds, cancellation, timeout)

    def _run(
        self,
        feeds: Sequence[Any],
        cancellation: Cancellation,
        timeout: float | None,
        stats: Any = None,
    ) -> tuple[Any, ...]:
        try:
            registered = self._registered or self._known()
            values = self._runtime.run(
                registered, feeds, len(self._give), timeout, cancellation, stats
            )
        except errors.OpError as error:
            raise located(error, self._graph) from error
        return tuple([give(value) for give, value in zip(self._give, values, strict=True)])

    def _known(self) -> _Registered:
        if self._registered is None:
            self._registered = self._runtime.register(self._spec)
        return self._registered

    @property
    def is_brief(self) -> bool:
        """Whether the thread that runs it may keep its turn to read: it takes but a moment."""
        return self._registered is not None and self._registered.part.is_brief

    def as_written(self) -> Any:
        """The same step with every node of the graph, to be watched."""
        if self.rewritten is None:
            return self
        if self._as_written is None:
            self._as_written = self.rewritten()
        return self._as_written

    def run_watched(
        self,
        feeds: Sequence[Any],
        options: Any,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
        *,
        limited: bool = False,
    ) -> tuple[Any, ...]:
        """Runs a step that is as it is written; each task writes the tensors that it computes.

        To the other tasks this one is a client: they write where clients may, `limited` or not.
        """
        asked = options.SerializeToString()
        return self._run([*feeds, asked], cancellation or self._runtime.cancellation, timeout)

    def partition_graphs(self) -> list[Any]:
        """What the tasks run, as GraphDefs."""
        return self._known().part.partition_graphs()

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
        measured = self._measured_runs is not None and self._measured_runs.next_is_due()
        traced = measured or options.trace_level != proto.RunOptions.NO_TRACE
        stats = metadata.step_stats if traced else None
        results = self._run(feeds, cancellation or self._runtime.cancellation, timeout, stats)
        if measured:
            metadata.cost_graph.CopyFrom(cost_graph_of(self._known().part.graphs, stats))
        return results
