"""The primitives of control flow for whatever is made of tensors: variables, sparse tensors, rows.

These are for graphs that are put together by hand; `tf.cond` and `tf.while_loop` build their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.ir.convert import CompositeTensor, to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops import while_context
from penstock.ops.control_contexts import merge as merge_tensors
from penstock.ops.control_flow import Enter, RefSwitch, Switch
from penstock.ops.identity import identity as identity_of
from penstock.ops.references import RefIdentity


def _converted(value: Any, name: str | None = None) -> Any:
    """A tensor, by reference where it is a variable; what is made of tensors stays as it is."""
    return value if isinstance(value, CompositeTensor) else to_tensor(value, name=name, as_ref=True)


def _each(value: Any, function: Callable[[Tensor], Tensor]) -> Any:
    """The value with the function done to each of its tensors."""
    if isinstance(value, CompositeTensor):
        return value._with_parts([function(part) for part in value._parts()])
    return function(value)


def identity(data: Any, name: str | None = None) -> Any:
    """The same value; a reference stays one."""

    def passed(tensor: Tensor) -> Tensor:
        spec = RefIdentity if tensor.dtype.is_ref_dtype else identity_of
        result: Tensor = spec(tensor, name=name)
        return result

    return _each(_converted(data), passed)


def next_iteration(data: Any, name: str | None = None) -> Any:
    """The same value in the next iteration."""
    return _each(_converted(data), lambda tensor: while_context.next_iteration(tensor, name))


def quit(data: Any, name: str | None = None) -> Any:
    """The same value in the frame around."""
    return _each(_converted(data), lambda tensor: while_context.leave(tensor, name))


def enter(
    data: Any,
    frame_name: str,
    is_constant: bool = False,
    parallel_iterations: int = 10,
    use_ref: bool = True,
    use_input_shape: bool = True,
    name: str | None = None,
) -> Any:
    """The same value inside a frame."""

    def entered(tensor: Tensor) -> Tensor:
        if tensor.dtype.is_ref_dtype and not use_ref:
            value: Tensor = Enter(
                tensor,
                frame_name=frame_name,
                is_constant=is_constant,
                parallel_iterations=parallel_iterations,
                name=name,
            )
            if use_input_shape:
                value.set_shape(tensor.shape)
            return value
        return while_context.enter(
            tensor,
            frame_name,
            is_constant=is_constant,
            parallel_iterations=parallel_iterations,
            keeps_shape=use_input_shape,
            name=name,
        )

    return _each(_converted(data), entered)


def switch(data: Any, pred: Any, dtype: Any = None, name: str | None = None) -> Any:
    """The value at output 1 if `pred` is true, else at output 0; the other is dead."""
    with name_scope(name, "Switch", [data, pred]) as scope:
        if not isinstance(data, CompositeTensor):
            data = to_tensor(data, dtype, name="data", as_ref=True)
            return Switch(data, to_tensor(pred, name="pred"), name=scope)
        pred = to_tensor(pred, name="pred")
        sent = [Switch(part, pred) for part in data._parts()]
        return tuple(data._with_parts(outputs) for outputs in zip(*sent, strict=True))


def switch_ref_or_tensor(data: Any, pred: Any, name: str = "Switch") -> Any:
    """A Switch on the device of its data, by reference for a reference."""
    data = data if isinstance(data, CompositeTensor) else to_tensor(data, name="data")
    with get_default_graph().colocate_with(data.op, ignore_existing=True):
        if isinstance(data, Tensor) and data.dtype.is_ref_dtype:
            return RefSwitch(data, pred, name=name)
        return switch(data, pred, name=name)


def merge(inputs: Sequence[Any], name: str | None = None) -> Any:
    """The first of `inputs` that is alive, and its number."""
    if any(value is None for value in inputs):
        raise ValueError(f"At least one of the merge inputs is None: {inputs}")
    with name_scope(name, "Merge", list(inputs)) as scope:
        return merge_tensors([_converted(value) for value in inputs], name=scope)
