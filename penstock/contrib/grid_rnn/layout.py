"""The dimensions of a grid cell: which take input, give output, go last, or have no state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

#: One dimension, several, or none.
Dimensions = int | Sequence[int] | None


class GridLayout(NamedTuple):
    """Sorted dimensions of each kind; `recurrents` and `non_priority` are all the others."""

    num_units: int
    num_dims: int
    inputs: list[int]
    outputs: list[int]
    recurrents: list[int]
    priority: list[int]
    non_priority: list[int]
    tied: bool


def layout(
    num_units: int,
    num_dims: int,
    inputs: Dimensions,
    outputs: Dimensions,
    priority: Dimensions,
    non_recurrent: Dimensions,
    tied: bool,
) -> GridLayout:
    """The layout of a cell with `num_dims` dimensions; a dimension out of range is an error."""
    if num_dims < 1:
        raise ValueError(f"dims must be >= 1: {num_dims}")
    first = _sorted(priority, num_dims)
    without_state = _sorted(non_recurrent, num_dims)
    return GridLayout(
        num_units=num_units,
        num_dims=num_dims,
        inputs=_sorted(inputs, num_dims),
        outputs=_sorted(outputs, num_dims),
        recurrents=[i for i in range(num_dims) if i not in without_state],
        priority=first,
        non_priority=[i for i in range(num_dims) if i not in first],
        tied=tied,
    )


def _sorted(dimensions: Dimensions, num_dims: int) -> list[int]:
    if dimensions is None:
        return []
    chosen = sorted({dimensions} if isinstance(dimensions, int) else set(dimensions))
    if any(not 0 <= i < num_dims for i in chosen):
        raise ValueError(f"Invalid dims: {chosen}. Must be in [0, {num_dims})")
    return chosen
