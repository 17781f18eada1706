"""Running sums and products along an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock import dtypes
from penstock.ir.convert import to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.registry import op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import FLOATING, INDEX, NUMERIC
from penstock.ops import binary, elementwise, select
from penstock.ops.comparison import greater, less
from penstock.shapes import Shape

__all__ = ["cumprod", "cumsum", "cumulative_logsumexp"]

_ATTRS: dict[str, Any] = {
    "exclusive": False,
    "reverse": False,
    "Tidx": types(INDEX, default=dtypes.int32),
}

Cumsum = op("Cumsum(x: T, axis: Tidx) -> out: T", T=NUMERIC, **_ATTRS)
Cumprod = op("Cumprod(x: T, axis: Tidx) -> out: T", T=NUMERIC, **_ATTRS)
CumulativeLogsumexp = op("CumulativeLogsumexp(x: T, axis: Tidx) -> out: T", T=FLOATING, **_ATTRS)


@Cumsum.shape
@Cumprod.shape
@CumulativeLogsumexp.shape
def _(op: Any, x: Shape, axis: Shape) -> Shape:
    return x


def _accumulated(accumulate: Callable[..., Any]) -> Callable[..., Any]:
    """The rule for known values, of the forms that occur in arithmetic of shapes."""

    def fold(op: Any, x: Any, axis: Any) -> Any:
        if op.attrs["exclusive"] or op.attrs["reverse"] or x.ndim != 1:
            return None
        return accumulate(x, axis=int(axis), dtype=x.dtype)

    return fold


Cumsum.fold(_accumulated(np.cumsum))
Cumprod.fold(_accumulated(np.cumprod))


@Cumsum.gradient
def _(op: Any, grad: Any) -> Any:
    exclusive, reverse = op.attrs["exclusive"], op.attrs["reverse"]
    return cumsum(grad, op.inputs[1], exclusive=exclusive, reverse=not reverse), None


@Cumprod.gradient
def _(op: Any, grad: Any) -> Any:
    x, axis = op.inputs
    exclusive, reverse = op.attrs["exclusive"], op.attrs["reverse"]
    products: Any = cumprod(x, axis, exclusive=exclusive, reverse=reverse)
    out = cumsum(products * grad, axis, exclusive=exclusive, reverse=not reverse)
    return binary.div_no_nan(out, x), None


@CumulativeLogsumexp.gradient
def _(op: Any, grad: Any) -> Any:
    """In logarithms, with the positive and the negative part of the gradient apart."""
    x, axis = op.inputs
    exclusive, reverse = op.attrs["exclusive"], op.attrs["reverse"]
    lowest = grad.dtype.min
    log_positive = select.where_v2(greater(grad, 0), elementwise.log(grad), lowest)
    log_negative = select.where_v2(less(grad, 0), elementwise.log(-grad), lowest)

    def part(log_grad: Any) -> Any:
        scaled = log_grad - op.outputs[0]
        back: Any = cumulative_logsumexp(scaled, axis, exclusive=exclusive, reverse=not reverse)
        return elementwise.exp(back + x)

    positive = part(log_positive)
    return positive - part(log_negative), None


def cumsum(
    x: Any,
    axis: Any = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The sums of all elements up to each one along `axis`.

    `exclusive` leaves out the element itself, `reverse` sums from the end.
    """
    with name_scope(name, "Cumsum", [x]) as scope:
        x = to_tensor(x, name="x")
        return Cumsum(x, axis, exclusive=exclusive, reverse=reverse, name=scope)


def cumprod(
    x: Any,
    axis: Any = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The products of all elements up to each one along `axis`; see `cumsum`."""
    with name_scope(name, "Cumprod", [x]) as scope:
        x = to_tensor(x, name="x")
        return Cumprod(x, axis, exclusive=exclusive, reverse=reverse, name=scope)


def cumulative_logsumexp(
    x: Any,
    axis: Any = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The logarithms of the running sums of exp(x) along `axis`, without overflow."""
    with name_scope(name, "CumulativeLogsumexp", [x]) as scope:
        x = to_tensor(x, name="x")
        return CumulativeLogsumexp(x, axis, exclusive=exclusive, reverse=reverse, name=scope)
