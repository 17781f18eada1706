"""`tf.keras.utils.HDF5Matrix`: a dataset of a file, in place of an array."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

__all__ = ["HDF5Matrix"]


class HDF5Matrix:
    """Rows of a dataset of an HDF5 file, read when they are asked for.

    Args:
      datapath: the file.
      dataset: the dataset's name in it.
      start: the first row to use.
      end: the row after the last to use.
      normalizer: a function of the rows that are read.
    """

    #: The open files, by path: matrices of one file share it.
    refs: ClassVar[dict[str, Any]] = {}

    def __init__(
        self,
        datapath: str,
        dataset: str,
        start: int = 0,
        end: int | None = None,
        normalizer: Callable[[Any], Any] | None = None,
    ):
        h5py = import_module("h5py")
        if not self.refs.get(datapath):  # an h5py file is false once it is closed
            self.refs[datapath] = h5py.File(datapath, "r")
        self.data = self.refs[datapath][dataset]
        self.start = start
        self.end = self.data.shape[0] if end is None else end
        self.normalizer = normalizer

    def __len__(self) -> int:
        return self.end - self.start

    def __getitem__(self, key: Any) -> Any:
        rows = self.data[self._index(key)]
        return rows if self.normalizer is None else self.normalizer(rows)

    def _index(self, key: Any) -> Any:
        """The place in the dataset of rows of the matrix; IndexError outside of it."""
        if isinstance(key, slice):
            start = key.start or 0
            stop = len(self) if key.stop is None else key.stop
            if stop > len(self):
                raise IndexError(f"rows up to {stop} of {len(self)}")
            return slice(start + self.start, stop + self.start)
        if isinstance(key, (int, np.integer)):
            if key >= len(self):
                raise IndexError(f"row {key} of {len(self)}")
            return key + self.start
        rows = np.asarray(key)
        if rows.max() >= len(self):
            raise IndexError(f"row {rows.max()} of {len(self)}")
        return (rows + self.start).tolist()

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self), *self.data.shape[1:])

    @property
    def dtype(self) -> Any:
        return self.data.dtype

    @property
    def ndim(self) -> int:
        return int(self.data.ndim)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))


def ask_to_proceed_with_overwrite(filepath: str) -> bool:
    """Asks the user whether a file may be written over."""
    answer = input(f"[WARNING] {filepath} already exists - overwrite? [y/n]").strip().lower()
    while answer not in ("y", "n"):
        answer = input('Enter "y" (overwrite) or "n" (cancel).').strip().lower()
    return answer == "y"
