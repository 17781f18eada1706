"""Gradients of nodes that call functions: If, Case, While, and the gradient of a call itself.

A function's derivative is a function too: of the arguments and the gradients of the results. The
gradient of a conditional is one between the derivatives of its branches. That of a loop runs the
loop again, keeping what each iteration began with, and goes back through the iterations.
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
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.filling import zeros, zeros_like
from penstock.ops.functional_branches import (
    Case,
    If,
    StatelessCase,
    StatelessIf,
    StatelessWhile,
    While,
)
from penstock.ops.functions import PartitionedCall, SymbolicGradient, traced
from penstock.ops.identity import identity
from penstock.ops.resource_variables import VariableShape, handle_shape, variable_of
from penstock.ops.tensor_lists import EmptyTensorList, TensorListPopBack, TensorListPushBack


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
        for tensor, result in zip(derived.inputs, body.inputs, strict=True):
            tensor._shape = result._shape
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


def _shapes_of_gradients(inputs: Sequence[Tensor]) -> list[Any]:
    return [
        handle_shape(tensor) if tensor._dtype is dtypes.resource else tensor._shape
        for tensor in inputs
    ]


@If.gradient
@StatelessIf.gradient
def _(op: Operation, *grads: Any) -> list[Tensor | None]:
    condition, *inputs = op._inputs
    types = [_gradient_type(tensor) for tensor in inputs]
    branches: dict[str, Any] = {
        key: _derivative(op, op.attrs[key], types) for key in ("then_branch", "else_branch")
    }
    build = StatelessIf if op.type == "StatelessIf" else If
    made = build(
        condition,
        [*inputs, *_full(op, grads)],
        Tout=types,
        output_shapes=_shapes_of_gradients(inputs),
        **branches,
    )
    return [None, *_floating(made, inputs)]


@Case.gradient
@StatelessCase.gradient
def _(op: Operation, *grads: Any) -> list[Tensor | None]:
    index, *inputs = op._inputs
    types = [_gradient_type(tensor) for tensor in inputs]
    build = StatelessCase if op.type == "StatelessCase" else Case
    made = build(
        index,
        [*inputs, *_full(op, grads)],
        Tout=types,
        output_shapes=_shapes_of_gradients(inputs),
        branches=[_derivative(op, branch, types) for branch in op.attrs["branches"]],
    )
    return [None, *_floating(made, inputs)]


@While.gradient
@StatelessWhile.gradient
def _(op: Operation, *grads: Any) -> list[Tensor | None]:
    inputs = list(op._inputs)
    _refuse_effects(op)
    floating = [
        place
        for place, tensor in enumerate(inputs)
        if tensor._dtype.is_floating or tensor._dtype.is_complex
    ]
    histories, count = _replayed(op, inputs)
    full = _full(op, grads)
    made = _backwards(op, histories, count, [full[i] for i in floating], floating)
    found: list[Tensor | None] = [None] * len(inputs)
    for place, gradient in zip(floating, made, strict=True):
        found[place] = gradient
    return found


def _refuse_effects(op: Operation) -> None:
    """A loop can be run again only if that changes nothing; handles and lists have no zeros."""
    names = [op.attrs[key].name for key in ("cond", "body")]
    stateful = [name for name in names if op.graph._functions[name].is_stateful]
    opaque = [each.name for each in op._inputs if each._dtype in (dtypes.resource, dtypes.variant)]
    if stateful or opaque:
        reason = f"{stateful[0]!r} has effects" if stateful else f"it takes {', '.join(opaque)}"
        raise LookupError(
            f"No gradient defined for operation '{op.name}' (op type: {op.type}): {reason}. "
            "tf.while_loop is differentiable"
        )


def _call(name: FunctionName, args: Sequence[Any], types: Sequence[Any]) -> list[Any]:
    made: list[Any] = PartitionedCall(list(args), Tout=list(types), f=name)
    return made


def _replayed(op: Operation, inputs: list[Tensor]) -> tuple[list[Tensor], Tensor]:
    """Runs a loop again: lists of what each iteration began with, and how many there were."""
    types = [tensor._dtype.base_dtype for tensor in inputs]
    n = len(inputs)

    def goes_on(count: Any, *state: Any) -> Any:
        return _call(op.attrs["cond"], state[:n], [dtypes.bool])

    def once(count: Any, *state: Any) -> Any:
        values, lists = state[:n], state[n:]
        pushed = [TensorListPushBack(*pair) for pair in zip(lists, values, strict=True)]
        return [count + 1, *_call(op.attrs["body"], values, types), *pushed]

    lists = [EmptyTensorList(-1, -1, element_dtype=dtype) for dtype in types]
    state_types = [dtypes.int32, *types, *[dtypes.variant] * n]
    made = StatelessWhile(
        [convert_to_tensor(0), *inputs, *lists],
        cond=_added(f"{op.attrs['cond'].name}_replay", traced(goes_on, state_types)),
        body=_added(f"{op.attrs['body'].name}_replay", traced(once, state_types)),
    )
    return list(made[1 + n :]), made[0]


def _backwards(
    op: Operation,
    histories: list[Tensor],
    count: Tensor,
    grads: list[Tensor],
    floating: list[int],
) -> list[Tensor]:
    """Goes back through the iterations with the gradients of the floating values."""
    types = [tensor._dtype.base_dtype for tensor in op._inputs]
    m = len(grads)

    def goes_on(count: Any, *state: Any) -> Any:
        return count > 0

    def once(count: Any, *state: Any) -> Any:
        popped = [
            TensorListPopBack(history, -1, element_dtype=dtype)
            for history, dtype in zip(state[m:], types, strict=True)
        ]
        values = [each[1] for each in popped]
        outer = dict(zip(floating, state[:m], strict=True))
        full = [outer[i] if i in outer else zeros_like(value) for i, value in enumerate(values)]
        made = SymbolicGradient([*values, *full], Tout=types, f=op.attrs["body"])
        return [count - 1, *[made[i] for i in floating], *[each[0] for each in popped]]

    state_types = [dtypes.int32, *[types[i] for i in floating], *[dtypes.variant] * len(types)]
    made = StatelessWhile(
        [count, *grads, *histories],
        cond=_added(f"{op.attrs['cond'].name}_back", traced(goes_on, state_types)),
        body=_added(f"{op.attrs['body'].name}_back", traced(once, state_types)),
    )
    return list(made[1 : 1 + m])
