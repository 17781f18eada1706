"""Elements on their way through a pipeline in a form that is cheap to make and to batch.

Where many elements are computed at once, each of them goes on as a *row*: a tuple of its `Kinds`,
which know what the other entries stand for, and one *part* per component. Datasets that only pass
elements on don't look at them; a batch joins the parts of one component in one call; anybody else
asks for the element, with `as_element`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, repeat
from typing import Any

import numpy as np
import torch

from penstock.kernels.datasets.stacking import stacked
from penstock.kernels.string_arrays import string_scalar, string_vector
from penstock.state.datasets import Element, Elements

Row = tuple[Any, ...]


class Kind:
    """What one component of a row is: here, a value of any shape, which is its own part."""

    def value(self, part: Any) -> Any:
        """The runtime value of a part."""
        return part

    def joined(self, parts: Sequence[Any], number: int) -> Any:
        """The batch of the parts of several rows; `number` is that of the component."""
        return stacked(number, parts)


class Numbers(Kind):
    """Scalars; a part is a Python number, which holds all that its type can."""

    def __init__(self, dtype: torch.dtype):
        self._dtype = dtype

    def value(self, part: Any) -> torch.Tensor:
        return torch.tensor(part, dtype=self._dtype)

    def joined(self, parts: Sequence[Any], number: int) -> torch.Tensor:
        return torch.tensor(parts, dtype=self._dtype)


class Strings(Kind):
    """Scalar strings; a part is the bytes."""

    def value(self, part: Any) -> np.ndarray:
        return string_scalar(part)

    def joined(self, parts: Sequence[Any], number: int) -> np.ndarray:
        return string_vector(parts)


class Arrays(Kind):
    """Numbers or strings of one shape; a part is an array of one dimension."""

    def __init__(self, shape: tuple[int, ...], strings: bool = False):
        self._shape = shape
        self._made = _itself if strings else torch.from_numpy

    def value(self, part: Any) -> Any:
        return self._made(part.reshape(self._shape))

    def joined(self, parts: Sequence[Any], number: int) -> Any:
        return self._made(np.concatenate(parts).reshape(len(parts), *self._shape))


def _itself(array: np.ndarray) -> np.ndarray:
    return array


class SparseVectors(Kind):
    """Packed sparse tensors; a part is a tuple of the arrays of indices, values and shape."""

    def value(self, part: Any) -> np.ndarray:
        return np.fromiter(part, object, 3)

    def joined(self, parts: Sequence[Any], number: int) -> np.ndarray:
        count = 3 * len(parts)
        return np.fromiter(chain.from_iterable(parts), object, count).reshape(-1, 3)


class Kinds:
    """What the components of a row are; rows with the same `Kinds` can be joined."""

    __slots__ = ("of_parts",)

    def __init__(self, of_parts: Sequence[Kind]):
        self.of_parts = tuple(of_parts)

    def rows(self, *columns: Sequence[Any]) -> list[Row]:
        """The rows whose parts are in lists, one per component."""
        return list(zip(repeat(self, len(columns[0])), *columns, strict=True))

    def element(self, row: Row) -> Element:
        return tuple([kind.value(row[i]) for i, kind in enumerate(self.of_parts, 1)])

    def joined(self, columns: Sequence[Sequence[Any]]) -> Element:
        kinds = enumerate(self.of_parts)
        return tuple([kind.joined(columns[number], number) for number, kind in kinds])


def as_element(entry: Element | Row) -> Element:
    """The element that a row stands for; one that is an element already stays as it is."""
    if entry and type(entry[0]) is Kinds:
        return entry[0].element(entry)
    return entry


def joined_rows(entries: Sequence[Element | Row]) -> Element | None:
    """The batch of rows of the same kinds; None if they are not such."""
    kinds = entries[0][0] if entries[0] else None
    if type(kinds) is not Kinds:
        return None
    if not all(entry and entry[0] is kinds for entry in entries):
        return None
    return kinds.joined(list(zip(*entries, strict=True))[1:])


class RowElements(Elements):
    """Elements that come several at once, by `several`."""

    gives_rows = True

    def next(self) -> Element | None:
        entries = self.several(1)
        return as_element(entries[0]) if entries else None
