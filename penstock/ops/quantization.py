"""Numbers as integers between two bounds, and back."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.convert import to_tensor
from penstock.ir.registry import attr, not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import FLOATING, QUANTIZED
from penstock.ops.shape_checks import merge_sizes, with_rank
from penstock.shapes import Shape

__all__ = ["dequantize", "quantize", "quantize_and_dequantize", "quantize_v2"]

_MODES = ("MIN_COMBINED", "MIN_FIRST", "SCALED")

QuantizeV2 = op(
    "QuantizeV2(input: float32, min_range: float32, max_range: float32) -> output: T, "
    "output_min: float32, output_max: float32",
    T=QUANTIZED,
    mode=attr("string", "MIN_COMBINED", allowed=_MODES),
    round_mode=attr(
        "string", "HALF_AWAY_FROM_ZERO", allowed=("HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN")
    ),
    narrow_range=False,
    axis=-1,
    ensure_minimum_range=0.01,
)
Dequantize = op(
    "Dequantize(input: T, min_range: float32, max_range: float32) -> output: dtype",
    T=QUANTIZED,
    mode=attr("string", "MIN_COMBINED", allowed=_MODES),
    narrow_range=False,
    axis=-1,
    dtype=types(dtypes.bfloat16, dtypes.float32, default=dtypes.float32),
)
QuantizeAndDequantize = op(
    "QuantizeAndDequantize(input: T) -> output: T",
    signed_input=True,
    num_bits=8,
    range_given=False,
    input_min=0.0,
    input_max=0.0,
    T=FLOATING,
)
QuantizeAndDequantizeV2 = op(
    "QuantizeAndDequantizeV2(input: T, input_min: T, input_max: T) -> output: T",
    signed_input=True,
    num_bits=8,
    range_given=False,
    T=FLOATING,
    round_mode=attr("string", "HALF_TO_EVEN", allowed=("HALF_TO_EVEN", "HALF_UP")),
    narrow_range=False,
    axis=-1,
)
QuantizeAndDequantizeV3 = op(
    "QuantizeAndDequantizeV3(input: T, input_min: T, input_max: T, num_bits: int32) -> output: T",
    signed_input=True,
    range_given=True,
    T=FLOATING,
    narrow_range=False,
    axis=-1,
)
not_differentiable(QuantizeV2, Dequantize)


def _bounds(op: Any, values: Shape, low: Shape, high: Shape) -> Shape:
    """The shape of both bounds: numbers, or one of each per entry of the axis."""
    axis = op.attrs["axis"]
    if axis < -1:
        raise ValueError(f"axis should be at least -1, got {axis}")
    if axis == -1:
        with_rank(low, 0)
        with_rank(high, 0)
        return ()
    size = None
    if values is not None:
        if axis >= len(values):
            raise ValueError(f"Axis {axis} is out of range for shape of rank {len(values)}")
        size = values[axis]
    size = merge_sizes(merge_sizes(with_rank(low, 1)[0], with_rank(high, 1)[0]), size)
    return (size,)


@QuantizeV2.shape
def _(op: Any, input: Shape, low: Shape, high: Shape) -> Any:
    bounds = _bounds(op, input, low, high)
    return [input, bounds, bounds]


@QuantizeAndDequantize.shape
def _(op: Any, input: Shape) -> Shape:
    return input


@Dequantize.shape
@QuantizeAndDequantizeV2.shape
def _(op: Any, input: Shape, low: Shape, high: Shape) -> Shape:
    _bounds(op, input, low, high)
    return input


@QuantizeAndDequantizeV3.shape
def _(op: Any, input: Shape, low: Shape, high: Shape, num_bits: Shape) -> Shape:
    _bounds(op, input, low, high)
    return input


@QuantizeAndDequantize.gradient
@QuantizeAndDequantizeV2.gradient
@QuantizeAndDequantizeV3.gradient
def _(op: Any, grad: Any) -> Any:
    return grad, *(None for _ in op.inputs[1:])


def quantize_v2(
    input: Any,
    min_range: Any,
    max_range: Any,
    T: Any,
    mode: str = "MIN_COMBINED",
    name: str | None = None,
    round_mode: str = "HALF_AWAY_FROM_ZERO",
) -> Any:
    """See `tf.quantize`, which has other positions of its last arguments."""
    return quantize(input, min_range, max_range, T, mode, round_mode, name)


def quantize(
    input: Any,
    min_range: Any,
    max_range: Any,
    T: Any,
    mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    name: str | None = None,
) -> Any:
    """Numbers between two bounds as integers of the quantized type T.

    Args:
      mode: "MIN_COMBINED" maps the bounds to the lowest and highest integer, "MIN_FIRST" too, but
        rounds the lower bound first, and "SCALED" maps zero to zero.

    Returns:
      The integers, and the bounds that their range stands for.
    """
    return QuantizeV2(input, min_range, max_range, T=T, mode=mode, round_mode=round_mode, name=name)


def dequantize(
    input: Any, min_range: Any, max_range: Any, mode: str = "MIN_COMBINED", name: str | None = None
) -> Tensor:
    """The numbers that quantized ones stand for; see `tf.quantize`."""
    return Dequantize(input, min_range, max_range, mode=mode, name=name)


def quantize_and_dequantize(
    input: Any,
    input_min: Any,
    input_max: Any,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
) -> Tensor:
    """What is left of numbers after they were quantized; gradients pass as they are.

    Args:
      range_given: Whether the bounds are `input_min` and `input_max`, and not those of the input.
    """
    input = to_tensor(input)
    return QuantizeAndDequantizeV2(
        input,
        to_tensor(input_min, dtype=input.dtype),
        to_tensor(input_max, dtype=input.dtype),
        signed_input=signed_input,
        num_bits=num_bits,
        range_given=range_given,
        round_mode=round_mode,
        narrow_range=narrow_range,
        name=name,
    )
