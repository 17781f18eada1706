"""Looking inside a step: assertions and printing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import dtypes, errors
from penstock.ir.constants import constant_value, static_value
from penstock.ir.convert import to_tensor
from penstock.ir.defaults import executing_eagerly
from penstock.ir.name_scope import name_scope
from penstock.ir.registry import STATEFUL, not_differentiable, op
from penstock.ir.signature import attr
from penstock.ir.tensor import Tensor
from penstock.ops.conditionals import cond
from penstock.ops.control import no_op

__all__ = ["Assert", "Print"]

AssertOp = op(
    "Assert(condition: bool, data: *T)",
    STATEFUL,
    T=attr("list(type)", minimum=1),
    summarize=3,
)
PrintOp = op(
    "Print(input: T, data: *U) -> output: T",
    STATEFUL,
    U=attr("list(type)", minimum=0),
    message="",
    first_n=-1,
    summarize=3,
)
not_differentiable(AssertOp)


@PrintOp.shape
def _(op, input, *data):
    return input


@PrintOp.gradient
def _(op, grad):
    return [grad] + [None] * (len(op.inputs) - 1)


def Assert(
    condition: Any,
    data: Sequence[Any],
    summarize: int | None = None,
    name: str | None = None,
) -> Any:
    """An operation that fails where `condition` is false, and says what is in `data`.

    Run it, or make others wait for it: `with tf.control_dependencies([tf.Assert(ok, [x])]):`.
    `summarize` is the number of elements of each tensor to show (3 if None).
    """
    if executing_eagerly():
        return _assert_now(condition, data, summarize)
    with name_scope(name, "Assert", [condition, *data]):
        values = list(data)
        shown = 3 if summarize is None else summarize
        tensors = [to_tensor(value) for value in values]
        if all(tensor.dtype in (dtypes.string, dtypes.int32) for tensor in tensors):
            return AssertOp(condition, values, summarize=shown, name="Assert")
        pred = to_tensor(condition, dtypes.bool, "condition")
        known = static_value(pred)
        if known is not None and not known.all():
            return AssertOp(pred, values, summarize=shown, name="Assert")
        # Inside the branch, tensors that only the message needs stay where they are.
        guard: Tensor = cond(
            pred,
            no_op,
            lambda: AssertOp(pred, values, summarize=shown, name="Assert"),
            name="AssertGuard",
        )
        return guard.op


def _assert_now(condition: Any, data: Sequence[Any], summarize: int | None) -> None:
    """The assertion in eager mode."""
    holds: Any = constant_value(to_tensor(condition, dtypes.bool))
    if holds.all():
        return
    shown = 3 if summarize is None else summarize
    described = "\n".join(_described(to_tensor(each), shown) for each in data)
    raise errors.InvalidArgumentError(
        None, None, f"Expected '{condition}' to be true. Summarized data: {described}"
    )


def _described(tensor: Tensor, shown: int) -> str:
    """The first elements of a tensor as text; all of them for a negative number."""
    array: Any = constant_value(tensor)
    if not array.ndim:
        return str(array[()])
    flat = array.reshape(-1)
    return str(flat if shown < 0 else flat[:shown])


def Print(
    input_: Any,
    data: Sequence[Any],
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`input_` itself, printing `data` to standard error each time it is computed.

    Only the first `first_n` times if that is given; `summarize` elements of each tensor.
    """
    return PrintOp(
        input_,
        list(data),
        message=message or "",
        first_n=-1 if first_n is None else first_n,
        summarize=3 if summarize is None else summarize,
        name=name,
    )
