"""Gradients of calls: a function's derivative is a function, too.

It is one of the arguments and of the gradients of the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import dtypes
from penstock.dtypes import DType
from penstock.ir.attr_codec import Function as FunctionName
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.function import Function, FunctionGraph, add_function, hashed_name
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.filling import zeros, zeros_like
from penstock.ops.functions import SymbolicGradient
from penstock.ops.identity import identity
from penstock.ops.resource_variables import VarHandleOp, VariableShape, variable_of


def gradient_body(body: FunctionGraph, types: Sequence[DType]) -> FunctionGraph:
    """A body that computes the gradients, of given types, of another body's arguments."""
    from penstock.autodiff.gradients import gradients
    from penstock.ir.graph_def import graph_def
    from penstock.ir.importer import import_graph_def

    derived = FunctionGraph()
    derived._functions = body._functions
    with derived.as_default():
        names = [tensor.name for tensor in (*body.inputs, *body.outputs)]
        found = import_graph_def(graph_def(body), name="", return_elements=names) or []
        derived.inputs = list(found[: len(body.inputs)])
        results = found[len(body.inputs) :]
        for tensor, result, dtype in zip(derived.inputs, body.inputs, types, strict=True):
            tensor._shape = result._shape
            outer = result._op.__dict__.get("_stands_for")
            if outer is None and result._dtype is dtypes.resource is not dtype:
                outer = _handle_of_some_variable(dtype)
            if outer is not None:
                tensor._op.__dict__["_stands_for"] = outer
        grads = [
            derived.add_input(result._dtype, result._shape, f"grad_{index}")
            for index, result in enumerate(results)
        ]
        arguments = derived.inputs[: len(body.inputs)]
        made = gradients(results, arguments, grad_ys=grads)
        derived.outputs = [
            _no_gradient(argument, dtype) if grad is None else convert_to_tensor(grad)
            for argument, grad, dtype in zip(arguments, made, types, strict=True)
        ]
    return derived


def _handle_of_some_variable(dtype: DType) -> Tensor:
    """What an argument stands for that is the handle of a variable, of which nothing else is known.

    A call in the body finds by it that the variable has a gradient, and of which type.
    """
    with Graph().as_default():
        handle: Tensor = VarHandleOp(dtype=dtype, shape=None)
    return handle


def _no_gradient(argument: Tensor, dtype: DType) -> Tensor:
    """Zeros for an argument that the results don't depend on; a handle of no variable stays."""
    if argument._dtype is not dtypes.resource:
        return zeros_like(argument)
    return identity(argument) if dtype is dtypes.resource else zeros(VariableShape(argument), dtype)


def _derivative(op: Operation, name: FunctionName, types: Sequence[DType]) -> FunctionName:
    """The function of an op's graph that is another one's derivative, made if it isn't there."""
    function = op.graph._functions[name.name]
    if function.gradient_name:
        return FunctionName(function.gradient_name, dict(name.attrs))
    body = gradient_body(function.body(name.attrs, op.graph._functions), types)
    return _added(f"{name.name}_grad", body)


def _added(name: str, body: FunctionGraph) -> FunctionName:
    graph = get_default_graph()
    made = Function(hashed_name(name, body), body=body)
    add_function(graph, made)
    return FunctionName(made.name, {})


def _gradient_type(tensor: Tensor) -> DType:
    """The type of the gradient by a tensor: of a variable's handle, that of its value."""
    variable = variable_of(tensor) if tensor._dtype is dtypes.resource else None
    return tensor._dtype.base_dtype if variable is None else variable.attrs["dtype"]


def _full(op: Operation, grads: Sequence[Any]) -> list[Tensor]:
    """A gradient for each result: zeros where there is none."""
    return [
        zeros_like(output) if grad is None else convert_to_tensor(grad)
        for output, grad in zip(op._outputs, grads, strict=True)
    ]


def _floating(made: Sequence[Tensor], arguments: Sequence[Tensor]) -> list[Tensor | None]:
    """The gradients of those arguments that have one."""
    return [
        gradient if gradient._dtype.is_floating or gradient._dtype.is_complex else None
        for gradient, _ in zip(made, arguments, strict=True)
    ]


@SymbolicGradient.gradient
def _(op: Operation, *grads: Any) -> list[Tensor | None]:
    types = op.attrs["Tout"]
    inputs = list(op._inputs)
    derivative = _derivative(op, op.attrs["f"], types)
    made = SymbolicGradient(
        [*inputs, *_full(op, grads)],
        Tout=[_gradient_type(tensor) for tensor in inputs],
        f=derivative,
    )
    return _floating(made, inputs)
