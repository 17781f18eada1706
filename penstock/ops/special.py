"""Special functions: error functions, gamma and beta functions, x log y and its kin."""

from __future__ import annotations

import math
from typing import Any

from penstock.ir.convert import to_tensor
from penstock.ir.dispatch import dispatched
from penstock.ir.name_scope import name_scope
from penstock.ir.registry import op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import FLOATING, FLOATING_COMPLEX, SINGLE_DOUBLE
from penstock.ops import array, reductions, select
from penstock.ops.binary import div
from penstock.ops.casts import cast
from penstock.ops.comparison import equal, not_equal
from penstock.ops.constants import constant
from penstock.ops.elementwise import abs as absolute
from penstock.ops.elementwise import after, exp, log, of_values, reciprocal, sign, square
from penstock.ops.elementwise_rules import broadcast_shape, unchanged_shape
from penstock.ops.shape_checks import merge_shapes
from penstock.ops.unbroadcast import broadcast_axes, sum_to
from penstock.shapes import Shape

__all__ = [
    "bessel_i0",
    "bessel_i0e",
    "bessel_i1",
    "bessel_i1e",
    "betainc",
    "digamma",
    "erf",
    "erfc",
    "erfinv",
    "igamma",
    "igammac",
    "lbeta",
    "lgamma",
    "ndtri",
    "nextafter",
    "polygamma",
    "polyval",
    "xdivy",
    "xlog1py",
    "xlogy",
    "zeta",
]

Erf = op("Erf(x: T) -> y: T", T=FLOATING)
Erfc = op("Erfc(x: T) -> y: T", T=FLOATING)
Erfinv = op("Erfinv(x: T) -> y: T", T=FLOATING)
Ndtri = op("Ndtri(x: T) -> y: T", T=FLOATING)
Lgamma = op("Lgamma(x: T) -> y: T", T=FLOATING)
Digamma = op("Digamma(x: T) -> y: T", T=FLOATING)
BesselI0 = op("BesselI0(x: T) -> y: T", T=FLOATING)
BesselI1 = op("BesselI1(x: T) -> y: T", T=FLOATING)
BesselI0e = op("BesselI0e(x: T) -> y: T", T=FLOATING)
BesselI1e = op("BesselI1e(x: T) -> y: T", T=FLOATING)
Igamma = op("Igamma(a: T, x: T) -> z: T", T=FLOATING)
Igammac = op("Igammac(a: T, x: T) -> z: T", T=FLOATING)
IgammaGradA = op("IgammaGradA(a: T, x: T) -> z: T", T=SINGLE_DOUBLE)
Zeta = op("Zeta(x: T, q: T) -> z: T", T=SINGLE_DOUBLE)
Polygamma = op("Polygamma(a: T, x: T) -> z: T", T=SINGLE_DOUBLE)
Betainc = op("Betainc(a: T, b: T, x: T) -> z: T", T=SINGLE_DOUBLE)
Xdivy = op("Xdivy(x: T, y: T) -> z: T", T=FLOATING_COMPLEX)
Xlogy = op("Xlogy(x: T, y: T) -> z: T", T=FLOATING_COMPLEX)
Xlog1py = op("Xlog1py(x: T, y: T) -> z: T", T=FLOATING_COMPLEX)
NextAfter = op(
    "NextAfter(x1: T, x2: T) -> output: T", T=types(SINGLE_DOUBLE, default=SINGLE_DOUBLE[0])
)

for _spec in (Erf, Erfc, Erfinv, Ndtri, Lgamma, Digamma, BesselI0, BesselI1, BesselI0e, BesselI1e):
    _spec.shape(unchanged_shape)
for _spec in (Igamma, Igammac, IgammaGradA, Zeta, Polygamma, Xdivy, Xlogy, Xlog1py, NextAfter):
    _spec.shape(broadcast_shape)


@Betainc.shape
def _(op: Any, a: Shape, b: Shape, x: Shape) -> Shape:
    """Scalars stretch; all other shapes must be the same."""
    result: Shape = ()
    unsure = False
    for shape in (a, b, x):
        if shape is None:
            unsure = True
        elif shape != ():
            result = shape if result == () else merge_shapes(result, shape)
    return None if unsure and result == () else result


# Gradients ------------------------------------------------------------------------------------


@Erf.gradient
def _(op: Any, grad: Any) -> Any:
    return _bell_curve(op.inputs[0], grad, 2 / math.sqrt(math.pi))


@Erfc.gradient
def _(op: Any, grad: Any) -> Any:
    return _bell_curve(op.inputs[0], grad, -2 / math.sqrt(math.pi))


def _bell_curve(x: Tensor, grad: Any, height: float) -> Any:
    factor = constant(height, dtype=grad.dtype)
    with after(grad):
        return grad * factor * exp(-square(x))


