"""Images sampled at given points."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.registry import not_differentiable, op
from penstock.ir.tensor import Tensor
from penstock.shapes import Shape

__all__ = ["resampler"]

_TYPES = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)

Resampler = op("Resampler(data: T, warp: T) -> output: T", T=_TYPES)
ResamplerGrad = op(
    "ResamplerGrad(data: T, warp: T, grad_output: T) -> grad_data: T, grad_warp: T", T=_TYPES
)

not_differentiable("ResamplerGrad")


@Resampler.shape
def _(op: Any, data: Shape, warp: Shape) -> Shape:
    if data is None or warp is None or not data or not warp:
        return None
    return (*warp[:-1], data[-1])  # other ranks and sizes are refused when it runs


@ResamplerGrad.shape
def _(op: Any, data: Shape, warp: Shape, grad: Shape) -> list[Shape]:
    return [data, warp]


@Resampler.gradient
def _(op: Any, grad: Any) -> Any:
    data, warp = op.inputs
    return ResamplerGrad(data, warp, convert_to_tensor(grad, name="grad_output"))


def resampler(data: Any, warp: Any, name: str | None = "resampler") -> Tensor:
    """Values of images between their pixels, by bilinear interpolation; zero outside.

    Args:
      data: Images [batch, height, width, channels].
      warp: Points [batch, …, 2], each (x, y): a column and a row.
    """
    with name_scope(name, "resampler", [data, warp]):
        return Resampler(convert_to_tensor(data, name="data"), convert_to_tensor(warp, name="warp"))
