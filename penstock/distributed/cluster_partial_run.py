"""`Session.partial_run` on a cluster: each part is a step of its own.

What a part has computed and a later one needs is fetched from it, kept by the master, and fed. So
every node runs once, as far as that can be seen: variables and other handles can't be fed and are
looked up again, and what lies in a branch that may not be taken is computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from penstock import dtypes, proto
from penstock.distributed.value_arrays import value_of
from penstock.ir.graph import Graph
from penstock.ir.graph_def import graph_def
from penstock.ir.importer import extend_graph
from penstock.ir.operation import Operation
from penstock.ir.registry import STATEFUL, find
from penstock.ir.tensor import Tensor
from penstock.runtime.partial_run import PartialRunRecord, not_fed

_BRANCHING = ("Switch", "RefSwitch", "_SwitchN")
_JOINING = ("Merge", "RefMerge", "Exit", "RefExit")

#: A step as a runtime compiles it, of a graph's tensors and operations by name.
StepNames = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], frozenset[str]]
Compile = Callable[[list[Tensor], list[Tensor], list[Operation]], Any]


class PartialSteps:
    """The steps that partial runs of one session are made of, each compiled once."""

    def __init__(self, compile_step: Compile):
        self._compile = compile_step
        self._known: dict[StepNames, Any] = {}

    def step(
        self,
        graph: Graph,
        feeds: Iterable[Tensor],
        fetches: Iterable[Tensor],
        targets: Iterable[Operation],
        done: Iterable[Operation],
    ) -> Any:
        """A step of a graph whose nodes wait no more for those that are done."""
        names: StepNames = (
            tuple(tensor.name for tensor in feeds),
            tuple(tensor.name for tensor in fetches),
            tuple(op.name for op in targets),
            frozenset(op.name for op in done),
        )
        if names not in self._known:
            self._known[names] = self._compiled(graph, names)
        return self._known[names]

    def _compiled(self, graph: Graph, names: StepNames) -> Any:
        feeds, fetches, targets, done = names
        message = proto.GraphDef()
        message.CopyFrom(graph_def(graph))
        for node in message.node:
            kept = [i for i in node.input if not (i.startswith("^") and i[1:] in done)]
            if len(kept) < len(node.input):
                del node.input[:]
                node.input.extend(kept)
        part = Graph()
        with part.as_default():
            extend_graph(part, message)
        for op in part.get_operations():
            op._line = None  # it would be a line of this module
        return self._compile(
            [part.get_tensor_by_name(name) for name in feeds],
            [part.get_tensor_by_name(name) for name in fetches],
            [part.get_operation_by_name(name) for name in targets],
        )


class ClusterPartialRun:
    """A step that is run in parts, with the methods of a `PartialRun`.

    1. `done` has the nodes that must not run again; the values of theirs that are still needed
       are in `values`, with those that were fed.
    2. A part runs what its fetches and targets need, down to what is in `values`.
    """

    def __init__(
        self,
        steps: PartialSteps,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
    ):
        self._steps = steps
        self._record = PartialRunRecord(feeds, fetches, targets)
        self._feeds = set(feeds)
        self._elements: list[Tensor | Operation] = [*fetches, *targets]
        self._done: set[Operation] = set()
        self._values: dict[Tensor, Any] = {}
        self._whole = self._needed(self._elements, self._feeds, set())
        self._branched = _branched(self._whole)

    @property
    def is_over(self) -> bool:
        """Whether all that was named ahead has been fed, fetched and run."""
        return self._record.is_over

    def run(
        self, feeds: dict[Tensor, Any], fetches: Sequence[Tensor], targets: Sequence[Operation]
    ) -> list[Any]:
        """Feeds, runs what fetches and targets need, and returns the values of the fetches."""
        self._record.check(feeds, [*fetches, *targets])
        self._record.fed.update(feeds)
        self._values.update(feeds)
        missing = self._feeds - self._record.fed
        wanted: list[Tensor | Operation] = [*fetches, *targets]
        part = self._needed(wanted, set(self._values), self._done, stop_at=missing)
        given = self._run_part(part, fetches, targets)
        self._record.fetched.update(wanted)
        return given

    def _run_part(
        self, part: set[Operation], fetches: Sequence[Tensor], targets: Sequence[Operation]
    ) -> list[Any]:
        finished = {op for op in part if not self._runs_again(op)}
        later = self._whole - self._done - finished
        open_ends = {tensor for op in later for tensor in op.inputs}
        open_ends |= {each for each in self._elements if isinstance(each, Tensor)}
        kept = [
            tensor
            for op in sorted(finished, key=lambda op: op.name)
            for tensor in op.outputs
            if tensor in open_ends and tensor not in self._values
        ]
        asked = [
            tensor for tensor in dict.fromkeys([*fetches, *kept]) if tensor not in self._values
        ]
        results = dict(zip(asked, self._results(asked, targets, part), strict=True))
        self._values.update({t: value_of(results[t], t.dtype) for t in kept})
        self._done |= finished
        return [
            results[tensor] if tensor in results else _given_back(self._values[tensor])
            for tensor in fetches
        ]

    def _results(
        self, fetches: list[Tensor], targets: Sequence[Operation], part: set[Operation]
    ) -> Sequence[Any]:
        pending = [op for op in targets if op not in self._done]
        if not fetches and not pending:
            return ()
        used = {tensor for op in part for tensor in op.inputs}
        feeds = [tensor for tensor in self._values if tensor in used]
        graph = (fetches[0].op if fetches else pending[0]).graph
        step = self._steps.step(graph, feeds, fetches, pending, self._done)
        results: Sequence[Any] = step.run([self._values[tensor] for tensor in feeds])
        return results

    def _runs_again(self, op: Operation) -> bool:
        """Whether a node may run in later parts too: its values can't be kept, or need not come."""
        handles = any(_is_handle(tensor) for tensor in op.outputs)
        spec = find(op.type)
        is_pure = spec is not None and STATEFUL not in spec.traits
        return op in self._branched or (handles and (is_pure or not op.inputs))

    def _needed(
        self,
        elements: Iterable[Tensor | Operation],
        known: set[Tensor],
        done: set[Operation],
        stop_at: Iterable[Tensor] = (),
    ) -> set[Operation]:
        """The nodes that elements need; raises if that is a feed of `stop_at`, not fed yet."""
        missing = set(stop_at)
        found: set[Operation] = set()
        pending: list[Tensor | Operation] = list(elements)
        while pending:
            element = pending.pop()
            if isinstance(element, Tensor):
                if element in missing:
                    raise not_fed(element)
                if element in known:
                    continue
                element = element.op
            if element not in found and element not in done:
                found.add(element)
                pending += [*element.inputs, *element.control_inputs]
        return found


def _is_handle(tensor: Tensor) -> bool:
    base = tensor.dtype.base_dtype
    return tensor.dtype is not base or base in (dtypes.resource, dtypes.variant)


def _given_back(value: Any) -> Any:
    from penstock.kernels.values import to_array

    array = to_array(value).copy()
    return array if array.ndim else array[()]


def _branched(ops: set[Operation]) -> set[Operation]:
    """The nodes of branches: from a predicate to the Merge or Exit; some may not run at all."""
    users: dict[Operation, list[Operation]] = {}
    for op in ops:
        for before in (*(tensor.op for tensor in op.inputs), *op.control_inputs):
            users.setdefault(before, []).append(op)
    found = {op for op in ops if op.type in _BRANCHING}
    pending = list(found)
    while pending:
        for user in users.get(pending.pop(), ()):
            if user not in found and user.type not in _JOINING:
                found.add(user)
                pending.append(user)
    # A branch is known by the node that its predicate comes from.
    predicates = {op.inputs[1].op for op in found if op.type in _BRANCHING}
    return found | {op for op in predicates & ops if op.type == "Identity"}
