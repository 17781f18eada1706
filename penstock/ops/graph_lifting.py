"""Copies of what a tensor is computed from, in another graph: `lift_to_graph`.

An eager graph runs what is added to it. So a tensor that is lifted there has a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from penstock.ir.function import FunctionGraph, add_function
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.ir.registry import find
from penstock.ir.tensor import Tensor
from penstock.ops.resource_variable import ResourceVariable

_PLACES_OF_OTHERS = ("_class", "_tpu_replicate")  # attrs that name nodes of the graph it is from


class UnliftableError(Exception):
    """What a tensor is computed from can't be copied: it depends on an argument."""

    ag_pass_through = True


def lift_to_graph(
    tensors: Iterable[Any],
    graph: Graph,
    sources: Iterable[Tensor] | None = None,
    disallowed_placeholders: Iterable[Operation] | None = None,
    add_sources: bool = False,
    handle_captures: bool = False,
    base_graph: Graph | None = None,
    op_map: dict[Any, Any] | None = None,
) -> dict[Any, Any]:
    """Copies tensors and operations with all that they depend on; returns what became of each.

    Args:
      tensors: tensors, operations and variables of one graph; variables stay what they are.
      sources: tensors that become placeholders in the other graph.
      disallowed_placeholders: nodes whose copies would be of no use; all placeholders if None.
      add_sources: whether placeholders that are not allowed become sources.
      handle_captures: whether captured tensors are captured by the other graph, too.
      op_map: what is there already.
    """
    wanted = list(tensors)
    lifting = _Lifting(graph, base_graph or _graph_of(wanted), op_map, handle_captures)
    lifting.stops = {tensor._op: None for tensor in sources or ()}
    for element in wanted:
        if isinstance(element, ResourceVariable):
            lifting.known[element] = element
    starts = [
        getattr(each, "op", each) for each in wanted if not isinstance(each, ResourceVariable)
    ]
    nodes = list(_in_order(starts, lifting.stops))
    forbidden = None if disallowed_placeholders is None else set(disallowed_placeholders)
    for op in nodes:
        if not _blocks(op, forbidden, lifting):
            continue
        if not add_sources:
            raise UnliftableError(_complaint(wanted[0], op, starts[0]))
        lifting.stops[op] = None
    with graph.as_default(), graph.control_dependencies(None):
        lifting.copy(nodes)
    return lifting.known


def _graph_of(elements: list[Any]) -> Graph:
    first = next(each for each in elements if not isinstance(each, ResourceVariable))
    graph: Graph = first.graph
    return graph


def _in_order(starts: Iterable[Operation], stops: dict[Operation, None]) -> Iterator[Operation]:
    """Nodes and all that they depend on, each after what it depends on; loops go round once."""
    done: set[Operation] = set()
    stack: list[tuple[Operation, bool]] = [(op, False) for op in reversed(list(starts))]
    entered: set[Operation] = set()
    while stack:
        op, is_left = stack.pop()
        if is_left:
            if op not in done:
                done.add(op)
                yield op
            continue
        if op in entered:
            continue
        entered.add(op)
        stack.append((op, True))
        if op not in stops:
            before = [tensor._op for tensor in op._inputs] + list(op.control_inputs)
            stack.extend((each, False) for each in reversed(before) if each not in entered)


def _blocks(op: Operation, forbidden: set[Operation] | None, lifting: _Lifting) -> bool:
    if op in lifting.stops or op in lifting.known:
        return False
    if forbidden is not None:
        return op in forbidden
    return op.type == "Placeholder" and lifting.outside(op) is None


def _complaint(wanted: Any, op: Operation, start: Operation) -> str:
    return (
        f"Unable to lift tensor {wanted!r} because it depends transitively on placeholder "
        f"{op!r} via at least one path, e.g.: {' <- '.join(_way(start, op))}"
    )


