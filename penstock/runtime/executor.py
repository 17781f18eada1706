"""The dataflow executor: runs a node when its inputs have arrived. It defines what a step means.

Plans are faster and must agree with it (a property test compares the two). It also runs what plans
can't: control-flow primitives put together by hand, and a step that pauses half-way for more feeds
(`partial_run`).
"""

from __future__ import annotations

import functools
import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from penstock import errors
from penstock.ir.operation import describe
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.kernels.control_flow import DEAD
from penstock.kernels.values import fetcher
from penstock.passes.order import accesses, may_block
from penstock.runtime.binding import BoundNode
from penstock.runtime.diagnosis import Failure, diagnose, in_iteration, read_fetched
from penstock.runtime.frames import ENTER, EXIT, MERGE, NEXT_ITERATION, Frame, Iteration, Structure
from penstock.runtime.step import Step
from penstock.runtime.tracing import clock
from penstock.runtime.waits import Waits

_CONTROL = -1  # the input number of a control edge


class Execution:
    """One step under way.

    1. A node runs once in each iteration of its frame, after all of its inputs and control inputs
       have arrived there; a Merge after the first live one.
    2. A node with a dead input is not run: its outputs are dead. A Merge is dead if all its inputs
       are, or if the Enter of its loop is.
    3. Among the nodes that are ready, those that write state come last, then older iterations
       first, then the order of the step: the same step always runs in the same order.
    4. A node that has to wait, for a queue to fill, lets the others go on.
    5. A frame ends when its Enters have arrived and nothing in it is left to run. Exits that never
       fired are then dead in the frame around it.
    """

    def __init__(self, step: StepGraph, bound: Iterable[BoundNode], context: Any):
        self.step = step
        self.context = context
        self.bound = {entry.node: entry for entry in bound}
        self.structure = Structure(step)
        self.accesses = {node: accesses(node) for node in step.nodes}
        self.written = {state for access in self.accesses.values() for state in access.writes}
        self.may_block = {node for node in step.nodes if may_block(node)}
        self.one_by_one = context.observer is not None and context.observer.steps_through
        self.rank = {node: i for i, node in enumerate(step.nodes)}
        self.consumers = _consumers(step)
        self.ready: list[tuple[bool, int, int, int, Node, Frame]] = []
        self.scheduled = 0
        self.done: set[Node] = set()
        self.root = Frame(())
        self._open_iteration(self.root)

    # What a step is given and gives back ------------------------------------------------------

    def feed(self, feeds: dict[Node, Any]) -> None:
        """Gives fed nodes their values."""
        for node, value in feeds.items():
            self.done.add(node)
            if self.context.observer is not None:
                self.context.observer.after(node, 0, [value])
            self._deliver(self.root, 0, node, [value])

    def run(self, wanted: set[Node] | None = None) -> None:
        """Runs what is ready, and what that makes ready; only `wanted` nodes if given."""
        with Waits(self.context) as waits:
            self._run_ready(wanted, waits)

    def _run_ready(self, wanted: set[Node] | None, waits: Waits) -> None:
        held = []
        while self.ready or waits:
            if not self.ready:
                (node, frame, iteration), outputs = waits.next()
                self._finish(node, frame, iteration, outputs)
                continue
            entry = heapq.heappop(self.ready)
            if wanted is not None and entry[4] not in wanted:
                held.append(entry)
                continue
            self.context.check()
            _, iteration, _, _, node, frame = entry
            self._run(node, frame, iteration, waits)
        self.ready = held
        heapq.heapify(self.ready)

    def fetch(self, edge: Edge) -> Any:
        """A computed value in the form that `Session.run` returns it."""
        return fetcher(edge.dtype.base_dtype, None, copy=True)(self.value(edge))

    def value(self, edge: Edge) -> Any:
        """A computed value as kernels see it."""
        value = self.root.iterations[0].values.get(edge, DEAD)
        if value is DEAD:
            node, position = edge.node, self.step.fetches.index(edge)
            named = describe(node.origin) if node.origin is not None else repr(node)
            raise errors.InvalidArgumentError(
                node.origin and node.origin.node_def,
                node.origin,
                f"Retval[{position}] does not have value: the fetched {named} is dead, "
                "it lies on a branch that was not taken",
            )
        if edge.dtype.is_ref_dtype:
            value = read_fetched(edge, value)
        return value

    def values_are_done(self) -> None:
        """Frees what the step computed: nobody will fetch any more."""
        self.root.iterations[0].values.clear()

    # Running one node -------------------------------------------------------------------------

    def _run(self, node: Node, frame: Frame, iteration: int, waits: Waits) -> None:
        state = frame.iterations[iteration]
        if node in state.dead:
            self._finish(node, frame, iteration, [DEAD] * len(node.dtypes))
            return
        seen = self.context.trace is not None or self.context.observer is not None
        call = self._call_seen if seen else self._call
        if node in self.may_block and not self.one_by_one:
            waiting = functools.partial(
                _call_within, frame, call, self.bound[node], state, iteration
            )
            ended = waits.attempt((node, frame, iteration), waiting)
            if ended is not None:
                self._finish(node, frame, iteration, ended[0])
            return
        outputs = _call_within(frame, call, self.bound[node], state, iteration, self.context)
        self._finish(node, frame, iteration, outputs)

    def _finish(self, node: Node, frame: Frame, iteration: int, outputs: Sequence[Any]) -> None:
        state = frame.iterations[iteration]
        if not frame.name:
            self.done.add(node)
        self._propagate(node, frame, iteration, outputs)
        state.outstanding -= 1
        self._clean_up(frame, iteration)

    def _call_seen(
        self, entry: BoundNode, state: Iteration, iteration: int, step: Step
    ) -> Sequence[Any]:
        """Runs a node of a step that is traced or debugged."""
        node, observer, trace = entry.node, self.context.observer, self.context.trace
        if observer is not None:
            inputs = [] if entry.is_constant else self._inputs(node, state)
            observer.before(node, iteration, inputs)
        begin = clock()
        outputs = self._call(entry, state, iteration, step)
        if trace is not None:
            trace.record(node, begin, clock(), *(each for each in outputs if each is not DEAD))
        if observer is not None:
            observer.after(node, iteration, outputs)
        return outputs

    @staticmethod
    def _inputs(node: Node, state: Iteration) -> list[Any]:
        if node.type not in MERGE:
            return [state.values[edge] for edge in node.inputs]
        live = state.live_input[node]
        inputs: list[Any] = [DEAD] * len(node.inputs)
        inputs[live] = state.values[node.inputs[live]]
        return inputs

    def _call(
        self, entry: BoundNode, state: Iteration, iteration: int, step: Step
    ) -> Sequence[Any]:
        node = entry.node
        if entry.is_constant:
            return [entry.constant]
        inputs = self._inputs(node, state)
        try:
            arguments = [
                value.read() if dereference and value is not DEAD else value
                for value, dereference in zip(inputs, entry.dereferences, strict=True)
            ]
            assert entry.function is not None
            head = (step,) if entry.takes_step else ()
            result = entry.function(*head, *arguments)
        except Exception as error:
            raise diagnose(Failure.of(node, inputs), error) from error
        if len(node.dtypes) == 1:
            return [self._owned(node, result)]
        return [self._owned(node, value) for value in result] if node.dtypes else []

    def _owned(self, node: Node, value: Any) -> Any:
        """The value, in memory of its own if it may share that of state which this step writes.

        What a loop or a branch takes in from outside stays live: it is read where it is used.
        """
        if node.type == "Switch" or (node.type == "Enter" and node.attrs["is_constant"]):
            return value
        if self.accesses[node].reads & self.written and hasattr(value, "clone"):
            return value.clone()
        return value

    # Moving values ----------------------------------------------------------------------------

    def _propagate(self, node: Node, frame: Frame, iteration: int, outputs: Sequence[Any]) -> None:
        if node.type in ENTER:
            self._enter(node, frame, iteration, outputs[0])
        elif node.type in EXIT:
            if outputs[0] is not DEAD:
                assert frame.parent is not None
                frame.exited.add(node)
                self._deliver(frame.parent, frame.parent_iteration, node, outputs)
        elif node.type in NEXT_ITERATION:
            if outputs[0] is not DEAD:
                self._next_iteration(node, frame, iteration + 1, outputs[0])
        else:
            self._deliver(frame, iteration, node, outputs)

    def _enter(self, node: Node, frame: Frame, iteration: int, value: Any) -> None:
        key = iteration, node.attrs["frame_name"]
        child = frame.children.get(key)
        if child is None:
            name = (*frame.name, node.attrs["frame_name"])
            limit = node.attrs["parallel_iterations"]
            enters = self.structure.enters[name]
            child = frame.children[key] = Frame(name, frame, iteration, limit, enters)
            frame.iterations[iteration].outstanding += 1
            self._open_iteration(child)
        child.waiting_enters -= 1
        if node.attrs["is_constant"]:
            child.invariants.append((node, value))
            for number in list(child.iterations):
                self._deliver(child, number, node, [value])
        else:
            self._deliver(child, 0, node, [value])
        self._clean_up(child, min(child.iterations))

    def _next_iteration(self, node: Node, frame: Frame, number: int, value: Any) -> None:
        if number > frame.newest:
            if len(frame.iterations) >= frame.limit:
                frame.postponed.append((node, value))
                return
            self._open_iteration(frame)
        self._deliver(frame, number, node, [value])

    def _open_iteration(self, frame: Frame) -> None:
        members = self.structure.members[frame.name]
        waiting = {node: self._arrivals(node) for node in members}
        frame.newest += 1
        frame.iterations[frame.newest] = Iteration(waiting)
        for node in members if not frame.name else ():
            if not (node.inputs or node.controls) and node.type != "_Feed":
                self._schedule(node, frame, 0)
        for node, value in frame.invariants:
            self._deliver(frame, frame.newest, node, [value])

    @staticmethod
    def _arrivals(node: Node) -> int:
        """How many values a node waits for; of a merge only control edges count."""
        controls = len(node.controls)
        return controls if node.type in MERGE else controls + len(node.inputs)

    def _deliver(self, frame: Frame, number: int, node: Node, outputs: Sequence[Any]) -> None:
        """Hands a node's outputs to its consumers in one iteration of a frame."""
        state = frame.iterations[number]
        for i, value in enumerate(outputs):
            state.values[Edge(node, i)] = value
        is_dead = bool(outputs) and all(value is DEAD for value in outputs)
        is_dead = is_dead or (node in state.dead and not outputs)
        for consumer, index, output in self.consumers[node]:
            value = outputs[output] if index != _CONTROL else (DEAD if is_dead else None)
            if self._arrive(state, consumer, index, value, node):
                self._schedule(consumer, frame, number)

    @staticmethod
    def _arrive(state: Iteration, consumer: Node, index: int, value: Any, source: Node) -> bool:
        """Counts an arrival; whether the consumer may run now."""
        if consumer.type not in MERGE:
            if value is DEAD and consumer.type != "ControlTrigger":
                state.dead.add(consumer)
            state.waiting[consumer] -= 1
            return state.waiting[consumer] == 0
        if index == _CONTROL:
            state.waiting[consumer] -= 1
        elif value is not DEAD:
            state.live_input.setdefault(consumer, index)
        else:
            state.dead_inputs[consumer] += 1
            if source.type in ENTER:  # a loop on a branch that is not taken: no back edge comes
                state.dead_inputs[consumer] = len(consumer.inputs)
        if state.waiting[consumer] > 0 or consumer in state.scheduled:
            return False
        if consumer in state.live_input:
            return True
        if state.dead_inputs[consumer] >= len(consumer.inputs):
            state.dead.add(consumer)
            return True
        return False

    def _schedule(self, node: Node, frame: Frame, iteration: int) -> None:
        state = frame.iterations[iteration]
        state.scheduled.add(node)
        state.outstanding += 1
        self.scheduled += 1
        writes = bool(self.accesses[node].writes)
        key = (writes, iteration, self.rank[node], self.scheduled, node, frame)
        heapq.heappush(self.ready, key)

    # Ending iterations and frames -------------------------------------------------------------

    def _clean_up(self, frame: Frame, iteration: int) -> None:
        """Ends iterations that have nothing left to run, oldest first, and then the frame."""
        if frame.parent is None:
            return
        while iteration in frame.iterations:
            state = frame.iterations[iteration]
            if state.outstanding or frame.waiting_enters or iteration != min(frame.iterations):
                return
            if frame.postponed:
                postponed, frame.postponed = frame.postponed, []
                del frame.iterations[iteration]
                self._open_iteration(frame)
                for node, value in postponed:
                    self._deliver(frame, frame.newest, node, [value])
            else:
                del frame.iterations[iteration]
            iteration += 1
        if not frame.iterations:
            self._end_frame(frame)

    def _end_frame(self, frame: Frame) -> None:
        parent, number = frame.parent, frame.parent_iteration
        assert parent is not None
        del parent.children[number, frame.name[-1]]
        for node in self.structure.exits[frame.name]:
            if node not in frame.exited:
                self._deliver(parent, number, node, [DEAD])
        parent.iterations[number].outstanding -= 1
        self._clean_up(parent, number)


