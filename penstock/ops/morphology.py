"""Grayscale morphology: dilation and erosion of images."""

from __future__ import annotations

from typing import Any

from penstock.ir.name_scope import name_scope
from penstock.ir.registry import attr, op
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import REAL
from penstock.ops import window
from penstock.ops.elementwise import negative
from penstock.ops.permuting import reverse
from penstock.ops.shape_checks import merge_sizes, with_rank
from penstock.ops.shaping import renamed_argument
from penstock.shapes import Shape

__all__ = ["dilation2d", "erosion2d"]

_ATTRS: dict[str, Any] = {
    "T": REAL,
    "strides": attr("list(int)", minimum=4),
    "rates": attr("list(int)", minimum=4),
    "padding": attr("string", allowed=("SAME", "VALID")),
}

Dilation2D = op("Dilation2D(input: T, filter: T) -> output: T", **_ATTRS)
Dilation2DBackpropInput = op(
    "Dilation2DBackpropInput(input: T, filter: T, out_backprop: T) -> in_backprop: T", **_ATTRS
)
Dilation2DBackpropFilter = op(
    "Dilation2DBackpropFilter(input: T, filter: T, out_backprop: T) -> filter_backprop: T", **_ATTRS
)


@Dilation2D.shape
def _(op: Any, input: Shape, filter: Shape) -> Shape:
    input, filter = with_rank(input, 4), with_rank(filter, 3)
    strides, rates = op.attrs["strides"], op.attrs["rates"]
    window.check_length("Dilation2D", "stride", strides, 4)
    window.check_length("Dilation2D", "rates", rates, 4)
    extents = [window.dilated(n, rate) for n, rate in zip(filter[:2], rates[1:3], strict=True)]
    sizes = [
        window.output_size_or_nothing(size, extent, stride, op.attrs["padding"])
        for size, extent, stride in zip(input[1:3], extents, strides[1:3], strict=True)
    ]
    return (input[0], *sizes, merge_sizes(input[3], filter[2]))


@Dilation2DBackpropInput.shape
def _(op: Any, input: Shape, filter: Shape, out_backprop: Shape) -> Shape:
    return input


@Dilation2DBackpropFilter.shape
def _(op: Any, input: Shape, filter: Shape, out_backprop: Shape) -> Shape:
    return filter


@Dilation2D.gradient
def _(op: Any, grad: Tensor) -> Any:
    input, filter = op.inputs
    attrs = {key: op.attrs[key] for key in ("strides", "rates", "padding")}
    return [
        Dilation2DBackpropInput(input, filter, grad, **attrs),
        Dilation2DBackpropFilter(input, filter, grad, **attrs),
    ]


def dilation2d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    rates: Any = None,
    padding: Any = None,
    name: str | None = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """The maximum of image plus filter over each window, channel by channel.

    Args:
      input: [batch, height, width, channels].
      filter: [height, width, channels].
      rates: How far apart the filter's taps are, one number per dimension.
    """
    return Dilation2D(
        input,
        renamed_argument("filters", filters, "filter", filter),
        strides=strides,
        rates=renamed_argument("dilations", dilations, "rates", rates),
        padding=padding,
        name=name,
    )


def erosion2d(
    value: Any, kernel: Any, strides: Any, rates: Any, padding: Any, name: str | None = None
) -> Tensor:
    """The minimum of image minus kernel over each window, channel by channel."""
    with name_scope(name, "erosion2d", [value, kernel]) as scope:
        # Erosion is dilation of the negative image by the reflected kernel.
        dilated = Dilation2D(
            negative(value),
            reverse(kernel, [0, 1]),
            strides=strides,
            rates=rates,
            padding=padding,
            name=scope,
        )
        return negative(dilated)
