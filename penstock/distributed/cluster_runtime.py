"""The runtime of a session on a cluster: places over the devices of all tasks, runs on all.

A step is registered with the tasks that have a part of it when it first runs; from then on a run
sends each of them its feeds and a number, and the parts meet by that number.
"""

from __future__ import annotations

import itertools
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from penstock import errors, proto
from penstock.distributed.connection import Connection
from penstock.distributed.frames import Fields, Value
from penstock.distributed.step_run import StepRun
from penstock.distributed.step_spec import StepSpec, fields_of, spec_of, task_of
from penstock.distributed.worker import StepPart, Worker
from penstock.dtypes import DType
from penstock.errors import OpError
from penstock.ir.operation import Operation
from penstock.ir.step_graph import StepGraph
from penstock.ir.tensor import Tensor
from penstock.kernels.values import fetcher
from penstock.passes.pipeline import compile_step
from penstock.placement.placer import place
from penstock.runtime.binding import evaluator, has_kernel
from penstock.runtime.local import LocalRuntime
from penstock.runtime.tracing import graph_def_of
from penstock.state.waiting import Cancellation

Connect = Callable[[str], Connection]


class ClusterRuntime:
    """What a `MasterSession` runs its steps on.

    Args:
      worker: that of the master's own task.
      local: a runtime of the session in the own task, for steps that stay there.
      connect: gives a connection to another task.
      devices: the DeviceAttributes of all tasks, by task.
      incarnations: which worker each of the other tasks had when the session was made. A task that
        has another one since then has lost the session's state.
    """

    def __init__(
        self,
        worker: Worker,
        local: LocalRuntime,
        connect: Connect,
        devices: dict[str, list[Any]],
        incarnations: Mapping[str, str] | None = None,
    ):
        self._worker = worker
        self._local = local
        self._connect = connect
        self._devices = devices
        names = {task: [each.name for each in found] for task, found in devices.items()}
        self._names = _preferred(names, worker.task)
        self._places: dict[str, str] = {}
        self._prefix = f"{secrets.token_hex(8)}/"
        self._numbers = itertools.count()
        self.cancellation = local.cancellation
        self._incarnations = incarnations or {}
        self._registered: dict[str, Connection] = {}

    @property
    def device_names(self) -> list[str]:
        """The names of the devices of all tasks."""
        return self._names

    def compile(
        self, feeds: Sequence[Tensor], fetches: Sequence[Tensor], targets: Sequence[Operation]
    ) -> Any:
        """A step ready to run, on whatever tasks it is placed."""
        options = self._local.options
        graph = compile_step(feeds, fetches, targets, evaluator(self._local.host), options)
        place(
            graph,
            self._names,
            soft=self._local.soft_placement,
            supports=has_kernel,
            sticky=self._places,
        )
        used = {task_of(node.device) for node in graph.nodes if node.type != "_Feed"}
        if used <= {self._worker.task}:
            return self._local.compile(feeds, fetches, targets)
        spec = spec_of(graph, list(feeds), list(fetches), list(targets), self._names, options)
        return ClusterStep(self, spec, list(fetches))

    # Registering and running ------------------------------------------------------------------

    def register(self, spec: StepSpec) -> _Registered:
        """Has all tasks with a part of a step compile it."""
        key = f"{self._prefix}{next(self._numbers)}"
        own = StepPart(spec, self._worker.runtime, self._worker.task)
        taken: dict[str, tuple[list[int], list[int]]] = {}
        answers: SimpleQueue[tuple[str, Fields, OpError | None]] = SimpleQueue()
        others = [task for task in own.tasks if task != self._worker.task]
        self._worker.used.update(others)
        for task in others:
            fields = {"do": "register", "step_key": key, **fields_of(spec)}
            if task in self._incarnations:
                fields["incarnation"] = self._incarnations[task]
            self._registered[task] = self._connect(task)
            self._registered[task].call(fields, [spec.nodes], _answering(task, answers))
        for _ in others:
            task, reply, error = answers.get()
            if error is not None:
                raise error
            taken[task] = reply["feeds"], reply["fetches"]
        if self._worker.task in own.tasks:
            self._worker.adopt(key, own)
            taken[self._worker.task] = own.feeds, own.fetches
        fed = {i: spec.feeds.index(n) for i, n in enumerate(spec.fetches) if n in spec.feeds}
        return _Registered(key, taken, fed, own.graphs)

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
        return _Running(self, registered, feeds, count, timeout, cancellation, stats).results()

    # As a session's runtime -------------------------------------------------------------------

    def partial_run(
        self, feeds: Sequence[Tensor], fetches: Sequence[Tensor], targets: Sequence[Operation]
    ) -> Any:
        return self._local.partial_run(feeds, fetches, targets)

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
        self._worker.forget(self._prefix)
        for connection in self._registered.values():
            # A task that is gone has forgotten; `call` tells its answer that it is.
            connection.call({"do": "forget", "prefix": self._prefix}, [], _ignore)


def _ignore(fields: Fields, values: list[Value], error: OpError | None) -> None:
    pass


def _preferred(devices: dict[str, list[str]], own: str) -> list[str]:
    """The own task's devices first, GPUs before CPUs in each task."""
    tasks = sorted(devices, key=lambda task: task != own)
    return [
        name
        for task in tasks
        for name in sorted(devices[task], key=lambda name: "/device:CPU:" in name)
    ]


def _answering(task: str, queue: SimpleQueue[Any]) -> Callable[..., None]:
    return lambda fields, values, error: queue.put((task, fields, error))


@dataclass
class _Registered:
    """A step that its tasks know: its key, and which feeds and fetches each of them has."""

    key: str
    taken: dict[str, tuple[list[int], list[int]]]
    fed: dict[int, int]  # fetches that are feeds: no task has them
    graphs: list[StepGraph]  # the parts of all devices