def _way(start: Operation, end: Operation) -> list[str]:
    """The names of nodes on a way from one to what it depends on."""
    came_from: dict[Operation, Operation] = {}
    found = [start]
    for op in found:
        for before in [tensor._op for tensor in op._inputs] + list(op.control_inputs):
            if before not in came_from and before is not start:
                came_from[before] = op
                found.append(before)
    way = [end]
    while way[-1] is not start:
        way.append(came_from[way[-1]])
    return [f"{op.name} ({op.type})" for op in reversed(way)]


class _Lifting:
    """Copies nodes of one graph to another, each once."""

    def __init__(self, graph: Graph, base: Graph, known: Any, handle_captures: bool):
        self.graph, self.base = graph, base
        self.known: dict[Any, Any] = {} if known is None else known
        self.stops: dict[Operation, None] = {}
        self._into_eager = graph.is_eager
        self._handle_captures = handle_captures
        self._late: list[tuple[Operation, int, Tensor]] = []  # inputs that come round a loop

    def copy(self, nodes: list[Operation]) -> None:
        in_base = getattr(self.base, "internal_captures", ())
        captured = [tensor._op for tensor in in_base if tensor._op in self.stops]
        for op in [*captured, *self.stops]:
            if op not in self.known:
                self._copy_source(op)
        for op in nodes:
            if op not in self.known:
                self._copy_node(op)
        for copied, place, tensor in self._late:
            copied._update_input(place, self.known[tensor])

    def outside(self, op: Operation) -> Tensor | None:
        """The tensor that a node stands for in its body, if the other graph can use that."""
        captured: Tensor | None = op.__dict__.get("_stands_for")
        if captured is None or isinstance(self.graph, FunctionGraph):
            return captured
        home = captured._op.graph
        return captured if home is self.graph or (home.is_eager and self._into_eager) else None

    def _copy_source(self, op: Operation) -> None:
        (tensor,) = op._outputs
        captured = op.__dict__.get("_stands_for")
        if self._handle_captures and captured is not None:
            made = self.graph.capture(captured, op.name)  # type: ignore[attr-defined]
        elif op.type == "PlaceholderWithDefault" and op._inputs[0]._op.type == "Const":
            self._copy_node(op._inputs[0]._op)
            self._copy_node(op)
            return
        else:
            made = self._placeholder(tensor, op.name)
            if captured is not None:
                made._op.__dict__["_stands_for"] = captured
        self.known[op] = made._op
        self.known[tensor] = made

    def _placeholder(self, tensor: Tensor, name: str) -> Tensor:
        spec = find("Placeholder")
        assert spec is not None
        made: Tensor = spec(dtype=tensor._dtype.base_dtype, shape=tensor._shape, name=name)
        return made

    def _copy_node(self, op: Operation) -> None:
        captured = self.outside(op)
        if captured is not None:
            self.known[op._outputs[0]] = captured
            self.known[op] = captured._op
            return
        missing = [each for each in enumerate(op._inputs) if each[1] not in self.known]
        inputs = [
            self.known[tensor]
            if tensor in self.known
            else self._placeholder(tensor, "unused_control_flow_input")
            for tensor in op._inputs
        ]
        waits = [self.known[each] for each in op.control_inputs if each in self.known]
        self._add_functions(op)
        copied = self.graph._add(
            op.spec,
            self.graph.unique_name(op.name),
            tuple(inputs),
            {key: value for key, value in op.attrs.items() if key not in _PLACES_OF_OTHERS},
            [tensor._dtype for tensor in op._outputs],
            waits,
        )
        if not self._into_eager:
            copied._set_device(op.device)
        self._late += [(copied, place, tensor) for place, tensor in missing]
        self.known[op] = copied
        for original, made in zip(op._outputs, copied._outputs, strict=True):
            self.known[original] = made
            if not self._into_eager:
                made.set_shape(original._shape)  # it may know more than the node's rule says

    def _add_functions(self, op: Operation) -> None:
        from penstock.ir.attr_codec import Function as FunctionName

        names = [op.type, *(v.name for v in op.attrs.values() if isinstance(v, FunctionName))]
        for name in names:
            if (function := self.base._functions.get(name)) is not None:
                add_function(self.graph, function)
