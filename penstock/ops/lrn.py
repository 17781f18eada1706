"""Local response normalization: each channel divided by the energy of its neighbours."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.registry import keeps_for_gradient, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import NARROW_FLOATING
from penstock.ops.shape_checks import merge_shapes, with_rank
from penstock.shapes import Shape

__all__ = ["local_response_normalization", "lrn"]

_ATTRS: dict[str, Any] = {
    "depth_radius": 5,
    "bias": 1.0,
    "alpha": 1.0,
    "beta": 0.5,
    "T": types(NARROW_FLOATING, default=dtypes.float32),
}

LRN = op("LRN(input: T) -> output: T", **_ATTRS)
LRNGrad = op("LRNGrad(input_grads: T, input_image: T, output_image: T) -> output: T", **_ATTRS)
_LRNKeeping = op("_LRNKeeping(input: T) -> output: T, energy: float32", **_ATTRS)
_LRNGradOfKept = op(
    "_LRNGradOfKept(input_grads: T, input_image: T, output_image: T, energy: float32) -> output: T",
    **_ATTRS,
)
keeps_for_gradient(LRN, LRNGrad, input=1, output=2, keeping=_LRNKeeping, of_kept=_LRNGradOfKept)


@LRN.shape
def _(op: Any, input: Shape) -> Shape:
    return with_rank(input, 4)


@LRNGrad.shape
def _(op: Any, *inputs: Shape) -> Shape:
    merged: Shape = (None, None, None, None)
    for shape in inputs:
        merged = merge_shapes(merged, with_rank(shape, 4))
    return merged


@LRN.gradient
def _(op: Any, grad: Tensor) -> Any:
    attrs = {key: op.attrs[key] for key in ("depth_radius", "bias", "alpha", "beta")}
    return LRNGrad(grad, op.inputs[0], op.outputs[0], **attrs)


def local_response_normalization(
    input: Any,
    depth_radius: int = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
    name: str | None = None,
) -> Tensor:
    """x / (bias + alpha * s) ** beta, with s the sum of squares of the channels nearby.

    Args:
      input: [batch, height, width, channels].
      depth_radius: How many channels on each side count.
    """
    return LRN(input, depth_radius=depth_radius, bias=bias, alpha=alpha, beta=beta, name=name)


lrn = local_response_normalization
