"""Tensors passed on as they are: with a gradient or without, checked, or as other bits."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.dispatch import dispatched
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.registry import ALIASES, STATEFUL, attr, not_differentiable, op
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import FLOATING, NUMERIC
from penstock.ops.shape_checks import with_rank_at_least
from penstock.ops.shaping import renamed_argument
from penstock.shapes import Shape

__all__ = [
    "bitcast",
    "check_numerics",
    "guarantee_const",
    "identity",
    "identity_n",
    "stop_gradient",
    "verify_tensor_all_finite",
]

Identity = op("Identity(input: T) -> output: T", ALIASES)
IdentityN = op("IdentityN(input: *T) -> output: *T")
Snapshot = op("Snapshot(input: T) -> output: T", ALIASES)
GuaranteeConst = op("GuaranteeConst(input: T) -> output: T", STATEFUL)
StopGradient = op("StopGradient(input: T) -> output: T", ALIASES)
PreventGradient = op("PreventGradient(input: T) -> output: T", ALIASES, message="")
CheckNumerics = op(
    "CheckNumerics(tensor: T) -> output: T", STATEFUL, ALIASES, T=FLOATING, message=attr("string")
)
CheckNumericsV2 = op(
    "CheckNumericsV2(tensor: T) -> output: T", STATEFUL, T=FLOATING, message=attr("string")
)
Bitcast = op("Bitcast(input: T) -> output: type", ALIASES, T=NUMERIC, type=NUMERIC)

not_differentiable(StopGradient, Bitcast)


@Identity.shape
@Snapshot.shape
@GuaranteeConst.shape
@StopGradient.shape
@PreventGradient.shape
@CheckNumerics.shape
@CheckNumericsV2.shape
def _(op: Operation, x: Shape) -> Shape:
    return x


@IdentityN.shape
def _(op: Operation, *xs: Shape) -> list[Shape]:
    return list(xs)


@Identity.fold
def _(op: Operation, x: Any) -> Any:
    return x


@Identity.gradient
def _(op: Operation, grad: Any) -> Any:
    return grad


@IdentityN.gradient
def _(op: Operation, *grads: Any) -> Any:
    return grads


@PreventGradient.gradient
def _(op: Operation, grad: Any) -> Any:
    raise LookupError(f"Gradient explicitly disabled. Reason: {op.attrs['message']!r}")


@dispatched
def identity(input: Any, name: str | None = None) -> Tensor:
    """A tensor with the same value: a node of its own to name, place or wait for."""
    return Identity(input, name=name)


def identity_n(input: Any, name: str | None = None) -> list[Tensor]:
    """Several tensors of any types with the same values, from one node."""
    return IdentityN(input, name=name)


def guarantee_const(input: Any, name: str | None = None) -> Tensor:
    """`input`, promised never to change, so that what depends on it may be computed once."""
    return GuaranteeConst(input, name=name)


def stop_gradient(input: Any, name: str | None = None) -> Tensor:
    """`input` as a constant in the eyes of `tf.gradients`."""
    return StopGradient(input, name=name)


# Checks ---------------------------------------------------------------------------------------


@CheckNumerics.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return CheckNumerics(grad, message=_gradient_message(op))


@CheckNumericsV2.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return CheckNumericsV2(grad, message=_gradient_message(op))


def _gradient_message(op: Operation) -> str:
    message = op.attrs["message"]
    shown = message if isinstance(message, bytes) else message.encode()
    return f"Not a number (NaN) or infinity (Inf) values detected in gradient. {shown!r}"


@dispatched
def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """`tensor`, with an error that says `message` where it holds a NaN or an infinity."""
    return CheckNumerics(tensor, message=message, name=name)


def verify_tensor_all_finite(
    t: Any = None,
    msg: str | None = None,
    name: str | None = None,
    x: Any = None,
    message: str | None = None,
) -> Tensor:
    """`t`, available only after it was found to hold neither NaN nor infinity."""
    from penstock.ops.control import with_dependencies

    value = renamed_argument("x", x, "t", t)
    text = renamed_argument("message", message, "msg", msg)
    with name_scope(name, "VerifyFinite", [value]):
        tensor = convert_to_tensor(value, name="t")
        with get_default_graph().colocate_with(tensor):
            checked = check_numerics(tensor, text)
        return with_dependencies([checked._op], tensor)


# Bits -----------------------------------------------------------------------------------------


@Bitcast.shape
def _(op: Operation, x: Shape) -> Shape:
    given, wanted = op.attrs["T"].size, op.attrs["type"].size
    if x is None or given == wanted:
        return x
    if given > wanted:
        return (*x, given // wanted)
    with_rank_at_least(x, 1)
    if x[-1] not in (None, wanted // given):
        raise ValueError(f"Cannot bitcast due to shape. {x[-1]} does not match {wanted // given}")
    return x[:-1]


def bitcast(input: Any, type: Any, name: str | None = None) -> Tensor:
    """The bits of `input` read as another type, with a last dimension more or less."""
    return Bitcast(input, type=dtypes.as_dtype(type), name=name)
