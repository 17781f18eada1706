"""The op that TensorFlow ships as an example of a user's own."""

from __future__ import annotations

from typing import Any

from penstock.ir.registry import not_differentiable, op
from penstock.ir.tensor import Tensor
from penstock.shapes import Shape

Fact = op("Fact() -> fact: string")
not_differentiable(Fact)


@Fact.shape
def _(op: Any) -> Shape:
    return None


def my_fact(name: str | None = None) -> Tensor:
    """A fact about factorials, as a string."""
    return Fact(name=name)
