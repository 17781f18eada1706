"""One session of a client at the master of its own task."""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock import dtypes, errors, proto, shapes
from penstock.distributed.client_graph import ClientGraph
from penstock.distributed.frames import Value
from penstock.distributed.master import Feeds, StepForm, StepResult
from penstock.distributed.readers import leave_turn
from penstock.distributed.step_messages import Sent
from penstock.distributed.value_arrays import array_of, array_type, sendable
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.kernels.values import TORCH_TYPE, from_array
from penstock.placement.whole_graph import WholeGraphCheck
from penstock.runtime.local import LocalRuntime
from penstock.runtime.partial_run import PartialRun
from penstock.runtime.watched_runs import WatchedRuns
from penstock.state.waiting import Cancellation


class _Form:
    """A form of step, looked up in the graph and compiled."""

    def __init__(
        self, form: StepForm, feeds: list[Tensor], fetches: list[Tensor], targets: list[Operation]
    ):
        self.feeds = dict(zip(form.feeds, feeds, strict=True))
        if len(self.feeds) < len(feeds):
            raise errors.InvalidArgumentError(None, None, "a tensor is fed more than once")
        self._torch_types = [TORCH_TYPE.get(tensor.dtype.base_dtype) for tensor in feeds]
        self.names = list(dict.fromkeys(form.fetches))
        self.fetches = fetches
        self._types = [tensor.dtype for tensor in fetches]
        self.targets = targets
        self.step: Any = None

    def values(self, feeds: Feeds) -> list[Any]:
        """Runtime values of the feeds, in the order of the form."""
        return [_runtime_value(tensor, feeds[name]) for name, tensor in self.feeds.items()]

    def checked(self, values: Sequence[Any]) -> list[Any]:
        """Runtime values that have come for the feeds, if they are what the feeds want."""
        if len(values) != len(self.feeds):
            raise errors.InvalidArgumentError(
                None, None, f"Expected {len(self.feeds)} feed tensors, but got {len(values)}"
            )
        return [
            value
            if wanted is not None
            and getattr(value, "dtype", None) is wanted
            and shapes.compatible(tensor._shape, value.shape)
            else _runtime_value(tensor, array_of(value, array_type(tensor.dtype)))
            for tensor, wanted, value in zip(
                self.feeds.values(), self._torch_types, values, strict=True
            )
        ]

    def sent(self, results: Sequence[Any]) -> list[Sent]:
        return list(map(Sent, self.names, results, self._types))

    def sendable(self, results: Sequence[Any]) -> list[Value]:
        return list(map(sendable, results, self._types))


def _runtime_value(tensor: Tensor, array: Any) -> Any:
    dtype = tensor.dtype.base_dtype
    if dtype is dtypes.resource:
        if isinstance(array, np.ndarray):
            raise errors.InvalidArgumentError(
                None, None, f"The feed of {tensor.name} is of {array.dtype}, not a handle"
            )
        return array
    if not isinstance(array, np.ndarray):
        raise errors.InvalidArgumentError(
            None, None, f"The feed of {tensor.name} is a handle, not of {dtype.name}"
        )
    if array.dtype != np.dtype(dtype.as_numpy_dtype):
        raise errors.InvalidArgumentError(
            None, None, f"The feed of {tensor.name} is of {array.dtype}, not of {dtype.name}"
        )
    if not shapes.compatible(tensor._shape, array.shape):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"The feed of {tensor.name} has the shape {shapes.text(array.shape)}, which does not "
            f"fit {shapes.text(tensor._shape)}",
        )
    return from_array(array)


def _seconds(milliseconds: int) -> float | None:
    return milliseconds / 1000 if milliseconds > 0 else None


def _check_part(part: StepForm, whole: StepForm) -> None:
    """Refuses what a step in parts was not said to have; the graph need not have it, either."""
    named = {*whole.fetches, *whole.targets}
    unknown = [f"feed {name}" for name in part.feeds if name not in whole.feeds]
    unknown += [f"fetch {name}" for name in (*part.fetches, *part.targets) if name not in named]
    if unknown:
        raise errors.InvalidArgumentError(
            None, None, f"The {unknown[0]} was not specified in partial_run_setup."
        )


