"""Datasets of the keys and values of LMDB databases."""

from __future__ import annotations

from itertools import islice

from penstock.kernels.datasets.readers import file_names, scalar_string
from penstock.kernels.datasets.recipes import dataset_kernel
from penstock.platform.lmdb_files import LmdbReader
from penstock.state.datasets import Context, Dataset, Elements


class _Entries(Elements):
    """The entries of one database after the other; the place is the number of those read."""

    def __init__(self, names):
        self._names = names
        self._file = self._read = 0
        self._reader = None

    def next(self):
        while self._file < len(self._names):
            if self._reader is None:
                self._reader = LmdbReader(self._names[self._file])
            for key, value in self._reader:
                self._read += 1
                return scalar_string(key), scalar_string(value)
            self.close()
            self._file, self._read = self._file + 1, 0
        return None

    def save(self):
        return [self._file, self._read]

    def restore(self, state):
        self.close()
        self._file, self._read = state
        if self._file < len(self._names):
            self._reader = LmdbReader(self._names[self._file])
            next(islice(self._reader, self._read, self._read), None)

    def close(self):
        if self._reader is not None:
            self._reader.close()
            self._reader = None


class _LmdbDataset(Dataset):
    def __init__(self, names):
        self._names = names

    def iterate(self, context: Context) -> Elements:
        return _Entries(self._names)


@dataset_kernel("LMDBDataset", "ExperimentalLMDBDataset")
def _(node):
    return lambda filenames: _LmdbDataset(file_names(filenames))
