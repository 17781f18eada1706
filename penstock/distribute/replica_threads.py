"""Building the graph of each replica: a function is called once for each of them.

Each call has a thread of its own, and one of them runs at a time: when it asks for a merge, it
stops until all others have come there, and the merge is made in the caller's thread. So what
replicas build, and in which order, is the same each time.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

from penstock.distribute import context
from penstock.distribute.replica_context import ReplicaContext
from penstock.distribute.values import regroup, select_replica
from penstock.ir.defaults import get_default_graph
from penstock.ir.graph import Graph
from penstock.ir.name_scope import name_scope
from penstock.ops.constants import constant
from penstock.ops.variable_creation import (
    creators_of,
    last_creator_of,
    last_creator_scope,
    variable_creator_scope,
)
from penstock.ops.variable_scope import get_variable_scope, variable_scope


def call_in_each(
    strategy: Any, devices: Sequence[str], fn: Callable[..., Any], args: Any, kwargs: Any
) -> Any:
    """Calls a function in each replica; the results, one structure of distributed values."""
    made: dict[str, list[Any]] = {}
    threads = [
        _ReplicaThread(
            strategy,
            number,
            devices,
            _shared_variables(made, number),
            lambda number=number: fn(  # type: ignore[misc]
                *select_replica(number, args), **select_replica(number, kwargs)
            ),
        )
        for number in range(len(devices))
    ]
    try:
        while True:
            for thread in threads:
                thread.run_on()
            if all(thread.done for thread in threads):
                return regroup(devices, [thread.result for thread in threads])
            if any(thread.done for thread in threads):
                raise RuntimeError(
                    "Some replicas made a different number of replica_context().merge_call() calls."
                )
            _merge(strategy, devices, threads)
    finally:
        for thread in threads:
            thread.give_up()


def _merge(strategy: Any, devices: Sequence[str], threads: Sequence[_ReplicaThread]) -> None:
    asked = [thread.merge for thread in threads]
    args = regroup(devices, [tuple(each.args) for each in asked])
    kwargs = regroup(devices, [each.kwargs for each in asked])
    controls = list(dict.fromkeys(op for each in asked for op in each.controls))
    graph = get_default_graph()
    with (
        name_scope(asked[0].name_scope),
        graph.control_dependencies(controls),
        variable_scope(asked[0].variable_scope, auxiliary_name_scope=False),
        context.mode(strategy, None),
    ):
        result = asked[0].fn(strategy, *args, **kwargs)
    for number, thread in enumerate(threads):
        thread.merged = select_replica(number, result)


class _Merge:
    """What a replica asks to be done between replicas, and where in the graph it is."""

    def __init__(self, graph: Graph, fn: Callable[..., Any], args: Any, kwargs: Any):
        self.fn, self.args, self.kwargs = fn, args, kwargs
        scope = graph.get_name_scope()
        self.name_scope = f"{scope}/" if scope else ""
        self.variable_scope = get_variable_scope()
        scopes = graph._scopes.controllers
        self.controls = [op for scope in scopes for op in scope.control_inputs]


class _GivenUp(BaseException):
    """Ends a replica's thread: another one has failed."""


class _ReplicaThread:
    """One replica's call, in a thread with the scopes of the thread that it was made in."""

    merge: _Merge

    def __init__(
        self,
        strategy: Any,
        number: int,
        devices: Sequence[str],
        creator: Callable[..., Any],
        call: Callable[[], Any],
    ):
        self._strategy = strategy
        self._number = number
        self._device = devices[number]
        self._creator = creator
        self._call = call
        self._graph = get_default_graph()
        self._scopes = self._graph._scopes.captured()
        self._creators = creators_of(self._graph)
        self._last_creator = last_creator_of(self._graph)
        self._variable_scope = get_variable_scope()
        self._summaries = dict(vars(_summary_defaults()))
        self._may_run, self._has_stopped = threading.Semaphore(0), threading.Semaphore(0)
        self._thread: threading.Thread | None = None
        self._ends = False
        self._error: BaseException | None = None
        self.done = False
        self.result: Any = None
        self.merged: Any = None

    def run_on(self) -> None:
        """Lets the call run to its end or to its next merge; raises what it raises."""
        if self._thread is None:
            name = f"penstock-replica-{self._number}"
            self._thread = threading.Thread(target=self._run, name=name, daemon=True)
            self._thread.start()
        self._may_run.release()
        self._has_stopped.acquire()
        if self._error is not None:
            raise self._error

    def give_up(self) -> None:
        if self._thread is not None:
            self._ends = True
            self._may_run.release()
            self._thread.join()

    def _run(self) -> None:
        self._may_run.acquire()
        try:
            self.result = self._called()
            self.done = True
        except _GivenUp:
            pass
        except BaseException as error:  # raised again in the caller's thread
            self._error = error
        finally:
            self._has_stopped.release()

    def _called(self) -> Any:
        graph = self._graph
        vars(_summary_defaults()).update(self._summaries)
        with ExitStack() as stack:
            stack.enter_context(graph.as_default())
            stack.enter_context(graph._scopes.setting(**self._scopes))
            if self._last_creator is not None:
                stack.enter_context(last_creator_scope(graph, self._last_creator))
            for creator in self._creators:
                stack.enter_context(variable_creator_scope(creator))
            stack.enter_context(context.mode(self._strategy, None))
            replica = ReplicaContext(self._strategy, constant(self._number), self.stop_for_merge)
            stack.enter_context(replica)
            stack.enter_context(graph.device(self._device))
            scope = graph.get_name_scope()
            prefix = f"{scope}/" if scope else ""
            own = f"replica_{self._number}/" if self._number else ""
            stack.enter_context(name_scope(prefix + own))
            stack.enter_context(
                variable_scope(
                    self._variable_scope,
                    reuse=True if self._number else None,
                    auxiliary_name_scope=False,
                )
            )
            stack.enter_context(variable_creator_scope(self._creator))
            return self._call()

    def stop_for_merge(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Waits, in the replica's thread, for a merge of all replicas; gives its own result."""
        if get_default_graph() is not self._graph:
            raise RuntimeError(
                "`merge_call` called while defining a new graph or a tf.function. Put the whole "
                "call of `strategy.experimental_run` into the tf.function instead."
            )
        self.merge = _Merge(self._graph, fn, args, kwargs)
        self._has_stopped.release()
        self._may_run.acquire()
        if self._ends:
            raise _GivenUp
        return self.merged


def _summary_defaults() -> Any:
    """What this thread's summaries are written with, if anything."""
    from penstock.summary.op_writers import defaults

    return defaults


_NUMBERED = re.compile(r"_\d+(?=/|$)")


def _shared_variables(made: dict[str, list[Any]], number: int) -> Callable[..., Any]:
    """A variable creator: the first replica makes variables, the others find them again.

    Names count without the numbers that make them unique, and variables of one name in their
    order.
    """
    used: dict[str, int] = {}
    own_scope = re.compile(rf"(^|/)replica_{number}/")  # of names that are told with their scope

    def create(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        name = own_scope.sub(r"\1", kwargs.get("name") or "Variable")
        name = _NUMBERED.sub("", name)
        known = made.setdefault(name, [])
        if number == 0:
            known.append(next_creator(**kwargs))
            return known[-1]
        position = used[name] = used.get(name, -1) + 1
        if position >= len(known):
            raise RuntimeError(
                f"Tried to create variable {kwargs.get('name')} with mismatching name on device "
                f"{number}: the first replica has not made it"
            )
        return known[position]

    return create
