"""The values of features, gathered from messages into arrays.

A feature is a `tensorflow.Feature` message. Its values are floats, integers or strings; for each
type a gatherer appends what messages hold, and defaults, and makes one array of it all.
"""

import numpy as np
import torch

from penstock import dtypes, errors
from penstock.kernels.string_arrays import string_vector


def invalid(message):
    return errors.InvalidArgumentError(None, None, message)


class _Floats:
    """Floats, copied as the bytes that the message itself packs them in."""

    def __init__(self):
        self._parts = []

    def add(self, values, count):
        if count:
            self._parts.append(values.SerializeToString()[-4 * count :])

    def add_prepared(self, prepared, times=1):
        self._parts.append(prepared * times)

    @staticmethod
    def prepared(array):
        """A default in the form that `add_prepared` takes."""
        return array.astype("<f4").tobytes()

    def array(self):
        return torch.from_numpy(np.frombuffer(bytearray().join(self._parts), np.float32))


class _Entries:
    """Values in a Python list."""

    def __init__(self):
        self._entries = []

    def add(self, values, count):
        self._entries += values.value[:]

    def add_prepared(self, prepared, times=1):
        self._entries += prepared * times

    @staticmethod
    def prepared(array):
        return array.ravel().tolist()


class _Integers(_Entries):
    def array(self):
        return torch.from_numpy(np.array(self._entries, dtype=np.int64))


class _Strings(_Entries):
    def array(self):
        return string_vector(self._entries)


class Kind:
    """How features of one type are read: the field that holds them, their names in errors."""

    def __init__(self, dtype, field, name, values_name, gatherer):
        self.dtype = dtype
        self.field = field
        self.name = name
        self.values_name = values_name
        self.gatherer = gatherer


KINDS = {
    dtypes.float32: Kind(dtypes.float32, "float_list", "float", "float", _Floats),
    dtypes.int64: Kind(dtypes.int64, "int64_list", "int64", "int64", _Integers),
    dtypes.string: Kind(dtypes.string, "bytes_list", "string", "bytes", _Strings),
}
NAME_OF_FIELD = {kind.field: kind.name for kind in KINDS.values()}


class WrongKind(Exception):
    """A feature holds values of another type than asked for; `given` is that type's name."""

    def __init__(self, given):
        super().__init__(given)
        self.given = given


def values_of(feature, field):
    """The list message of a feature; None where it holds nothing, WrongKind where another type."""
    held = feature.WhichOneof("kind")
    if held == field:
        return getattr(feature, field)
    if held is None:
        return None
    raise WrongKind(NAME_OF_FIELD[held])


def sparse_matrix_parts(counts):
    """The indices and the shape of the sparse matrix whose rows hold `counts` values."""
    counts = np.asarray(counts, dtype=np.int64)
    total = int(counts.sum())
    indices = np.empty((total, 2), dtype=np.int64)
    indices[:, 0] = np.repeat(np.arange(len(counts)), counts)
    indices[:, 1] = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    shape = np.array([len(counts), counts.max(initial=0)], dtype=np.int64)
    return torch.from_numpy(indices), torch.from_numpy(shape)


def row_splits(counts, dtype):
    """Where each row starts, and the end of the last."""
    return torch.from_numpy(np.cumsum([0, *counts]).astype(np.int64)).to(dtype)
