"""What the signatures of dataset ops share: the types and shapes of elements, the handle."""

from __future__ import annotations

from typing import Any

from penstock.ir.registry import OpSpec, attr, not_differentiable
from penstock.shapes import Shape

ANY_TYPES = attr("list(type)", minimum=0)
ELEMENTS = {
    "output_types": attr("list(type)", minimum=1),
    "output_shapes": attr("list(shape)", minimum=1),
}


def scalar(op: Any, *inputs: Shape) -> Shape:
    """The shape of a handle."""
    return ()


def dataset_handles(*specs: OpSpec) -> None:
    """Says of op types that their output is one dataset, through which no gradient flows."""
    for spec in specs:
        spec.shape(scalar)
    not_differentiable(*specs)
