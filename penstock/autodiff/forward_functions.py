"""The functions that a node calls, as its gradient sees them: bodies whose results can grow.

The gradient of a conditional or a loop needs values from inside of it. The node is then changed to
give them: its functions get further results, and loops the arguments for these. The bodies' nodes
stay what they are, so that a step which was compiled before still runs the functions as they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock import dtypes
from penstock.ir.attr_codec import Function as FunctionName
from penstock.ir.function import Function, FunctionGraph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.functions import function_named


class ForwardFunction:
    """One function of a node: the graph of its nodes, its arguments and its results.

    `kept` maps tensors of the body to the number of the result that carries them out; `own_results`
    is how many results there are without those.
    """

    def __init__(self, op: Operation, name: FunctionName, first_input: int):
        function = function_named(op, name)
        body = function.body(name.attrs, op.graph._functions)
        self.op = op
        self.graph: FunctionGraph = body.base
        self.name = name.name
        self.inputs = list(body.inputs)
        self.outputs = list(body.outputs)
        self.own_results = len(self.outputs)
        self.kept: dict[Tensor, int] = {}
        assert function.definition is not None  # made now: the body may change later
        for argument, tensor in zip(self.inputs, op._inputs[first_input:], strict=True):
            argument._op.__dict__.setdefault("_stands_for", tensor)

    @contextmanager
    def extending(self) -> Iterator[None]:
        """A block that adds nodes to the body, which may be finished."""
        graph = self.graph
        was_finished = graph.finalized
        graph._unsafe_unfinalize()
        with graph.as_default(), graph.control_dependencies(None):
            yield
        if was_finished:
            graph.finalize()

    def owns(self, tensor: Tensor) -> bool:
        return tensor._op.graph is self.graph

    def origin(self, handle: Tensor) -> int:
        """The number of the argument that a handle comes from."""
        tensor = handle
        while tensor not in self.inputs:
            tensor = _passed_on(tensor)
        return self.inputs.index(tensor)

    def rewritten(self) -> FunctionName:
        """The function with the arguments and results that it has by now, under a new name."""
        library = self.op.graph._functions
        name = f"{self.name}_rewritten"
        while name in library:
            name += "_rewritten"
        made = Function(name, body=self.graph.with_signature(name, self.inputs, self.outputs))
        library[name] = made
        self.name = name
        assert made.definition is not None
        return FunctionName(name, {})


def _passed_on(handle: Tensor) -> Tensor:
    """The tensor that a node has passed on: handles are made outside of loops and branches."""
    op = handle._op
    if op.type in ("While", "StatelessWhile", "IdentityN"):
        return op._inputs[handle._value_index]
    given = [tensor for tensor in op._inputs if tensor._dtype is dtypes.resource]
    if len(given) != 1:
        raise ValueError(
            "Taking gradient of a while loop which creates a resource in its body is not "
            f"supported: {op.name}"
        )
    return given[0]


def functions_of(op: Operation, first_input: int, *attrs: str) -> list[ForwardFunction]:
    """The functions of a node, the same ones for every gradient of it."""
    known: Any = op.__dict__.get("_forward_functions")
    if known is None:
        names: list[FunctionName] = []
        for attr in attrs:
            value = op.attrs[attr]
            names += value if isinstance(value, list) else [value]
        known = [ForwardFunction(op, name, first_input) for name in names]
        op.__dict__["_forward_functions"] = known
    found: list[ForwardFunction] = known
    return found
