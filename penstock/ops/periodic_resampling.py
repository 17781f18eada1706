"""Elements of one axis dealt out to others, as in sub-pixel convolutions."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.registry import attr, not_differentiable, op
from penstock.shapes import Shape, TensorShape

__all__ = ["periodic_resample"]

_TYPES = (
    *(dtypes.float32, dtypes.float64, dtypes.int32, dtypes.uint8, dtypes.int16, dtypes.int8),
    *(dtypes.complex64, dtypes.int64, dtypes.bfloat16, dtypes.uint16, dtypes.complex128),
    *(dtypes.float16, dtypes.uint32, dtypes.uint64),
)

PeriodicResample = op("PeriodicResample(values: T) -> output: T", T=_TYPES, shape=attr("shape"))
PeriodicResampleOpGrad = op(
    "PeriodicResampleOpGrad(grad: T) -> grad_values: T",
    T=_TYPES,
    original_shape=attr("shape"),
    desired_shape=attr("shape"),
)

not_differentiable("PeriodicResampleOpGrad")


@PeriodicResample.shape
def _(op: Any, values: Shape) -> Shape:
    wanted = TensorShape(op.get_attr("shape")).as_list()
    if values is None or None in values or len(wanted) != len(values):
        return None
    if wanted.count(None) != 1:
        return None  # refused when it runs
    total, known = 1, 1
    for size in values:
        total *= size or 0
    for each in wanted:
        known *= 1 if each is None else each
    return tuple(total // known if each is None else each for each in wanted)


@PeriodicResampleOpGrad.shape
def _(op: Any, grad: Shape) -> Shape:
    return tuple(TensorShape(op.get_attr("original_shape")).as_list())


@PeriodicResample.gradient
def _(op: Any, grad: Any) -> Any:
    return PeriodicResampleOpGrad(
        grad, original_shape=op.inputs[0].shape, desired_shape=op.get_attr("shape")
    )


def periodic_resample(values: Any, shape: Any, name: str | None = None) -> Any:
    """A tensor with larger axes, filled from the one that is None in `shape`, which shrinks."""
    return PeriodicResample(values, shape=shape, name=name)
