"""Circular and hyperbolic functions and their inverses, element by element."""

from __future__ import annotations

from typing import Any

from penstock.ir.dispatch import dispatched
from penstock.ir.registry import op
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import FLOATING, FLOATING_COMPLEX
from penstock.ops import binary
from penstock.ops.casts import conj
from penstock.ops.constants import constant
from penstock.ops.elementwise import after, reciprocal, sqrt, square
from penstock.ops.elementwise_rules import broadcast_shape, unchanged_shape
from penstock.ops.unbroadcast import same_static_shape, stretches

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cos",
    "cosh",
    "sin",
    "sinh",
    "tan",
]

Sin = op("Sin(x: T) -> y: T", T=FLOATING_COMPLEX)
Cos = op("Cos(x: T) -> y: T", T=FLOATING_COMPLEX)
Tan = op("Tan(x: T) -> y: T", T=FLOATING_COMPLEX)
Asin = op("Asin(x: T) -> y: T", T=FLOATING_COMPLEX)
Acos = op("Acos(x: T) -> y: T", T=FLOATING_COMPLEX)
Atan = op("Atan(x: T) -> y: T", T=FLOATING_COMPLEX)
Sinh = op("Sinh(x: T) -> y: T", T=FLOATING_COMPLEX)
Cosh = op("Cosh(x: T) -> y: T", T=FLOATING_COMPLEX)
Asinh = op("Asinh(x: T) -> y: T", T=FLOATING_COMPLEX)
Acosh = op("Acosh(x: T) -> y: T", T=FLOATING_COMPLEX)
Atanh = op("Atanh(x: T) -> y: T", T=FLOATING_COMPLEX)
Atan2 = op("Atan2(y: T, x: T) -> z: T", T=FLOATING)

for _spec in (Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Asinh, Acosh, Atanh):
    _spec.shape(unchanged_shape)
Atan2.shape(broadcast_shape)


@Sin.gradient
def _(op: Any, grad: Any) -> Any:
    with after(grad):
        return grad * cos(conj(op.inputs[0]))


@Cos.gradient
def _(op: Any, grad: Any) -> Any:
    with after(grad):
        x = conj(op.inputs[0])
        return -grad * sin(x)


@Tan.gradient
def _(op: Any, grad: Any) -> Any:
    with after(grad):
        return square(reciprocal(cos(conj(op.inputs[0])))) * grad


@Asin.gradient
def _(op: Any, grad: Any) -> Any:
    with after(grad):
        return grad * _slope_of_asin(op.inputs[0])


@Acos.gradient
def _(op: Any, grad: Any) -> Any:
    with after(grad):
        slope = _slope_of_asin(op.inputs[0])
        return -grad * slope


def _slope_of_asin(x: Tensor) -> Tensor:
    squared = square(conj(x))
    return reciprocal(sqrt(binary.subtract(constant(1, dtype=squared.dtype), squared)))


@Atan.gradient
def _(op: Any, grad: Any) -> Any:
    with after(grad):
        squared = square(conj(op.inputs[0]))
        return grad * reciprocal(binary.add(constant(1, dtype=grad.dtype), squared))


@Sinh.gradient
def _(op: Any, grad: Any) -> Any:
    with after(grad):
        return grad * cosh(conj(op.inputs[0]))


@Cosh.gradient
def _(op: Any, grad: Any) -> Any:
    with after(grad):
        return grad * sinh(conj(op.inputs[0]))


@Asinh.gradient
def _(op: Any, grad: Any) -> Any:
    with after(grad):
        return grad / cosh(conj(op.outputs[0]))


@Acosh.gradient
def _(op: Any, grad: Any) -> Any:
    with after(grad):
        return grad / sinh(conj(op.outputs[0]))


@Atanh.gradient
def _(op: Any, grad: Any) -> Any:
    with after(grad):
        squared = square(conj(op.inputs[0]))
        return grad * reciprocal(binary.subtract(constant(1, dtype=grad.dtype), squared))


@Atan2.gradient
def _(op: Any, grad: Any) -> Any:
    y, x = op.inputs
    with after(grad):
        ratio = grad / (square(x) + square(y))
        grad_y, grad_x = x * ratio, -y * ratio
        if same_static_shape(x, y, grad):
            return grad_y, grad_x
        of_y, of_x = stretches(y, x, grad)
        return of_y.undo(grad_y), of_x.undo(grad_x)


@dispatched
def sin(x: Any, name: str | None = None) -> Tensor:
    """The sine of x, in radians."""
    return Sin(x, name=name)


@dispatched
def cos(x: Any, name: str | None = None) -> Tensor:
    """The cosine of x, in radians."""
    return Cos(x, name=name)


@dispatched
def tan(x: Any, name: str | None = None) -> Tensor:
    """The tangent of x, in radians."""
    return Tan(x, name=name)


@dispatched
def asin(x: Any, name: str | None = None) -> Tensor:
    """The angle whose sine is x."""
    return Asin(x, name=name)


@dispatched
def acos(x: Any, name: str | None = None) -> Tensor:
    """The angle whose cosine is x."""
    return Acos(x, name=name)


@dispatched
def atan(x: Any, name: str | None = None) -> Tensor:
    """The angle whose tangent is x."""
    return Atan(x, name=name)


@dispatched
def sinh(x: Any, name: str | None = None) -> Tensor:
    """The hyperbolic sine."""
    return Sinh(x, name=name)


@dispatched
def cosh(x: Any, name: str | None = None) -> Tensor:
    """The hyperbolic cosine."""
    return Cosh(x, name=name)


@dispatched
def asinh(x: Any, name: str | None = None) -> Tensor:
    """The inverse of the hyperbolic sine."""
    return Asinh(x, name=name)


@dispatched
def acosh(x: Any, name: str | None = None) -> Tensor:
    """The inverse of the hyperbolic cosine."""
    return Acosh(x, name=name)


@dispatched
def atanh(x: Any, name: str | None = None) -> Tensor:
    """The inverse of the hyperbolic tangent."""
    return Atanh(x, name=name)


@dispatched
def atan2(y: Any, x: Any, name: str | None = None) -> Tensor:
    """The angle of the point (x, y), from -pi to pi."""
    return Atan2(y, x, name=name)
