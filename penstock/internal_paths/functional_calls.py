"""`tensorflow.python.ops.functional_ops`: nodes that run `Defun`s as branches and bodies.

What a body uses of the graph around it goes round the loop with the other values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import dtypes
from penstock.ir.attr_codec import Function as FunctionName
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.function import FunctionGraph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops import binary, casts, elementwise, functional_branches
from penstock.ops.functions import (
    DefinedFunction,
    Defun,
    PartitionedCall,
    RemoteCall,
    StatefulPartitionedCall,
    SymbolicGradient,
)

__all__ = ["For", "Gradient", "If", "While", "partitioned_call", "remote_call"]


def If(
    cond: Any, inputs: Sequence[Any], then_branch: Any, else_branch: Any, name: str | None = None
) -> list[Tensor]:
    """What one of two functions of `inputs` gives; `cond` is true if it is not zero or empty."""
    made: list[Tensor] = functional_branches.If(
        cond,
        inputs,
        Tout=_result_types(then_branch),
        then_branch=_added(then_branch),
        else_branch=_added(else_branch),
        name=name,
    )
    return made


def Gradient(inputs: Sequence[Any], f: Any, name: str | None = None) -> list[Tensor]:
    """The gradients of a function's N arguments, given those and the gradients of its results."""
    types = [dtypes.as_dtype(arg.type) for arg in f.definition.signature.input_arg]
    made: list[Tensor] = SymbolicGradient(inputs, Tout=types, f=_added(f), name=name)
    return made


def While(
    input_: Sequence[Any],
    cond: Any,
    body: Any,
    name: str | None = None,
    hostmem: Sequence[int] | None = None,
) -> list[Tensor]:
    """What becomes of `input_` if `body` is applied to it as long as `cond` of it is true."""
    if cond.captured_inputs:
        raise ValueError(
            "While op 'cond' argument must be a function without implicitly captured inputs."
        )
    if cond.declared_input_types != body.declared_input_types:
        raise ValueError(
            "While op 'cond' and 'body' signatures do not match. "
            f"{cond.declared_input_types!r} vs {body.declared_input_types!r}"
        )
    captured = body.captured_inputs
    if captured:
        cond = _taking_more(cond, [tensor.dtype.base_dtype for tensor in captured])
        body = _returning_captured(body)
    made: list[Tensor] = functional_branches.While(
        [*input_, *captured], cond=_added(cond), body=_added(body), name=name
    )
    _keep_in_host_memory(made, hostmem, 0)
    return made[: len(made) - len(captured)]


def For(
    start: Any,
    limit: Any,
    delta: Any,
    inputs: Sequence[Any],
    body: Any,
    name: str | None = None,
    hostmem: Sequence[int] | None = None,
    rewrite_with_while: bool | None = None,
) -> list[Tensor]:
    """What becomes of `inputs` if `body(i, *inputs)` is applied for each i of a range."""
    if rewrite_with_while:
        return _for_as_while(start, limit, delta, inputs, body, name, hostmem)
    captured = body.captured_inputs
    if captured:
        body = _returning_captured(body)
    made: list[Tensor] = functional_branches.For(
        start, limit, delta, [*inputs, *captured], body=_added(body), name=name
    )
    _keep_in_host_memory(made, hostmem, 3)
    return made[: len(made) - len(captured)]


def remote_call(
    target: Any, args: Sequence[Any], Tout: Any, f: Any, name: str | None = None
) -> list[Tensor]:
    """What a function gives for arguments on the device that `target` names."""
    if not isinstance(Tout, list | tuple):
        raise TypeError(f"Expected list for 'Tout' argument to 'remote_call' Op, not {Tout!r}.")
    made: list[Tensor] = RemoteCall(target, args, Tout=Tout, f=_added(f), name=name)
    return made


def partitioned_call(
    args: Sequence[Any],
    f: Any,
    tout: Sequence[Any] | None = None,
    executing_eagerly: bool | None = None,
    config: str | None = None,
    executor_type: str | None = None,
) -> Any:
    """Calls a function of the graph; returns its results, or the node if there are none."""
    call = StatefulPartitionedCall if f.stateful_ops else PartitionedCall
    types = _result_types(f) if tout is None else tout
    made = call(
        [convert_to_tensor(arg) for arg in args],
        Tout=types,
        f=_added(f),
        config_proto=config or "",
        executor_type=executor_type or "",
    )
    return made if types else get_default_graph().get_operations()[-1]


def _added(function: DefinedFunction) -> FunctionName:
    """The name of a function, which the default graph has from now on."""
    function.add_to_graph(get_default_graph())
    return FunctionName(function.name, {})


def _result_types(function: DefinedFunction) -> list[dtypes.DType]:
    return [dtypes.as_dtype(arg.type) for arg in function.definition.signature.output_arg]


def _results(made: Any) -> tuple[Any, ...]:
    """What the call of a Defun returns, as a tuple."""
    if isinstance(made, Operation):
        return ()
    return made if isinstance(made, tuple) else (made,)


def _taking_more(function: DefinedFunction, types: Sequence[dtypes.DType]) -> DefinedFunction:
    """A function that passes over arguments of further types."""
    declared = function.declared_input_types

    def wrapper(*args: Any) -> Any:
        return function(*args[: len(declared)])

    return Defun(*declared, *types, func_name=f"{function.name}_Wrapper")(wrapper)


def _returning_captured(function: DefinedFunction) -> DefinedFunction:
    """A function that also returns what the other takes from the graph around it."""

    def wrapper(*args: Any) -> Any:
        made = _results(function(*args))
        graph = get_default_graph()
        assert isinstance(graph, FunctionGraph)
        return (*made, *(graph.capture(tensor) for tensor in function.captured_inputs))

    return Defun(*function.declared_input_types, func_name=f"{function.name}_Wrapper")(wrapper)


def _for_as_while(
    start: Any,
    limit: Any,
    delta: Any,
    inputs: Sequence[Any],
    body: Any,
    name: str | None,
    hostmem: Sequence[int] | None,
) -> list[Tensor]:
    """The loop counts up whatever the sign of `delta` is."""
    stride = elementwise.abs(delta)
    distance = elementwise.abs(limit - start) + stride - 1
    steps = binary.divide(casts.cast(distance, dtypes.float32), casts.cast(stride, dtypes.float32))
    types = [dtypes.int32] * 4 + list(body.declared_input_types)[1:]

    def more(i: Any, n: Any, *others: Any) -> Any:
        return i < n

    def once(i: Any, n: Any, first: Any, by: Any, *values: Any) -> Any:
        return (i + 1, n, first, by, *_results(body(first + i * by, *values)))

    made = While(
        [0, casts.cast(steps, dtypes.int32), start, delta, *inputs],
        Defun(*types, func_name=f"{body.name}_Cond")(more),
        Defun(*types, func_name=f"{body.name}_Body")(once),
        name=name,
        hostmem=[0, 1, 2, 3, *(4 + place for place in hostmem or ())],
    )
    return made[4:]


def _keep_in_host_memory(made: list[Tensor], hostmem: Sequence[int] | None, skipped: int) -> None:
    if hostmem:
        node = made[0].op
        node.attrs["_input_hostmem"] = [skipped + place for place in hostmem]
        node.attrs["_output_hostmem"] = list(hostmem)
