"""Functions of one tensor, element by element: signs, powers, exponentials, rounding."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from penstock.ir.composite import SparseTensor, graph_of
from penstock.ir.convert import to_tensor
from penstock.ir.dispatch import dispatched
from penstock.ir.name_scope import name_scope
from penstock.ir.registry import not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import COMPLEX, FLOATING, FLOATING_COMPLEX, REAL, SIGNED
from penstock.ops import array, casts
from penstock.ops.constants import constant
from penstock.ops.elementwise_rules import folding, gradient_shape, unchanged_shape

__all__ = [
    "abs",
    "ceil",
    "exp",
    "expm1",
    "floor",
    "is_finite",
    "is_inf",
    "is_nan",
    "log",
    "log1p",
    "log_sigmoid",
    "negative",
    "reciprocal",
    "rint",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sqrt",
    "square",
    "tanh",
]

Abs = op("Abs(x: T) -> y: T", T=types(FLOATING, SIGNED))
Neg = op("Neg(x: T) -> y: T", T=types(FLOATING_COMPLEX, SIGNED))
Sign = op("Sign(x: T) -> y: T", T=types(FLOATING_COMPLEX, SIGNED))
Inv = op("Inv(x: T) -> y: T", T=types(FLOATING_COMPLEX, SIGNED))
InvGrad = op("InvGrad(y: T, dy: T) -> z: T", T=FLOATING_COMPLEX)
Reciprocal = op("Reciprocal(x: T) -> y: T", T=types(FLOATING_COMPLEX, SIGNED))
ReciprocalGrad = op("ReciprocalGrad(y: T, dy: T) -> z: T", T=FLOATING_COMPLEX)
Square = op("Square(x: T) -> y: T", T=types(REAL, COMPLEX))
Sqrt = op("Sqrt(x: T) -> y: T", T=FLOATING_COMPLEX)
SqrtGrad = op("SqrtGrad(y: T, dy: T) -> z: T", T=FLOATING_COMPLEX)
Rsqrt = op("Rsqrt(x: T) -> y: T", T=FLOATING_COMPLEX)
RsqrtGrad = op("RsqrtGrad(y: T, dy: T) -> z: T", T=FLOATING_COMPLEX)
Exp = op("Exp(x: T) -> y: T", T=FLOATING_COMPLEX)
Expm1 = op("Expm1(x: T) -> y: T", T=FLOATING_COMPLEX)
Log = op("Log(x: T) -> y: T", T=FLOATING_COMPLEX)
Log1p = op("Log1p(x: T) -> y: T", T=FLOATING_COMPLEX)
Tanh = op("Tanh(x: T) -> y: T", T=FLOATING_COMPLEX)
TanhGrad = op("TanhGrad(y: T, dy: T) -> z: T", T=FLOATING_COMPLEX)
Sigmoid = op("Sigmoid(x: T) -> y: T", T=FLOATING_COMPLEX)
SigmoidGrad = op("SigmoidGrad(y: T, dy: T) -> z: T", T=FLOATING_COMPLEX)
Floor = op("Floor(x: T) -> y: T", T=FLOATING)
Ceil = op("Ceil(x: T) -> y: T", T=FLOATING)
Round = op("Round(x: T) -> y: T", T=types(FLOATING_COMPLEX, SIGNED))
Rint = op("Rint(x: T) -> y: T", T=FLOATING)
IsNan = op("IsNan(x: T) -> y: bool", T=FLOATING)
IsInf = op("IsInf(x: T) -> y: bool", T=FLOATING)
IsFinite = op("IsFinite(x: T) -> y: bool", T=FLOATING)
not_differentiable(Floor, Ceil, Round, Rint, IsNan, IsInf, IsFinite)


for _spec in (Abs, Neg, Sign, Inv, Reciprocal, Square, Sqrt, Rsqrt, Exp, Expm1, Log, Log1p):
    _spec.shape(unchanged_shape)
for _spec in (Tanh, Sigmoid, Floor, Ceil, Round, Rint, IsNan, IsInf, IsFinite):
    _spec.shape(unchanged_shape)
for _spec in (InvGrad, ReciprocalGrad, SqrtGrad, RsqrtGrad, TanhGrad, SigmoidGrad):
    _spec.shape(gradient_shape)


Neg.fold(folding(np.negative))
Round.fold(folding(np.round))
Floor.fold(folding(np.floor))
Ceil.fold(folding(np.ceil))
Abs.fold(folding(np.abs))


# Gradients ------------------------------------------------------------------------------------


def after(grad: Any) -> AbstractContextManager[None]:
    """Nodes made inside run after `grad`: what they compute from the forward pass is not kept
    in memory before the backward pass needs it.
    """
    return graph_of(grad).control_dependencies([grad])


@Abs.gradient
def _(op: Any, grad: Any) -> Any:
    return grad * sign(op.inputs[0])


@Neg.gradient
def _(op: Any, grad: Any) -> Any:
    return -grad


@Sign.gradient
def _(op: Any, grad: Any) -> Any:
    return array.zeros_like(op.inputs[0])


@Inv.gradient
@Reciprocal.gradient
def _(op: Any, grad: Any) -> Any:
    return ReciprocalGrad(op.outputs[0], grad)


@InvGrad.gradient
@ReciprocalGrad.gradient
def _(op: Any, grad: Any) -> Any:
    with after(grad):
        y, weight = casts.conj(op.inputs[0]), casts.conj(grad)
        return weight * -2.0 * op.inputs[1] * y, ReciprocalGrad(y, grad)


@Square.gradient
def _(op: Any, grad: Any) -> Any:
    from penstock.ops.binary import multiply

    with after(grad):
        x = casts.conj(op.inputs[0])
        return multiply(grad, multiply(x, constant(2.0, dtype=x.dtype)))


@Sqrt.gradient
def _(op: Any, grad: Any) -> Any:
    return SqrtGrad(op.outputs[0], grad)


@SqrtGrad.gradient
def _(op: Any, grad: Any) -> Any:
    with after(grad):
        ratio = grad / op.inputs[0]
        return -casts.conj(ratio) * op.outputs[0], 0.5 * ratio


@Rsqrt.gradient
def _(op: Any, grad: Any) -> Any:
    return RsqrtGrad(op.outputs[0], grad)


@RsqrtGrad.gradient
def _(op: Any, grad: Any) -> Any:
    with after(grad):
        y, weight = casts.conj(op.inputs[0]), casts.conj(grad)
        return -1.5 * weight * op.inputs[1] * square(y), RsqrtGrad(y, grad)


@Exp.gradient
def _(op: Any, grad: Any) -> Any:
    with after(grad):
        return grad * casts.conj(op.outputs[0])


@Expm1.gradient
def _(op: Any, grad: Any) -> Any:
    with after(grad):
        return grad * exp(casts.conj(op.inputs[0]))


@Log.gradient
def _(op: Any, grad: Any) -> Any:
    with after(grad):
        return grad * reciprocal(casts.conj(op.inputs[0]))


@Log1p.gradient
def _(op: Any, grad: Any) -> Any:
    with after(grad):
        return grad * reciprocal(1 + casts.conj(op.inputs[0]))


@Tanh.gradient
def _(op: Any, grad: Any) -> Any:
    with after(grad):
        return TanhGrad(casts.conj(op.outputs[0]), grad)


@TanhGrad.gradient
def _(op: Any, grad: Any) -> Any:
    with after(grad):
        y, dy = casts.conj(op.inputs[0]), casts.conj(op.inputs[1])
        return grad * -2.0 * dy * y, TanhGrad(y, grad)


@Sigmoid.gradient
def _(op: Any, grad: Any) -> Any:
    with after(grad):
        return SigmoidGrad(casts.conj(op.outputs[0]), grad)


@SigmoidGrad.gradient
def _(op: Any, grad: Any) -> Any:
    with after(grad):
        y, dy = casts.conj(op.inputs[0]), casts.conj(op.inputs[1])
        weighted = grad * dy
        return weighted - 2.0 * weighted * y, SigmoidGrad(y, grad)


# Public functions -----------------------------------------------------------------------------


def of_values(spec: Any, x: Any, name: str | None) -> Any:
    """Applies an op with f(0) = 0: to a tensor, or to the values of a sparse tensor."""
    if isinstance(x, SparseTensor):
        with name_scope(name, spec.name, [x]) as scope:
            return SparseTensor(x.indices, spec(x.values, name=scope), x.dense_shape)
    return spec(x, name=name)


@dispatched
def abs(x: Any, name: str | None = None) -> Any:
    """The absolute value; of complex numbers, their length."""
    if isinstance(x, SparseTensor):
        with name_scope(name, "Abs", [x]) as scope:
            return SparseTensor(x.indices, abs(x.values, name=scope), x.dense_shape)
    with name_scope(name, "Abs", [x]) as scope:
        x = to_tensor(x, name="x")
        if x.dtype.is_complex:
            return casts.ComplexAbs(x, Tout=x.dtype.real_dtype, name=scope)
        return Abs(x, name=scope)


@dispatched
def negative(x: Any, name: str | None = None) -> Any:
    """-x, element by element."""
    return of_values(Neg, x, name)


@dispatched
def sign(x: Any, name: str | None = None) -> Any:
    """-1, 0 or 1 by the sign of x; x / |x| for complex numbers."""
    return of_values(Sign, x, name)


@dispatched
def reciprocal(x: Any, name: str | None = None) -> Tensor:
    """1 / x, element by element."""
    return Reciprocal(x, name=name)


@dispatched
def square(x: Any, name: str | None = None) -> Any:
    """x * x, element by element."""
    return of_values(Square, x, name)


@dispatched
def sqrt(x: Any, name: str | None = None) -> Any:
    """The square root, element by element."""
    return of_values(Sqrt, x, name)


@dispatched
def rsqrt(x: Any, name: str | None = None) -> Tensor:
    """1 / sqrt(x), element by element."""
    return Rsqrt(x, name=name)


@dispatched
def exp(x: Any, name: str | None = None) -> Tensor:
    """e to the power of x, element by element."""
    return Exp(x, name=name)


@dispatched
def expm1(x: Any, name: str | None = None) -> Tensor:
    """exp(x) - 1, exact for small x."""
    return Expm1(x, name=name)


@dispatched
def log(x: Any, name: str | None = None) -> Tensor:
    """The natural logarithm, element by element."""
    return Log(x, name=name)


@dispatched
def log1p(x: Any, name: str | None = None) -> Tensor:
    """log(1 + x), exact for small x."""
    return Log1p(x, name=name)


def tanh(x: Any, name: str | None = None) -> Any:
    """The hyperbolic tangent, element by element."""
    return of_values(Tanh, x, name)


def sigmoid(x: Any, name: str | None = None) -> Tensor:
    """1 / (1 + exp(-x)), element by element."""
    with name_scope(name, "Sigmoid", [x]) as scope:
        return Sigmoid(to_tensor(x, name="x"), name=scope)


@dispatched
def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    """log(sigmoid(x)), exact for large negative x."""
    from penstock.ops.activations import softplus

    with name_scope(name, "LogSigmoid", [x]) as scope:
        x = to_tensor(x, name="x")
        return Neg(softplus(-x), name=scope)


@dispatched
def floor(x: Any, name: str | None = None) -> Tensor:
    """The largest whole number that is not above x."""
    return Floor(x, name=name)


@dispatched
def ceil(x: Any, name: str | None = None) -> Tensor:
    """The smallest whole number that is not below x."""
    return Ceil(x, name=name)


@dispatched
def round(x: Any, name: str | None = None) -> Tensor:
    """The nearest whole number; halves go to the even one. Integers stay as they are."""
    x = to_tensor(x, name="x")
    return x if x.dtype.is_integer else Round(x, name=name)


@dispatched
def rint(x: Any, name: str | None = None) -> Tensor:
    """The nearest whole number; halves go to the even one."""
    return Rint(x, name=name)


@dispatched
def is_nan(x: Any, name: str | None = None) -> Tensor:
    """Whether each element is not a number."""
    return IsNan(x, name=name)


@dispatched
def is_inf(x: Any, name: str | None = None) -> Tensor:
    """Whether each element is infinite."""
    return IsInf(x, name=name)


@dispatched
def is_finite(x: Any, name: str | None = None) -> Tensor:
    """Whether each element is neither infinite nor NaN."""
    return IsFinite(x, name=name)
