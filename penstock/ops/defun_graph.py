"""The bodies of `Defun`s, and what they take from the graph around them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import get_default_graph
from penstock.ir.function import FunctionGraph
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.identity import guarantee_const
from penstock.ops.resource_variable import ResourceVariable
from penstock.ops.variable_scope import (
    STORE_KEY,
    default_store,
    get_variable_scope,
    variable_scope,
)


class DefunGraph(FunctionGraph):
    """The body of a `Defun`: a function of its arguments alone.

    1. A tensor of the graph around it becomes a further argument or, `by_value`, is computed anew
       inside, by copies of the nodes that it comes from.
    2. Its variables, and what `tf.get_variable` knows of, are those of the graph around it.
    3. Nodes of the graph around it can't be control inputs.
    """

    def __init__(self, outer: Graph, by_value: bool = False, copied: Collection[Operation] = ()):
        super().__init__(outer)
        self._by_value = by_value
        self._may_copy = frozenset(copied)  # though they have state
        self._copies: dict[Operation, Operation] = {}
        for key in (*GraphKeys._VARIABLE_COLLECTIONS, STORE_KEY):
            self._collections[key] = outer.get_collection_ref(key)
        self._guaranteed: dict[Tensor, Tensor] = {}

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        if tensor._op.graph is self:
            return tensor
        if self._by_value:
            return self._copy(tensor._op).outputs[tensor._value_index]
        argument = super().capture(tensor, name)
        if not _is_guaranteed(tensor):
            return argument
        if tensor not in self._guaranteed:
            with self.as_default(), self.control_dependencies(None):
                self._guaranteed[tensor] = guarantee_const(argument)
        return self._guaranteed[tensor]

    @contextmanager
    def control_dependencies(self, control_inputs: Any) -> Iterator[None]:
        with Graph.control_dependencies(self, control_inputs):
            yield

    def _copy(self, op: Operation) -> Operation:
        if op not in self._copies:
            described = f"(name:{op.name}, type:{op.type}) by value."
            if op.spec.is_stateful and op not in self._may_copy:
                raise ValueError(f"Cannot capture a stateful node {described}")
            if op.type in ("Placeholder", "PlaceholderV2"):
                raise ValueError(f"Cannot capture a placeholder {described}")
            inputs = [self.capture(tensor) for tensor in op._inputs]
            types = [output._dtype for output in op.outputs]
            with self.as_default(), self.control_dependencies(None):
                self._copies[op] = self.create_op(
                    op.type, inputs, types, name=op.name, attrs=dict(op.attrs)
                )
        return self._copies[op]


def _is_guaranteed(tensor: Tensor) -> bool:
    """Whether a tensor is a guaranteed constant, or computed from such alone."""
    known: dict[Operation, bool] = {}
    pending = [tensor._op]
    while pending:
        op = pending[-1]
        producers = [each._op for each in op._inputs]
        if op.type == "GuaranteeConst" or not producers:
            known[op] = op.type == "GuaranteeConst"
        elif op in known:
            known[op] = all(known[each] for each in producers)
        else:
            known[op] = False  # a loop's back edge is none; it is looked at again below
            pending.extend(each for each in producers if each not in known)
            continue
        pending.pop()
    return known[tensor._op]


#: What a body's `tf.get_variable` says of a variable, besides its name.
_PASSED_ON = (
    *("shape", "dtype", "initializer", "regularizer", "reuse", "trainable", "collections"),
    "use_resource",
)


def with_outer_variables(
    func: Callable[..., Any], resources_by_value: bool = True
) -> Callable[..., Any]:
    """The function, whose `tf.get_variable` makes variables in the graph around its body.

    Of a resource variable the body gets the value, so that it is a function of its arguments.
    """
    outer, scope = get_default_graph(), get_variable_scope()

    def get(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        body = get_default_graph()
        wanted = {key: kwargs[key] for key in _PASSED_ON if key in kwargs}
        with outer.as_default():
            variable = scope.get_variable(default_store(), name, *args, **wanted)
            if isinstance(body, FunctionGraph):
                body.asked_variables.append(variable)
            if resources_by_value and isinstance(variable, ResourceVariable):
                return variable.value()
        return variable

    def run(*args: Any) -> Any:
        with variable_scope("", custom_getter=get):
            return func(*args)

    return run
