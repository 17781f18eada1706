"""Plans: a step compiled to one flat Python function.

    def step(f0, f1, step):
        t3 = k3(f0, v1.read())
        t4 = k4(t3, c2); del t3
        return (r0(t4),)

1. One line per node, so that the line of a failure tells the node.
2. Constants, kernels and state are bound ahead; values are locals, deleted at their last use.
3. Nothing depends on the shapes of a run: a plan is made once per signature.
4. A kernel's in-place variant is called where the overwritten value is dead after this line and
   its memory is shared with nothing else.
5. A plan that is to need no thread while it waits is a generator, which yields at its waits
   (`resumable.py`).
"""

from __future__ import annotations

import itertools
import linecache
import weakref
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from types import FrameType, TracebackType
from typing import Any

import torch

from penstock.errors import ResourceExhaustedError
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.kernels import registry
from penstock.kernels.values import fetcher, is_array
from penstock.runtime.aliasing import Aliasing, analyse
from penstock.runtime.binding import BoundNode
from penstock.runtime.diagnosis import Failure, diagnose
from penstock.runtime.out_of_memory import drop_values
from penstock.runtime.resumable import Stretches, resumable, run_through
from penstock.runtime.scalars import Scalars, expression
from penstock.runtime.tracing import clock
from penstock.shapes import Shape
from penstock.state.variable import VariableState

_FIRST_LINE = 2  # line 1 is the def


@dataclass
class Plan:
    """A compiled step: call `function(step, *feeds)`, get the fetched values."""

    source: str
    function: Callable[..., Any]
    lines: list[BoundNode]
    names: dict[Edge, str] = field(repr=False)
    filename: str
    overwritten: set[int] = field(default_factory=set)  # the owned feeds that it overwrites
    fetched: list[Edge] = field(default_factory=list, repr=False)
    is_resumable: bool = False  # the function is a generator, which yields at its waits

    def run(self, step: Any, feeds: Sequence[Any]) -> tuple[Any, ...]:
        try:
            results = self.function(step, *feeds)
            return run_through(results) if self.is_resumable else results
        except Exception as error:
            explained = self.explained(error)
            if explained is None:
                raise
            raise explained from error

    def stretches(self, step: Any, feeds: Sequence[Any]) -> Stretches:
        """A run that yields at each wait, and is to go on when `step.resumption` is released."""
        try:
            return (yield from self.function(step, *feeds))
        except Exception as error:
            explained = self.explained(error)
            if explained is None:
                raise
            raise explained from error

    def explained(self, error: Exception) -> Exception | None:
        """The error to raise in the place of one of the function's, if it was a node's."""
        failure = self._failure(error.__traceback__)
        if failure is None:
            return None
        explained = diagnose(failure, error)
        if isinstance(explained, ResourceExhaustedError):  # whoever catches it wants memory
            drop_values(error.__traceback__)
        return explained

    def _failure(self, trace: TracebackType | None) -> Failure | None:
        """The node whose line raised, with the values that it was called with."""
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self.filename:
                index = trace.tb_lineno - _FIRST_LINE
                if not 0 <= index < len(self.lines):
                    return self._failed_fetch(trace.tb_frame)
                return self._failure_of(self.lines[index].node, trace.tb_frame)
            trace = trace.tb_next
        return None

    def _failed_fetch(self, frame: FrameType) -> Failure | None:
        """The node of a fetched variable that has no value."""
        for edge in self.fetched:
            name = self.names.get(edge, "")
            state = frame.f_locals.get(name, frame.f_globals.get(name))
            if isinstance(state, VariableState) and state.value is None:
                return Failure(edge.node, [])
        return None

    def _failure_of(self, node: Node, frame: FrameType) -> Failure:
        local, bound = frame.f_locals, frame.f_globals

        def value(edge: Edge) -> Any:
            name = self.names[edge]
            return local.get(name, bound.get(name))

        def held() -> dict[str, Any]:
            return {edge.node.name: value(edge) for edge in self.names}

        return Failure.of(node, [value(edge) for edge in node.inputs], held)


