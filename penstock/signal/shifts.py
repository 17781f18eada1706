"""Shifts of the zero frequency to the centre of a spectrum, and back."""

from __future__ import annotations

from typing import Any

from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops import array
from penstock.ops.comparison import less
from penstock.ops.rolling import roll


def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """`x` rolled so that the zero frequency is in the middle, along `axes` or all of them."""
    return _rolled(x, axes, name, "fftshift", backwards=False)


def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `fftshift`."""
    return _rolled(x, axes, name, "ifftshift", backwards=True)


def _rolled(x: Any, axes: Any, name: str | None, default_name: str, *, backwards: bool) -> Tensor:
    with name_scope(name, default_name) as scope:
        x = convert_to_tensor(x)
        axes = tuple(range(x.shape.ndims)) if axes is None else axes
        known = _known_halves(x, axes)
        if known is not None:
            sign = -1 if backwards else 1
            halves = [sign * half for half in known]
            return roll(x, halves[0] if isinstance(axes, int) else halves, axes, name=scope)
        if isinstance(axes, int):
            shift = _sizes(x)[axes] // 2
        else:
            rank = array.rank(x)
            axes = array.where(less(axes, 0), axes + rank, axes)
            shift = array.gather(_sizes(x), axes) // 2
        return roll(x, -shift if backwards else shift, axes, name=scope)


def _known_halves(x: Tensor, axes: Any) -> list[int] | None:
    """Half the size along each axis; None where one is unknown."""
    if isinstance(axes, int):
        axes = (axes,)
    if not isinstance(axes, (list, tuple)) or not all(isinstance(axis, int) for axis in axes):
        return None
    halves = []
    for axis in axes:
        size = None if x._shape is None else x._shape[axis]
        if size is None:
            return None
        halves.append(size // 2)
    return halves


def _sizes(x: Tensor) -> Any:
    return array.shape(x)
