"""Functions that give, call by call, what to feed of arrays, data frames and generators."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from penstock import errors


class _Positions:
    """The positions of batches in data, round and round, for some epochs or for ever."""

    def __init__(
        self, length: int, batch_size: int, random_start: bool, seed: Any, num_epochs: int | None
    ):
        self._length = length
        self._batch_size = batch_size
        self._num_epochs = num_epochs
        self._start = random.Random(seed).randrange(length) if random_start else 0
        self._given = 0

    def next_batch(self) -> np.ndarray[Any, Any]:
        """The positions of the next batch; the last one of all epochs may be smaller."""
        end = self._given + self._batch_size
        if self._num_epochs is not None:
            total = self._length * self._num_epochs
            if self._given >= total:
                raise errors.OutOfRangeError(
                    None, None, f"Already emitted {self._num_epochs} epochs."
                )
            end = min(end, total)
        positions = (np.arange(self._given, end) + self._start) % self._length
        self._given = end
        return positions


class ColumnsFeed:
    """Feeds the rows of columns, with their index first.

    Args:
      placeholders: one for the index, then one for each column.
      columns: arrays of one length, or a mapping of them.
      batch_size: how many rows at a time.
      random_start: whether to begin at a row by chance.
      seed: of that chance.
      num_epochs: how often to go through the data; for ever if None.
      index: the index of the rows; their numbers by default.
    """

    def __init__(
        self,
        placeholders: Sequence[Any],
        columns: Any,
        batch_size: int,
        random_start: bool = False,
        seed: Any = None,
        num_epochs: int | None = None,
        index: Any = None,
    ):
        self._columns = list(columns.values()) if isinstance(columns, Mapping) else list(columns)
        if len(placeholders) != len(self._columns) + 1:
            raise ValueError(
                f"Expected {len(self._columns) + 1} placeholders; got {len(placeholders)}."
            )
        length = len(self._columns[0])
        if any(len(column) != length for column in self._columns):
            raise ValueError("Array lengths must match.")
        self._placeholders = placeholders
        self._index = np.arange(length, dtype=np.int64) if index is None else index
        self._positions = _Positions(length, batch_size, random_start, seed, num_epochs)

    def __call__(self) -> dict[Any, Any]:
        at = self._positions.next_batch()
        found = [column[at] for column in (self._index, *self._columns)]
        return dict(zip(self._placeholders, found, strict=True))


class ArrayFeed(ColumnsFeed):
    """Feeds the rows of one array; see `ColumnsFeed`."""

    def __init__(self, placeholders: Sequence[Any], array: Any, *args: Any, **kwargs: Any):
        if len(placeholders) != 2:
            raise ValueError(f"_array_feed_fn expects 2 placeholders; got {len(placeholders)}.")
        super().__init__(placeholders, [array], *args, **kwargs)


class DataFrameFeed(ColumnsFeed):
    """Feeds the rows of a data frame of pandas; see `ColumnsFeed`."""

    def __init__(
        self,
        placeholders: Sequence[Any],
        dataframe: Any,
        batch_size: int,
        random_start: bool = False,
        seed: Any = None,
        num_epochs: int | None = None,
    ):
        columns = [dataframe[column].values for column in dataframe.columns]
        index = dataframe.index.values
        super().__init__(placeholders, columns, batch_size, random_start, seed, num_epochs, index)


class GeneratorFeed:
    """Feeds what a generator function gives: dictionaries with the values of a row.

    Args:
      placeholders: one for each key, in the order of the keys.
      generator: makes a new generator for each epoch.
      batch_size: how many values at a time.
      num_epochs: how often to go through the data; for ever if None.
      pad_value: fills up sequences of other lengths than the longest of a batch.
    """

    def __init__(
        self,
        placeholders: Sequence[Any],
        generator: Callable[[], Any],
        batch_size: int,
        random_start: bool = False,
        seed: Any = None,
        num_epochs: int | None = None,
        pad_value: Any = None,
    ):
        first = next(generator())
        if len(placeholders) != len(first):
            raise ValueError(f"Expected {len(first)} placeholders; got {len(placeholders)}.")
        self._keys = sorted(first)
        self._placeholders = placeholders
        self._generator = generator
        self._rows = generator()
        self._batch_size = batch_size
        self._num_epochs = num_epochs
        self._epoch = 0
        self._pad_value = pad_value

    def _next_row(self) -> Any:
        for row in self._rows:
            return row
        self._epoch += 1
        self._rows = self._generator()
        return next(self._rows)

    def __call__(self) -> dict[Any, Any]:
        if self._num_epochs and self._epoch >= self._num_epochs:
            raise errors.OutOfRangeError(None, None, f"Already emitted {self._epoch} epochs.")
        found: dict[Any, list[Any]] = {placeholder: [] for placeholder in self._placeholders}
        number = 0
        while number < self._batch_size:
            row = self._next_row()
            for placeholder, key in zip(self._placeholders, self._keys, strict=True):
                if key not in row:
                    raise KeyError(
                        "key mismatch between dicts emitted by GenFun Expected "
                        f"{self._keys} keys; got {row.keys()}"
                    )
                found[placeholder].append(row[key])
                number += 1
        if self._pad_value is not None:
            found = {key: pad_if_needed(each, self._pad_value) for key, each in found.items()}
        return {key: np.asarray(each) for key, each in found.items()}


def fill_array(arr: Any, seq: Any, fillvalue: Any = 0) -> None:
    """Copies nested sequences to an array, and fills up those that are shorter than its axes."""
    if arr.ndim == 1:
        length = len(seq) if hasattr(seq, "__len__") else 0
        arr[:length] = seq
        arr[length:] = fillvalue
    else:
        for part, inner in itertools.zip_longest(arr, seq, fillvalue=()):
            fill_array(part, inner, fillvalue)


def pad_if_needed(batch_key_item: Any, fillvalue: Any = 0) -> Any:
    """Arrays that differ in the last axis alone as one array, where the shorter are filled up."""
    outer: list[Any] = [each.shape[:-1] if each.shape else -1 for each in batch_key_item]
    if any(shape != outer[0] for shape in outer):
        raise ValueError("Array shapes must match.")
    lengths = [each.shape[-1] if each.shape else 0 for each in batch_key_item]
    if all(length == lengths[0] for length in lengths):
        return batch_key_item
    shape = [len(batch_key_item), *outer[0], max(lengths)]
    filled = np.zeros(shape, batch_key_item[0].dtype)
    fill_array(filled, batch_key_item, fillvalue)
    return filled
