"""The shapes of what a call gives, where its arguments say more than the function's body knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import shapes
from penstock.ir.function import FunctionGraph
from penstock.ir.operation import Operation
from penstock.ops.graph_lifting import lift_to_graph
from penstock.shapes import Shape

_MOST_NODES = 2000  # of a body that is built again only to learn shapes


def shapes_for_call(op: Operation, body: FunctionGraph) -> list[Shape]:
    """The shapes of a call's results: as the body has them, or as it would for these arguments."""
    known = [output._shape for output in body.outputs]
    given = [tensor._shape for tensor in op._inputs]
    if all(shapes.is_full(shape) for shape in known) or len(given) != len(body.inputs):
        return known
    if not _say_more(given, [tensor._shape for tensor in body.inputs]):
        return known
    if len(body.get_operations()) > _MOST_NODES:
        return known
    return _built_again(op, body)


def _say_more(given: Sequence[Shape], expected: Sequence[Shape]) -> bool:
    pairs = zip(given, expected, strict=True)
    return any(shapes.compatible(a, b) and shapes.merge(a, b) != b for a, b in pairs)


def _built_again(op: Operation, body: FunctionGraph) -> list[Shape]:
    graph = FunctionGraph(name=body.name)
    graph._functions = body._functions
    copies: dict[Any, Any] = {}
    for argument, tensor in zip(body.inputs, op._inputs, strict=True):
        shape = argument._shape
        if shapes.compatible(shape, tensor._shape):
            shape = shapes.merge(shape, tensor._shape)
        copy = graph.add_input(argument._dtype, shape, argument._op.name)
        copy._op.__dict__["_stands_for"] = tensor  # variables are known by their handles
        copies[argument] = copy
        copies[argument._op] = copy._op
    found = lift_to_graph(body.outputs, graph, base_graph=body, op_map=copies)
    return [found[output]._shape for output in body.outputs]
