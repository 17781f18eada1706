"""A constant whose value is the content of a file."""

from __future__ import annotations

from typing import Any

from penstock.ir.registry import attr, not_differentiable, op
from penstock.shapes import Shape, raw

ImmutableConst = op(
    "ImmutableConst() -> tensor: dtype",
    dtype=attr("type"),
    shape=attr("shape"),
    memory_region_name=attr("string"),
)
not_differentiable(ImmutableConst)


@ImmutableConst.shape
def _(op: Any) -> Shape:
    return raw(op.attrs["shape"])
