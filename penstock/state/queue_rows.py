"""Small elements of a queue in arrays: one array per component, one row of each per element.

A block of elements is then written, or picked in any order, by one call per component.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

_MOST_BYTES = 4096  # of an element: a larger one costs more to move than to handle
_FIRST_ROWS = 64


class Rows:
    """Where elements are kept; the queue knows each by the number of its row.

    1. A row is in use from `keep` to `release`. Nobody writes into a row that is in use, so that
       it can be read without the lock; to grow, arrays are replaced, and old ones stay as they are.
    2. Rows that are free hold no strings.
    """

    def __init__(self, types: Sequence[np.dtype[Any]], shapes: Sequence[tuple[int, ...]]):
        self.shapes = list(shapes)
        self._columns = [
            np.empty((0, *shape), dtype) for dtype, shape in zip(types, shapes, strict=True)
        ]
        self._holds_strings = any(dtype.hasobject for dtype in types)
        self._free: list[int] = []
        self._lock = threading.Lock()

    @classmethod
    def for_elements(
        cls, types: Sequence[np.dtype[Any] | None], shapes: Sequence[tuple[int | None, ...] | None]
    ) -> Rows | None:
        """Rows for elements of these components; None if they are large, or may differ in shape."""
        known_types = [dtype for dtype in types if dtype is not None]
        known_shapes = [
            tuple(size for size in shape if size is not None)
            for shape in shapes
            if shape is not None and None not in shape
        ]
        if not types or not len(known_types) == len(known_shapes) == len(types):
            return None
        sizes = map(math.prod, known_shapes)
        size = sum(dtype.itemsize * n for dtype, n in zip(known_types, sizes, strict=True))
        return cls(known_types, known_shapes) if size <= _MOST_BYTES else None

    # In ------------------------------------------------------------------------------------------

    def keep(self, element: Sequence[Any]) -> int:
        """The row of a new element."""
        with self._lock:
            if not self._free:
                self._grow(1)
            row = self._free.pop()
            for column, value in zip(self._columns, element, strict=True):
                column[row, ...] = value  # an array, even if it has no dimensions
        return row

    def keep_several(self, columns: Sequence[np.ndarray]) -> list[int]:
        """The rows of new elements, given as an array per component."""
        count = len(columns[0])
        if not count:
            return []
        with self._lock:
            if len(self._free) < count:
                self._grow(count)
            rows = self._free[-count:]
            del self._free[-count:]
            places = np.array(rows)
            for column, values in zip(self._columns, columns, strict=True):
                column[places] = values
        return rows

    def _grow(self, missing: int) -> None:
        before = len(self._columns[0])
        after = max(_FIRST_ROWS, 2 * before, before + missing)
        for i, column in enumerate(self._columns):
            grown = np.empty((after, *column.shape[1:]), column.dtype)
            grown[:before] = column
            self._columns[i] = grown
        self._free[:0] = range(after - 1, before - 1, -1)

    # Out -----------------------------------------------------------------------------------------

    def element(self, row: int) -> tuple[np.ndarray, ...]:
        """A copy of an element."""
        return tuple([column[row, ...].copy() for column in self._columns])

    def taken(self, row: int) -> tuple[np.ndarray, ...]:
        """A copy of an element whose row is free from now on."""
        element = self.element(row)
        self.release([row])
        return element

    def batch(self, rows: list[int]) -> list[np.ndarray]:
        """The components of elements whose rows are free from now on, each in one array."""
        places = np.array(rows, np.intp)
        picked = [column.take(places, 0) for column in self._columns]
        self.release(rows)
        return picked

    def release(self, rows: list[int]) -> None:
        """Makes rows free."""
        with self._lock:
            if self._holds_strings:
                for column in self._columns:
                    if column.dtype.hasobject:
                        column[rows] = None
            self._free += rows