_CANCELLED = object()


class _Running:
    """One run of a step over several tasks."""

    def __init__(
        self,
        runtime: ClusterRuntime,
        registered: _Registered,
        feeds: Sequence[Any],
        count: int,
        timeout: float | None,
        cancellation: Cancellation,
        stats: Any,
    ):
        self._runtime, self._registered, self._feeds = runtime, registered, feeds
        self._stats = stats
        self._number = secrets.randbits(62)
        self._deadline = None if timeout is None else time.monotonic() + timeout
        self._cancellation = cancellation
        self._answers: SimpleQueue[Any] = SimpleQueue()
        self._connections: dict[str, Connection] = {}
        self._values: list[Any] = [None] * count
        for i, number in registered.fed.items():
            self._values[i] = feeds[number]

    def results(self) -> list[Any]:
        run = StepRun.of(self._registered.taken)
        self._cancellation.add(self, lambda: self._answers.put(_CANCELLED))
        try:
            self._begin(run)
            while not run.is_over:
                self._follow(run)
        finally:
            self._cancellation.discard(self)
        if run.error is not None:
            raise run.error
        return self._values

    def _begin(self, run: StepRun) -> None:
        own = self._runtime._worker.task
        for task, (feeds, _) in self._registered.taken.items():
            if task == own:
                continue
            fields = {
                "do": "run",
                "step_key": self._registered.key,
                "step": self._number,
                "traced": self._stats is not None,
            }
            values = [self._feeds[i] for i in feeds]
            try:
                connection = self._connections[task] = self._runtime._connect(task)
            except errors.OpError as error:
                self._answers.put((task, [], error))
                continue
            connection.call(fields, values, self._taking(task))
        if own in run.running:
            crew = self._runtime._worker.runtime.crew
            crew.start(self._run_own)

    def _run_own(self) -> None:
        worker = self._runtime._worker
        feeds = self._registered.taken[worker.task][0]
        values = [self._feeds[i] for i in feeds]
        try:
            traced = self._stats is not None
            given, stats = worker.run(self._registered.key, self._number, values, traced=traced)
            if traced:
                given = [*given, stats.SerializeToString()]
            self._answers.put((worker.task, given, None))
        except BaseException as error:
            self._answers.put((worker.task, [], error))

    def _taking(self, task: str) -> Callable[..., None]:
        return lambda fields, values, error: self._answers.put((task, values, error))

    def _follow(self, run: StepRun) -> None:
        """Takes one event: an answer, a cancellation, or the end of the time."""
        left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
        try:
            event = self._answers.get(timeout=left)
        except Empty:
            self._deadline = None  # the tasks are told once, and then waited for
            late = errors.DeadlineExceededError(
                None, None, "the step did not end within its timeout_in_ms"
            )
            self._abort(run.stop(late), "its time is over")
            return
        except BaseException as interrupt:  # Ctrl-C
            self._abort(run.stop(interrupt), "its client has given it up")
            raise
        if event is _CANCELLED:
            cancelled = errors.CancelledError(None, None, "the step was cancelled")
            self._abort(run.stop(cancelled), "it was cancelled")
            return
        task, values, error = event
        if error is None:
            if self._stats is not None:
                self._stats.MergeFromString(values.pop())
            for i, value in zip(self._registered.taken[task][1], values, strict=True):
                self._values[i] = value
        self._abort(run.answered(task, error), f"{task} has failed: {error}")

    def _abort(self, tasks: list[str], reason: str) -> None:
        for task in tasks:
            message = f"Step {self._number} was ended: {reason}"
            if task == self._runtime._worker.task:
                self._runtime._worker.abort(self._number, message)
                continue
            with suppress(errors.OpError):  # if it is gone, its call has been answered with that
                connection = self._connections[task]
                connection.note({"do": "abort", "step": self._number, "message": message})


class ClusterStep:
    """A step on several tasks, with the methods of a `CompiledStep`."""

    def __init__(self, runtime: ClusterRuntime, spec: StepSpec, fetches: list[Tensor]):
        self._runtime = runtime
        self._spec = spec
        self._registered: _Registered | None = None
        self._give = [fetcher(tensor.dtype.base_dtype, None, copy=True) for tensor in fetches]

    def run(self, feeds: Sequence[Any], timeout: float | None = None) -> tuple[Any, ...]:
        return self.run_cancellable(feeds, self._runtime.cancellation, timeout)

    def run_cancellable(
        self, feeds: Sequence[Any], cancellation: Cancellation, timeout: float | None = None
    ) -> tuple[Any, ...]:
        return self._run(feeds, cancellation, timeout)

    def _run(
        self,
        feeds: Sequence[Any],
        cancellation: Cancellation,
        timeout: float | None,
        stats: Any = None,
    ) -> tuple[Any, ...]:
        count = len(self._give)
        values = self._runtime.run(self._known(), feeds, count, timeout, cancellation, stats)
        return tuple(give(value) for give, value in zip(self._give, values, strict=True))

    def _known(self) -> _Registered:
        if self._registered is None:
            self._registered = self._runtime.register(self._spec)
        return self._registered

    def as_written(self) -> Any:
        raise errors.UnimplementedError(
            None, None, "tensors can be watched in steps on one task only"
        )

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
            graphs = self._known().graphs
            metadata.partition_graphs.extend(graph_def_of(graph) for graph in graphs)
        traced = options.trace_level != proto.RunOptions.NO_TRACE
        stats = metadata.step_stats if traced else None
        return self._run(feeds, cancellation or self._runtime.cancellation, timeout, stats)