@Erfinv.gradient
def _(op: Any, grad: Any) -> Any:
    factor = constant(math.sqrt(math.pi) / 2, dtype=grad.dtype)
    with after(grad):
        return grad * factor * exp(square(op.outputs[0]))


@Ndtri.gradient
def _(op: Any, grad: Any) -> Any:
    factor = constant(math.sqrt(2 * math.pi), dtype=grad.dtype)
    with after(grad):
        return grad * factor * exp(square(op.outputs[0]) / 2.0)


@Lgamma.gradient
def _(op: Any, grad: Any) -> Any:
    with after(grad):
        return grad * digamma(op.inputs[0])


@Digamma.gradient
def _(op: Any, grad: Any) -> Any:
    x = op.inputs[0]
    with after(grad):
        return grad * polygamma(constant(1, dtype=x.dtype), x)


@BesselI0.gradient
def _(op: Any, grad: Any) -> Any:
    with after(grad):
        return grad * bessel_i1(op.inputs[0])


@BesselI1.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs[0], op.outputs[0]
    with after(grad):
        at_zero = equal(x, 0.0)
        one = cast(1.0, x.dtype)  # what TensorFlow takes for the slope at 0
        slope = bessel_i0(x) - div(y, x)
        return grad * select.where_v2(at_zero, one, slope)


@BesselI0e.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs[0], op.outputs[0]
    with after(grad):
        return grad * (bessel_i1e(x) - sign(x) * y)


@BesselI1e.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs[0], op.outputs[0]
    with after(grad):
        at_zero = equal(x, 0.0)
        half = cast(0.5, x.dtype)  # the slope at 0, which 0 / 0 would not give
        slope = bessel_i0e(x) - y * (sign(x) + reciprocal(x))
        return grad * select.where_v2(at_zero, half, slope)


@NextAfter.gradient
def _(op: Any, grad: Any) -> Any:
    x1, x2 = op.inputs
    shape_1, shape_2, axes_1, axes_2 = broadcast_axes(x1, x2)
    with after(grad):
        one: Any = array.ones(shape_1, dtype=x1.dtype)
        zero: Any = array.zeros(shape_2, dtype=x2.dtype)
        grad_1 = sum_to(one * grad, shape_1, axes_1)
        return grad_1, sum_to(zero * grad, shape_2, axes_2)


@Igamma.gradient
def _(op: Any, grad: Any) -> Any:
    return _igamma_gradient(op, grad)


@Igammac.gradient
def _(op: Any, grad: Any) -> Any:
    grad_a, grad_x = _igamma_gradient(op, grad)
    return -grad_a, -grad_x


def _igamma_gradient(op: Any, grad: Any) -> tuple[Any, Any]:
    a, x = op.inputs
    shape_a, shape_x, axes_a, axes_x = broadcast_axes(a, x)
    with after(grad):
        slope_a = IgammaGradA(a, x)
        slope_x = exp(-x + (a - 1) * log(x) - lgamma(a))
        grad_a = sum_to(slope_a * grad, shape_a, axes_a)
        return grad_a, sum_to(slope_x * grad, shape_x, axes_x)


@Zeta.gradient
def _(op: Any, grad: Any) -> Any:
    x, q = op.inputs
    _, shape_q, _, axes_q = broadcast_axes(x, q)
    with after(grad):
        slope = -x * zeta(x + 1, q)
        return None, sum_to(slope * grad, shape_q, axes_q)


@Polygamma.gradient
def _(op: Any, grad: Any) -> Any:
    n, x = op.inputs
    _, shape_x, _, axes_x = broadcast_axes(n, x)
    with after(grad):
        slope = polygamma(n + 1, x)
        return None, sum_to(slope * grad, shape_x, axes_x)


@Betainc.gradient
def _(op: Any, grad: Any) -> Any:
    a, b, x = op.inputs
    _, shape_x, _, axes_x = broadcast_axes(a, x)
    log_beta = lgamma(a) + lgamma(b) - lgamma(a + b)
    slope = exp(xlog1py(b - 1, -x) + xlogy(a - 1, x) - log_beta)
    return None, None, sum_to(slope * grad, shape_x, axes_x)


@Xlogy.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    shape_x, shape_y, axes_x, axes_y = broadcast_axes(x, y)
    with after(grad):
        slope_x, slope_y = xlogy(_one_unless_zero(x), y), Xdivy(x, y)
        grad_x = sum_to(slope_x * grad, shape_x, axes_x)
        return grad_x, sum_to(slope_y * grad, shape_y, axes_y)


@Xlog1py.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    shape_x, shape_y, axes_x, axes_y = broadcast_axes(x, y)
    with after(grad):
        slope_x, slope_y = Xlog1py(_one_unless_zero(x), y), Xdivy(x, y + 1.0)
        grad_x = sum_to(slope_x * grad, shape_x, axes_x)
        return grad_x, sum_to(slope_y * grad, shape_y, axes_y)


