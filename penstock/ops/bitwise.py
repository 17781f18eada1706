"""Logic and shifts on the bits of integers: `tf.bitwise`."""

from __future__ import annotations

from typing import Any

from penstock.ir.dispatch import dispatched
from penstock.ir.registry import COMMUTATIVE, not_differentiable, op
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import INTEGER
from penstock.ops.elementwise_rules import broadcast_shape, unchanged_shape

__all__ = ["bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"]

Invert = op("Invert(x: T) -> y: T", T=INTEGER)
PopulationCount = op("PopulationCount(x: T) -> y: uint8", T=INTEGER)
BitwiseAnd = op("BitwiseAnd(x: T, y: T) -> z: T", COMMUTATIVE, T=INTEGER)
BitwiseOr = op("BitwiseOr(x: T, y: T) -> z: T", COMMUTATIVE, T=INTEGER)
BitwiseXor = op("BitwiseXor(x: T, y: T) -> z: T", COMMUTATIVE, T=INTEGER)
LeftShift = op("LeftShift(x: T, y: T) -> z: T", T=INTEGER)
RightShift = op("RightShift(x: T, y: T) -> z: T", T=INTEGER)
not_differentiable(Invert, PopulationCount, BitwiseAnd, BitwiseOr, BitwiseXor)
not_differentiable(LeftShift, RightShift)

Invert.shape(unchanged_shape)
PopulationCount.shape(unchanged_shape)
for _spec in (BitwiseAnd, BitwiseOr, BitwiseXor, LeftShift, RightShift):
    _spec.shape(broadcast_shape)


@dispatched
def invert(x: Any, name: str | None = None) -> Tensor:
    """Flips every bit."""
    return Invert(x, name=name)


@dispatched
def bitwise_and(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits set in both x and y."""
    return BitwiseAnd(x, y, name=name)


@dispatched
def bitwise_or(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits set in x or y."""
    return BitwiseOr(x, y, name=name)


@dispatched
def bitwise_xor(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits set in just one of x and y."""
    return BitwiseXor(x, y, name=name)


@dispatched
def left_shift(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x with its bits moved up by y places; y is clipped to the width of the type."""
    return LeftShift(x, y, name=name)


@dispatched
def right_shift(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x with its bits moved down by y places, keeping the sign; y is clipped to the width."""
    return RightShift(x, y, name=name)