def _closed() -> errors.OpError:
    return errors.CancelledError(
        None, None, "Step was cancelled by an explicit call to `Session::Close()`."
    )


class MasterSession:
    """A client's graph, its compiled steps, and the runtime that they run on."""

    def __init__(self, config: Any, runtime: LocalRuntime):
        self._seconds = _seconds(config.operation_timeout_in_ms)
        self._runtime = runtime
        names = runtime.device_names
        self._graph = ClientGraph(
            None
            if config.graph_options.place_pruned_graph
            else WholeGraphCheck(names, soft=config.allow_soft_placement)
        )
        self._lock = threading.Lock()
        self._forms: dict[StepForm, _Form] = {}
        self._partial_runs: dict[str, tuple[PartialRun, threading.Lock, StepForm]] = {}
        self._callables: dict[int, tuple[_Form, Any]] = {}
        self._watched = WatchedRuns(on_server=True, limited=True)
        self._under_way: set[Cancellation] = set()  # of steps
        self._is_closed = False
        self._partial_numbers = itertools.count()
        self._callable_numbers = itertools.count()

    # Graph ------------------------------------------------------------------------------------

    def create(self, graph_def: Any) -> None:
        with self._lock:
            self._graph.extend(graph_def)
            self._graph.version = 0

    def extend(self, graph_def: Any, version: int) -> int:
        with self._lock:
            if version != self._graph.version:
                raise errors.AbortedError(
                    None,
                    None,
                    f"Current version is {self._graph.version} but caller expected {version}.",
                )
            self._graph.extend(graph_def)
            return self._graph.version

    def _form(self, form: StepForm) -> _Form:
        found = self._forms.get(form)
        if found is not None:
            return found
        with self._lock:
            made = self._forms[form] = self._compiled(form, self._graph)
        return made

    def _compiled(self, form: StepForm, graph: ClientGraph) -> _Form:
        made = self._looked_up(form, graph)
        with graph.graph._lock:
            made.step = self._runtime.compile(list(made.feeds.values()), made.fetches, made.targets)
        return made

    def _looked_up(self, form: StepForm, graph: ClientGraph) -> _Form:
        if not form.fetches and not form.targets:
            raise errors.InvalidArgumentError(
                None, None, "Must specify at least one target to fetch or execute."
            )
        return _Form(
            form, graph.feeds(form.feeds), graph.fetches(form.fetches), graph.targets(form.targets)
        )

    # Steps ------------------------------------------------------------------------------------

    def run(
        self,
        feeds: Feeds,
        fetches: Sequence[str],
        targets: Sequence[str],
        options: Any,
        cancellation: Cancellation,
    ) -> StepResult:
        form = self._form(StepForm(tuple(feeds), tuple(fetches), tuple(targets)))
        results, metadata = self._run(form, form.values(feeds), options, cancellation)
        return StepResult(form.sent(results), metadata)

    def run_form(
        self, form: StepForm, values: Sequence[Any], options: Any, cancellation: Cancellation
    ) -> tuple[list[Value], Any]:
        """Runs a step in a thread that reads; if it takes more than a moment, others read then."""
        found = self._forms.get(form)
        if found is None or options is not None or not found.step.is_brief:
            leave_turn()
            found = found or self._form(form)
        given = found.checked(values) if values or found.feeds else []
        results, metadata = self._run(found, given, options, cancellation)
        return found.sendable(results), metadata

    def _run(
        self, form: _Form, values: list[Any], options: Any, cancellation: Cancellation
    ) -> tuple[Sequence[Any], Any]:
        """The values of the fetches, and RunMetadata if there are options."""
        # The step ends with the client's call and with the session, whichever is first.
        self._under_way.add(cancellation)
        try:
            if self._is_closed:
                raise _closed()
            if options is None:
                return form.step.run_cancellable(values, cancellation, self._seconds), None
            metadata = proto.RunMetadata()
            timeout = _seconds(options.timeout_in_ms) or self._seconds
            if options.debug_options.debug_tensor_watch_opts:
                run = self._watched_step(form)
            else:
                run = form.step.run_with_options
            return run(values, options, metadata, timeout, cancellation), metadata
        except errors.CancelledError:
            if self._is_closed:
                raise _closed() from None
            raise
        finally:
            self._under_way.discard(cancellation)

    def _watched_step(self, form: _Form) -> Callable[..., tuple[Any, ...]]:
        """How to run a step whose tensors are written to files, in all of its tasks."""
        names = {
            "input_names": list(form.feeds),
            "output_names": form.names,
            "target_nodes": [operation.name for operation in form.targets],
        }
        with self._lock, self._graph.graph._lock:
            step = form.step.as_written()
        return functools.partial(self._watched.run, step, names)

    def partial_run_setup(self, form: StepForm) -> str:
        found = self._looked_up(form, self._graph)
        feeds = list(found.feeds.values())
        with self._lock, self._graph.graph._lock:
            partial = self._runtime.partial_run(feeds, found.fetches, found.targets)
            handle = str(next(self._partial_numbers))
            self._partial_runs[handle] = partial, threading.Lock(), form
        return handle

    def partial_run(
        self, handle: str, feeds: Feeds, fetches: Sequence[str], targets: Sequence[str]
    ) -> StepResult:
        entry = self._partial_runs.get(handle)
        if entry is None:
            raise errors.InvalidArgumentError(
                None, None, "Must run PartialRunSetup before performing partial runs"
            )
        partial, lock, whole = entry
        form = StepForm(tuple(feeds), tuple(fetches), tuple(targets))
        _check_part(form, whole)
        graph = self._graph
        part = _Form(
            form, graph.feeds(form.feeds), graph.fetches(form.fetches), graph.targets(form.targets)
        )
        values = dict(zip(part.feeds.values(), part.values(feeds), strict=True))
        with lock:
            results = partial.run(values, part.fetches, part.targets)
        if partial.is_over:
            self._partial_runs.pop(handle, None)
        return StepResult(part.sent(results))

    # Callables --------------------------------------------------------------------------------

    def make_callable(self, options: Any) -> int:
        form = StepForm(tuple(options.feed), tuple(options.fetch), tuple(options.target))
        if options.tensor_connection:
            with self._lock:
                made = self._compiled(form, self._graph.connected(options.tensor_connection))
        else:
            made = self._form(form)
        number = next(self._callable_numbers)
        self._callables[number] = made, options.run_options
        return number

    def run_callable(
        self, number: int, feeds: Sequence[np.ndarray], cancellation: Cancellation
    ) -> StepResult:
        entry = self._callables.get(number)
        if entry is None:
            raise errors.InvalidArgumentError(
                None, None, f"Attempted to run callable after handle was released: {number}"
            )
        form, options = entry
        if len(feeds) != len(form.feeds):
            raise errors.InvalidArgumentError(
                None, None, f"Expected {len(form.feeds)} feed tensors, but got {len(feeds)}"
            )
        values = form.values(dict(zip(form.feeds, feeds, strict=True)))
        results, metadata = self._run(form, values, options, cancellation)
        return StepResult(form.sent(results), metadata)

    def release_callable(self, number: int) -> None:
        self._callables.pop(number, None)

    # Life -------------------------------------------------------------------------------------

    def device_attributes(self) -> list[Any]:
        return self._runtime.device_attributes()

    def close(self) -> None:
        """Ends the steps under way with CancelledError."""
        self._is_closed = True
        for cancellation in list(self._under_way):
            cancellation.cancel()
        self._runtime.close()  # what steps wait for goes with it: after them
        self._forms.clear()
        self._partial_runs.clear()
        self._callables.clear()