@Xdivy.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    shape_x, shape_y, axes_x, axes_y = broadcast_axes(x, y)
    with after(grad):
        slope_x, slope_y = Xdivy(_one_unless_zero(x), y), Xdivy(-x, y**2)
        grad_x = sum_to(slope_x * grad, shape_x, axes_x)
        return grad_x, sum_to(slope_y * grad, shape_y, axes_y)


def _one_unless_zero(x: Tensor) -> Any:
    return cast(not_equal(x, cast(0.0, x.dtype)), x.dtype)


# Public functions -----------------------------------------------------------------------------


@dispatched
def erf(x: Any, name: str | None = None) -> Any:
    """The error function."""
    return of_values(Erf, x, name)


@dispatched
def erfc(x: Any, name: str | None = None) -> Tensor:
    """1 - erf(x), exact where erf(x) is close to 1."""
    return Erfc(x, name=name)


def erfinv(x: Any, name: str | None = None) -> Tensor:
    """The number whose erf is x."""
    with name_scope(name, "erfinv", [x]):
        return Erfinv(x)


def ndtri(x: Any, name: str | None = None) -> Tensor:
    """The quantile of the standard normal distribution at x."""
    with name_scope(name, "ndtri", [x]):
        return Ndtri(x)


@dispatched
def lgamma(x: Any, name: str | None = None) -> Tensor:
    """log |gamma(x)|."""
    return Lgamma(x, name=name)


@dispatched
def digamma(x: Any, name: str | None = None) -> Tensor:
    """The derivative of lgamma."""
    return Digamma(x, name=name)


def polygamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The derivative of order `a` (a whole number) of digamma at x."""
    return Polygamma(a, x, name=name)


def zeta(x: Any, q: Any, name: str | None = None) -> Tensor:
    """Hurwitz' zeta function: the sum of (q + n) ** -x over n = 0, 1 …"""
    return Zeta(x, q, name=name)


def igamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The lower regularized incomplete gamma function P(a, x)."""
    return Igamma(a, x, name=name)


def igammac(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The upper regularized incomplete gamma function Q(a, x) = 1 - P(a, x)."""
    return Igammac(a, x, name=name)


def betainc(a: Any, b: Any, x: Any, name: str | None = None) -> Tensor:
    """The regularized incomplete beta function I_x(a, b)."""
    return Betainc(a, b, x, name=name)


def lbeta(x: Any, name: str | None = None) -> Tensor:
    """log |beta(x)|, of the numbers along the last dimension."""
    with name_scope(name, "lbeta", [x]):
        x = to_tensor(x, name="x")
        log_numerator = reductions.reduce_sum(lgamma(x), axis=[-1])
        return log_numerator - lgamma(reductions.reduce_sum(x, axis=[-1]))


def bessel_i0e(x: Any, name: str | None = None) -> Any:
    """exp(-|x|) times the modified Bessel function of order 0."""
    return of_values(BesselI0e, x, name)


def bessel_i1e(x: Any, name: str | None = None) -> Any:
    """exp(-|x|) times the modified Bessel function of order 1."""
    return of_values(BesselI1e, x, name)


def bessel_i0(x: Any, name: str | None = None) -> Any:
    """The modified Bessel function of order 0."""
    with name_scope(name, "bessel_i0", [x]):
        return exp(absolute(x)) * bessel_i0e(x)


def bessel_i1(x: Any, name: str | None = None) -> Any:
    """The modified Bessel function of order 1."""
    with name_scope(name, "bessel_i1", [x]):
        return exp(absolute(x)) * bessel_i1e(x)


def xlogy(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x * log(y), and 0 where x is 0."""
    return Xlogy(x, y, name=name)


def xlog1py(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x * log1p(y), and 0 where x is 0."""
    with name_scope(name, "xlog1py", [x]):
        return Xlog1py(x, y)


def xdivy(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y, and 0 where x is 0."""
    return Xdivy(x, y, name=name)


def nextafter(x1: Any, x2: Any, name: str | None = None) -> Tensor:
    """The number next to x1 in the direction of x2."""
    return NextAfter(x1, x2, name=name)


def polyval(coeffs: Any, x: Any, name: str | None = None) -> Tensor:
    """The polynomial with coefficients `coeffs`, highest power first, at x."""
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    with name_scope(name, "polyval", [*coeffs, x]) as scope:
        x = to_tensor(x, name="x")
        if not coeffs:
            return array.zeros_like(x, name=scope)
        terms: list[Any] = [
            to_tensor(coefficient, dtype=x.dtype, name=f"coeff_{i}")
            for i, coefficient in enumerate(coeffs)
        ]
        value = terms[0]
        for term in terms[1:]:
            value = term + value * x
        return value
