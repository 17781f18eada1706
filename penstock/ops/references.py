"""References passed on as they are, and marks that the gradient debugger puts into a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.ir.registry import ALIASES, ALLOWS_UNINITIALIZED, op
from penstock.shapes import Shape

RefIdentity = op("RefIdentity(input: &T) -> output: &T", ALLOWS_UNINITIALIZED)
DebugGradientIdentity = op(
    "DebugGradientIdentity(input: T) -> output: T", ALLOWS_UNINITIALIZED, ALIASES
)
DebugGradientRefIdentity = op(
    "DebugGradientRefIdentity(input: &T) -> output: &T", ALLOWS_UNINITIALIZED
)


@RefIdentity.shape
@DebugGradientIdentity.shape
@DebugGradientRefIdentity.shape
def _(op: Any, input: Shape) -> Shape:
    return input


@RefIdentity.gradient
def _(op: Any, grad: Any) -> Any:
    return grad


#: Told of each gradient that passes a mark: the mark's operation and the gradient.
gradient_listeners: list[Callable[[Any, Any], None]] = []


@DebugGradientIdentity.gradient
@DebugGradientRefIdentity.gradient
def _(op: Any, grad: Any) -> Any:
    for listener in gradient_listeners:
        listener(op, grad)
    return grad