def make_plan(
    step: StepGraph,
    bound: list[BoundNode],
    *,
    checked: bool = False,
    inner: bool = False,
    references: Collection[int] = (),
    scalars: Scalars | None = None,
    owned: Collection[int] = (),
    traced: bool = False,
    resumable: bool = False,
) -> Plan:
    """Generates and compiles the function of a step.

    `checked` ends it at its deadline; `inner` returns runtime values, for a function's caller, and
    those of the fetches numbered in `references` as the references that they are. What `scalars`
    names is computed with Python numbers; the function takes its invariants as further arguments.
    The memory of the feeds numbered in `owned` may be overwritten. `traced` lines tell the step's
    trace when they began and ended, and what they made. A `resumable` plan needs no thread at the
    waits of kernels that can be called again.
    """
    writer = _Writer(step, bound, checked, inner, references, scalars, owned, traced, resumable)
    return writer.finish()


_numbers = itertools.count()


class _Writer:
    def __init__(
        self,
        step: StepGraph,
        bound: list[BoundNode],
        checked: bool,
        inner: bool,
        references: Collection[int],
        scalars: Scalars | None,
        owned: Collection[int],
        traced: bool,
        resumable: bool,
    ):
        self.resumable = resumable and any(entry.resumes for entry in bound)
        self.step = step
        self.checked = checked
        self.traced = traced
        self.inner = inner
        self.references = references
        self.scalars = scalars or Scalars()
        self.namespace: dict[str, Any] = {}
        self.names: dict[Edge, str] = {}
        for i, feed in enumerate(step.feeds):
            self.names[Edge(feed, 0)] = f"f{i}"
        self._bind_constants(bound)
        self.aliasing: Aliasing = analyse(step, bound, [step.feeds[index] for index in owned])
        self.overwritten: set[int] = set()
        # From the output of a node that the plan leaves out to the value that it passes on.
        self.source: dict[Edge, Edge] = {}
        self.bound = [e for e in bound if not e.is_constant and not self._leave_out(e)]
        self.position = {entry.node: i for i, entry in enumerate(bound)}
        self.dead_after = self._dead_after()
        self.lines = [self._line(i, entry) for i, entry in enumerate(self.bound)]

    def _bind_constants(self, bound: list[BoundNode]) -> None:
        for i, entry in enumerate(bound):
            if entry.is_constant:
                state = entry.node.dtypes and entry.node.dtypes[0].is_ref_dtype
                name = f"v{i}" if state else f"c{i}"
                self.names[Edge(entry.node, 0)] = name
                self.namespace[name] = entry.constant

    def _leave_out(self, entry: BoundNode) -> bool:
        """Whether a node only passes its input on: then its users take that input instead."""
        node = entry.node
        spec = node.spec
        if not (spec.inputs or spec.outputs or spec.is_stateful):
            return True  # it only orders others, and the lines are in order
        if not entry.same or node in self.aliasing.copied or node in self.step.targets:
            return False
        self.source[Edge(node, 0)] = self._resolved(node.inputs[0])
        return True

    def _resolved(self, edge: Edge) -> Edge:
        return self.source.get(edge, edge)

    def _dead_after(self) -> dict[Node, list[Edge]]:
        """For each node, the values that no later line mentions."""
        fetched = {self._resolved(edge) for edge in self.step.fetches}
        last: dict[Edge, Node] = {}
        for entry in self.bound:
            for edge in entry.node.inputs:
                last[self._resolved(edge)] = entry.node
            for predicate, _ in entry.node.guard:
                last[predicate] = entry.node
            for i in range(len(entry.node.dtypes)):
                last.setdefault(Edge(entry.node, i), entry.node)
        dead: dict[Node, list[Edge]] = {}
        for edge, node in last.items():
            kept = edge in fetched or edge.node.type == "_Truth"
            if not kept and self.names.get(edge, "t")[0] not in "vc":
                dead.setdefault(node, []).append(edge)
        return dead

    def _read(self, edge: Edge) -> str:
        """The expression of a value: a reference is read where it is used."""
        source = self._resolved(edge)
        name = self.names[edge] = self.names[source]
        return f"{name}.read()" if source.dtype.is_ref_dtype else name

    def _line(self, number: int, entry: BoundNode) -> str:
        if entry.node.type == "_Choose":
            text = self._choice(number, entry)
        elif entry.node in self.scalars.nodes:
            text = self._number(number, entry.node)
        else:
            text = self._call(number, entry)
        if self.checked:
            text = f"step.check(); {text}"
        if self.traced:
            text = self._traced(number, entry.node, text)
        if not entry.node.guard:
            return text
        # The outer predicate first: an inner one is known only where it holds.
        tests = [
            self.names[edge] if value else f"not {self.names[edge]}"
            for edge, value in entry.node.guard
        ]
        return f"if {' and '.join(tests)}: {text}"

    def _traced(self, number: int, node: Node, text: str) -> str:
        self.namespace[f"n{number}"] = node
        self.namespace["clock"] = clock
        dead = self.dead_after.get(node, [])
        outputs = [Edge(node, i) for i in range(len(node.dtypes))]
        made = "".join(f", {self.names[edge]}" for edge in outputs if edge not in dead)
        return f"b = clock(); {text}; step.trace.record(n{number}, b, clock(){made})"

    def _number(self, number: int, node: Node) -> str:
        """A line of Python numbers instead of a kernel's call."""
        self.names[Edge(node, 0)] = f"t{number}"
        arguments = [self._as_number(edge) for edge in node.inputs]
        return f"t{number} = {expression(node, arguments)}"

    def _as_number(self, edge: Edge) -> str:
        name = self.names[self._resolved(edge)]
        if edge.node.type == "Const":
            return repr(self.namespace[name].item())
        if edge.node in self.step.feeds:
            index = self.step.feeds.index(edge.node)
            return f"g{index}" if index in self.scalars.invariants else name
        return name

    def _choice(self, number: int, entry: BoundNode) -> str:
        """The value of the branch that ran; the other one's name may have no value."""
        node = entry.node
        truth, *values = node.inputs
        test = self.names[truth]
        chosen = [
            self.names[self._resolved(edge)] if node.spec.takes_refs else self._read(edge)
            for edge in values
        ]
        target, taken = f"t{number}", f"t{number}_1"
        self.names[Edge(node, 0)], self.names[Edge(node, 1)] = target, taken
        value = f"{chosen[0]} if {test} else {chosen[1]}"
        if node in self.aliasing.copied:
            self.namespace["copied"] = _copied
            value = f"copied({value})"
        text = f"{target} = {value}"
        dead = self.dead_after.get(node, [])
        if Edge(node, 1) not in dead:
            self.namespace["c_taken"] = [torch.tensor(i, dtype=torch.int32) for i in (0, 1)]
            holds, fails = node.attrs["taken"]
            text += f"; {taken} = c_taken[{holds}] if {test} else c_taken[{fails}]"
        freed = [self.names[edge] for edge in dead if edge.node is not node and edge != truth]
        return text + "".join(f"; {name} = None" for name in freed)

    def _call(self, number: int, entry: BoundNode) -> str:
        node = entry.node
        dead = self.dead_after.get(node, [])
        arguments = [
            self.names[edge] if takes_ref else self._read(edge)
            for edge, takes_ref in zip(node.inputs, node.ref_inputs(), strict=True)
        ]
        is_kept = node.type == "_Send" and not node.attrs.get("leaves")
        if is_kept and self.aliasing.is_written(node.inputs[0]):
            self.namespace["copied"] = _copied  # its receiver may look later than a write
            arguments = [f"copied({arguments[0]})"]
        if entry.takes_step:
            arguments.insert(0, "step")
        function = f"k{number}"
        self.namespace[function] = self._function(entry, dead)
        call = f"{function}({', '.join(arguments)})"
        if self.resumable and entry.resumes:
            self.namespace[function] = resumable(self.namespace[function])
            call = f"(yield from {call})"
        targets = [f"t{number}" if i == 0 else f"t{number}_{i}" for i in range(len(node.dtypes))]
        for i, target in enumerate(targets):
            self.names[Edge(node, i)] = target
        if node in self.aliasing.copied:
            self.namespace["copied"] = _copied
            call = f"copied({call})"
        used = any(Edge(node, i) not in dead for i in range(len(targets)))
        text = f"{', '.join(targets)} = {call}" if used else call
        deleted = [self.names[edge] for edge in dead if used or edge.node is not node]
        if deleted:
            text += f"; del {', '.join(deleted)}"
        return text

    def _function(self, entry: BoundNode, dead: list[Edge]) -> Callable[..., Any]:
        """The kernel, or its in-place variant where an input's memory ends here."""
        variants = registry.inplace_variants(entry.node) if entry.of_tensors else {}
        for index, variant in variants.items():
            if self._may_overwrite(entry, index, dead):
                self._note_overwritten(self._resolved(entry.node.inputs[index]))
                return variant
        assert entry.function is not None
        return entry.function

    def _note_overwritten(self, edge: Edge) -> None:
        for _, place in self.aliasing.roots[edge]:
            if isinstance(place, tuple) and place[0] in self.step.feeds:
                self.overwritten.add(self.step.feeds.index(place[0]))

    def _may_overwrite(self, entry: BoundNode, index: int, dead: list[Edge]) -> bool:
        node = entry.node
        inputs = [self._resolved(edge) for edge in node.inputs]
        edge = inputs[index]
        if edge not in dead or inputs.count(edge) > 1 or not self._fits(node, edge):
            return False
        roots = self.aliasing.roots[edge]
        if len(roots) != 1 or not self.aliasing.is_private(edge):
            return False
        (root,) = roots
        if any(root in self.aliasing.roots[other] for other in inputs if other != edge):
            return False  # a view of it is read beside it: a + transpose(a)
        return self.aliasing.last_use[root] == self.position[node]

    @staticmethod
    def _fits(node: Node, edge: Edge) -> bool:
        """Whether the result has type and shape of the overwritten value, whatever is fed."""
        if not node.dtypes or node.dtypes[0].is_ref_dtype:
            return True  # the value becomes the memory of a variable
        if edge.dtype is not node.dtypes[0]:
            return False
        others = [other.shape for other in node.inputs if other is not edge]
        return registry.keeps_shape(node) or all(_broadcasts_into(o, edge.shape) for o in others)

    def finish(self) -> Plan:
        feeds = [f"f{i}" for i in range(len(self.step.feeds))]
        numbers = [f"g{index}" for index in self.scalars.invariants]
        parameters = ", ".join(["step", *feeds, *numbers])
        results = []
        for i, edge in enumerate(self.step.fetches):
            if i in self.references:
                results.append(self.names[self._resolved(edge)])
                continue
            if self._gives_number(i, edge):
                results.append(self._as_number(edge))
                continue
            if self.inner and self.aliasing.is_own_or_fed(edge):
                results.append(self._read(edge))
                continue
            results.append(f"r{i}({self._read(edge)})")
            if self.inner:
                self.namespace[f"r{i}"] = _copied
                continue
            rank = None if edge.shape is None else len(edge.shape)
            copy = not self.aliasing.is_private(edge)
            unless_marked = copy and self._is_marked_if_fresh(edge)
            self.namespace[f"r{i}"] = fetcher(
                edge.dtype.base_dtype, rank, copy=copy, unless_marked=unless_marked
            )
        body = [*self.lines, f"return ({', '.join(results)}{',' if results else ''})"]
        source = "\n".join([f"def step({parameters}):", *(f"    {line}" for line in body)])
        filename = f"<penstock plan {next(_numbers)}>"
        exec(compile(source, filename, "exec"), self.namespace)  # our own generated source
        # Without the cycle that its own name would be, what it holds is freed with the plan.
        function = self.namespace.pop("step")
        fetched = [self._resolved(edge) for edge in self.step.fetches]
        plan = Plan(
            source,
            function,
            self.bound,
            self.names,
            filename,
            self.overwritten,
            fetched,
            self.resumable,
        )
        # Tracebacks show the plan's lines for as long as the plan lives.
        linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
        weakref.finalize(plan, linecache.cache.pop, filename, None)
        return plan

    def _is_marked_if_fresh(self, edge: Edge) -> bool:
        """Whether a value tells, when it is there, that its memory belongs to this step alone."""
        marks = any(entry.marks_fresh for entry in self.bound if entry.node is edge.node)
        return marks and not self.aliasing.is_kept(edge)

    def _gives_number(self, index: int, edge: Edge) -> bool:
        """Whether a result is a Python number: a counter's next value, or a condition."""
        return edge.node in self.scalars.nodes or (
            index in self.scalars.variables and self.scalars.results_are_variables
        )


def _broadcasts_into(shape: Shape, target: Shape) -> bool:
    """Whether broadcasting with a value of `shape` surely leaves the shape of `target` as it is."""
    if shape == ():
        return True
    if shape is None or target is None or len(shape) > len(target):
        return False
    tail = target[len(target) - len(shape) :]
    return all(a == 1 or (a is not None and a == b) for a, b in zip(shape, tail, strict=True))


def _copied(value: Any) -> Any:
    """Own memory for a value that shares a variable's, which is written before its last use."""
    if isinstance(value, (tuple, list)):
        return [_copied(entry) for entry in value]
    if hasattr(value, "clone"):
        return value.clone()
    return value.copy() if is_array(value) else value  # a handle is what it stands for
