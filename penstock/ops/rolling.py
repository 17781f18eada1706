"""`tf.roll`: elements shifted along axes, those that leave at one end enter at the other."""

from __future__ import annotations

from typing import Any

from penstock.ir.operation import Operation
from penstock.ir.registry import op
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import INDEX
from penstock.ops.shape_checks import merge_shapes, with_rank_at_least
from penstock.shapes import Shape

__all__ = ["roll"]

Roll = op("Roll(input: T, shift: Tshift, axis: Taxis) -> output: T", Tshift=INDEX, Taxis=INDEX)


@Roll.shape
def _(op: Operation, x: Shape, shift: Shape, axis: Shape) -> Shape:
    with_rank_at_least(x, 1)
    for which in (shift, axis):
        if which is not None and len(which) > 1:
            raise ValueError(f"Shape must be at most rank 1 but is rank {len(which)}")
    merge_shapes(shift, axis)
    return x


@Roll.gradient
def _(op: Operation, grad: Tensor) -> Any:
    _, shift, axis = op.inputs
    return roll(grad, -shift, axis), None, None


def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Tensor:
    """`input` shifted by `shift[i]` positions along `axis[i]`, around the ends."""
    return Roll(input, shift, axis, name=name)