def _call_within(
    frame: Frame,
    call: Callable[..., Sequence[Any]],
    entry: BoundNode,
    state: Iteration,
    iteration: int,
    step: Step,
) -> Sequence[Any]:
    """Runs a node; an error says in which iterations of which loops it happened."""
    try:
        return call(entry, state, iteration, step)
    except errors.OpError as error:
        if not frame.name:
            raise
        raise _placed(error, frame, iteration) from error.__cause__


def _placed(error: Exception, frame: Frame, iteration: int) -> Exception:
    error = in_iteration(error, frame.name[-1], iteration)
    if frame.parent is None or not frame.parent.name:
        return error
    return _placed(error, frame.parent, frame.parent_iteration)


def _consumers(step: StepGraph) -> dict[Node, list[tuple[Node, int, int]]]:
    """For each node its consumers as (consumer, input number or _CONTROL, output number)."""
    found: dict[Node, list[tuple[Node, int, int]]] = defaultdict(list)
    for node in step.nodes:
        for i, edge in enumerate(node.inputs):
            found[edge.node].append((node, i, edge.index))
        for control in node.controls:
            found[control].append((node, _CONTROL, 0))
    return found


def needed_for(step: StepGraph, edges: Iterable[Edge], nodes: Iterable[Node]) -> set[Node]:
    """The nodes that must run before these edges have values and these nodes are done."""
    found: set[Node] = set()
    pending = [edge.node for edge in edges] + list(nodes)
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            pending.extend(node.producers())
    return found


def execute(
    step: StepGraph,
    bound: list[BoundNode],
    feeds: Sequence[Any],
    context: Any,
    *,
    inner: bool = False,
) -> tuple[Any, ...]:
    """Runs a whole step and returns its fetches; `inner` ones as kernels see them."""
    execution = Execution(step, bound, context)
    execution.feed(dict(zip(step.feeds, feeds, strict=True)))
    execution.run()
    read = execution.value if inner else execution.fetch
    return tuple(read(edge) for edge in step.fetches)
