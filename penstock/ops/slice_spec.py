"""What a strided slice means: its numbers and masks as an index in NumPy's notation.

Begin, end and strides hold one number per entry of the index; a bit of a mask says that an entry
is open at its begin or end, an ellipsis, a new axis, or a single position.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import Any, NamedTuple

from penstock.shapes import Shape

Entry = int | slice | None | EllipsisType  # None: a new axis
Index = tuple[Entry, ...]


class Masks(NamedTuple):
    """The masks of a strided slice; bit i is about entry i."""

    begin: int
    end: int
    ellipsis: int
    new_axis: int
    shrink_axis: int

    @classmethod
    def of(cls, attrs: dict[str, Any]) -> Masks:
        return cls(*[attrs[f"{field}_mask"] for field in cls._fields])


def index(masks: Masks, begin: Sequence[int], end: Sequence[int], strides: Sequence[int]) -> Index:
    """The index that a strided slice stands for; ValueError where it is no valid one."""
    if (masks.ellipsis & ((1 << len(strides)) - 1)).bit_count() > 1:
        raise ValueError("Multiple ellipses in slice spec not allowed")
    return tuple([_entry(masks, i, begin[i], end[i], strides[i]) for i in range(len(strides))])


def _entry(masks: Masks, i: int, begin: int, end: int, stride: int) -> Entry:
    bit = 1 << i
    if masks.ellipsis & bit:
        return Ellipsis
    if masks.new_axis & bit:
        return None
    if stride == 0:
        raise ValueError(f"strides[{i}] must be non-zero")
    if masks.shrink_axis & bit:
        if stride < 0:
            raise ValueError("only stride 1 allowed on non-range indexing.")
        return begin
    first = None if masks.begin & bit else begin
    last = None if masks.end & bit else end
    return slice(first, last, stride)


def full_index(given: Index, rank: int) -> Index:
    """The index with one entry for each of `rank` dimensions, and no ellipsis."""
    used = sum(entry is not None and entry is not Ellipsis for entry in given)
    if used > rank:
        raise ValueError(f"Index out of range using input dim {rank}; input has only {rank} dims")
    rest = (slice(None),) * (rank - used)
    if Ellipsis not in given:
        return given + rest
    at = given.index(Ellipsis)
    return given[:at] + rest + given[at + 1 :]


def sliced_shape(given: Index, shape: Shape, *, bounds_known: bool = True) -> Shape:
    """The shape of what an index takes out of a tensor; ValueError where it reaches outside.

    Without `bounds_known` the numbers in the index mean nothing, only that there are some.
    """
    if shape is None:
        return None
    found: list[int | None] = []
    axis = 0
    for entry in full_index(given, len(shape)):
        if entry is None:
            found.append(1)
            continue
        size = shape[axis]
        if isinstance(entry, slice):
            is_known = bounds_known or (entry.start is None and entry.stop is None)
            found.append(
                len(range(*entry.indices(size))) if is_known and size is not None else None
            )
        elif bounds_known and size is not None and not -size <= entry < size:  # type: ignore[operator]
            at = entry + size if entry < 0 else entry  # type: ignore[operator]
            raise ValueError(f"slice index {at} of dimension {axis} out of bounds.")
        axis += 1
    return tuple(found)


def without_negative_strides(given: Index, shape: Sequence[int]) -> tuple[Index, list[int]]:
    """An index for libraries without negative strides: it takes the same elements in ascending
    order. The list says which dimensions of the result are then to be turned around.
    """
    entries: list[Entry] = []
    flipped: list[int] = []
    axis = place = 0
    for entry in full_index(given, len(shape)):
        if isinstance(entry, slice) and entry.step is not None and entry.step < 0:
            taken = range(*entry.indices(shape[axis]))
            entry = slice(taken[-1], taken[0] + 1, -entry.step) if taken else slice(0, 0)
            flipped.append(place)
        entries.append(entry)
        place += entry is None or isinstance(entry, slice)
        axis += entry is not None
    return tuple(entries), flipped
