"""The n-th smallest entry of each row."""

from __future__ import annotations

from typing import Any

from penstock.ir.constants import constant_value
from penstock.ir.registry import op
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import REAL
from penstock.ops import array, casts, comparison
from penstock.ops.reductions import reduce_sum
from penstock.ops.shape_checks import check_scalar_input, with_rank_at_least
from penstock.shapes import Shape

__all__ = ["nth_element"]

NthElement = op("NthElement(input: T, n: int32) -> values: T", reverse=False, T=REAL)


@NthElement.shape
def _(op: Any, input: Shape, n: Shape) -> Shape:
    input = with_rank_at_least(input, 1)
    check_scalar_input(n)
    place = constant_value(op.inputs[1])
    if place is not None and place < 0:
        raise ValueError(
            f"Dimension size, given by scalar input 1, must be non-negative but is {place}"
        )
    if input is None:
        return None
    if place is not None and input[-1] is not None and input[-1] <= place:
        raise ValueError(f"Input must have last dimension > n = {place} but is {input[-1]}")
    return input[:-1]


@NthElement.gradient
def _(op: Any, grad: Any) -> Any:
    """Entries that are equal to the one taken share its gradient."""
    taken = array.expand_dims(op.outputs[0], -1)
    equal: Any = casts.cast(comparison.equal(taken, op.inputs[0]), grad.dtype)
    count = array.expand_dims(reduce_sum(equal, -1), -1)
    return equal / count * array.expand_dims(grad, -1), None


def nth_element(input: Any, n: Any, reverse: bool = False, name: str | None = None) -> Tensor:
    """The n-th smallest entry (from 0) along the last dimension, the n-th greatest if `reverse`."""
    return NthElement(input, n, reverse=reverse, name=name)
