"""Comparisons of two tensors, and logic on their results."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import shapes
from penstock.ir.dispatch import dispatched
from penstock.ir.registry import COMMUTATIVE, not_differentiable, op
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import NUMERIC, REAL
from penstock.ops.elementwise_rules import broadcast_shape, folding, unchanged_shape
from penstock.ops.shape_checks import merge_shapes
from penstock.shapes import Shape

__all__ = [
    "equal",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "not_equal",
]

Less = op("Less(x: T, y: T) -> z: bool", T=REAL)
LessEqual = op("LessEqual(x: T, y: T) -> z: bool", T=REAL)
Greater = op("Greater(x: T, y: T) -> z: bool", T=REAL)
GreaterEqual = op("GreaterEqual(x: T, y: T) -> z: bool", T=REAL)
Equal = op("Equal(x: T, y: T) -> z: bool", COMMUTATIVE, incompatible_shape_error=True)
NotEqual = op("NotEqual(x: T, y: T) -> z: bool", COMMUTATIVE, incompatible_shape_error=True)
ApproximateEqual = op(
    "ApproximateEqual(x: T, y: T) -> z: bool", COMMUTATIVE, T=NUMERIC, tolerance=1e-05
)
LogicalNot = op("LogicalNot(x: bool) -> y: bool")
LogicalAnd = op("LogicalAnd(x: bool, y: bool) -> z: bool", COMMUTATIVE)
LogicalOr = op("LogicalOr(x: bool, y: bool) -> z: bool", COMMUTATIVE)
not_differentiable(Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual, ApproximateEqual)
not_differentiable(LogicalNot, LogicalAnd, LogicalOr)

LogicalNot.shape(unchanged_shape)
for _spec in (Less, LessEqual, Greater, GreaterEqual, LogicalAnd, LogicalOr):
    _spec.shape(broadcast_shape)


@ApproximateEqual.shape
def _(op: Any, x: Shape, y: Shape) -> Shape:
    return merge_shapes(x, y)


@Equal.shape
@NotEqual.shape
def _(op: Any, x: Shape, y: Shape) -> Shape:
    if op.attrs["incompatible_shape_error"]:
        return shapes.broadcast(x, y)
    if not (shapes.is_full(x) and shapes.is_full(y)):
        return None
    try:
        return shapes.broadcast(x, y)
    except ValueError:
        return ()  # tensors of different shapes are simply not equal


Less.fold(folding(np.less))
LessEqual.fold(folding(np.less_equal))
Greater.fold(folding(np.greater))
GreaterEqual.fold(folding(np.greater_equal))
LogicalAnd.fold(folding(np.logical_and))
LogicalOr.fold(folding(np.logical_or))


@Equal.fold
def _(op: Any, x: Any, y: Any) -> Any:
    return x == y if op.attrs["incompatible_shape_error"] else None


@NotEqual.fold
def _(op: Any, x: Any, y: Any) -> Any:
    return x != y if op.attrs["incompatible_shape_error"] else None


LogicalNot.fold(folding(np.logical_not))


@dispatched
def less(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether x < y, element by element."""
    return Less(x, y, name=name)


@dispatched
def less_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether x <= y, element by element."""
    return LessEqual(x, y, name=name)


@dispatched
def greater(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether x > y, element by element."""
    return Greater(x, y, name=name)


@dispatched
def greater_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether x >= y, element by element."""
    return GreaterEqual(x, y, name=name)


@dispatched
def equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether x == y, element by element."""
    return Equal(x, y, name=name)


@dispatched
def not_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether x != y, element by element."""
    return NotEqual(x, y, name=name)


@dispatched
def logical_not(x: Any, name: str | None = None) -> Tensor:
    """Whether x is false, element by element."""
    return LogicalNot(x, name=name)


@dispatched
def logical_and(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether x and y are both true, element by element."""
    return LogicalAnd(x, y, name=name)


@dispatched
def logical_or(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether x or y is true, element by element."""
    return LogicalOr(x, y, name=name)


@dispatched
def logical_xor(x: Any, y: Any, name: str = "LogicalXor") -> Tensor:
    """Whether just one of x and y is true, element by element."""
    either = LogicalOr(x, y)
    return LogicalAnd(either, LogicalNot(LogicalAnd(x, y)), name=name)
