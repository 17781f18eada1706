"""The quick way for one Example whose features are all dense and written as usual.

A program that reads records one by one parses them one by one, too: what a batch shares is then
most of the cost. Whatever is unusual (a feature that is missing, of another type or size) is left
to the general way, which knows all forms and words all errors.
"""

import functools

import torch

from penstock import dtypes
from penstock.kernels.packed_features import FEW, KINDS, few_integers, split_examples
from penstock.kernels.string_arrays import string_scalar, string_vector

_FLOAT = 4  # bytes


class SingleExample:
    """Reads dense columns out of one serialized Example."""

    def __init__(self, columns):
        self._columns = columns
        self._readers = [
            (column.key, column.kind, functools.partial(_READERS[column.kind.dtype], column))
            for column in columns
        ]
        self._checked = ()  # the defaults that fit

    def outputs(self, serialized, defaults):
        """The value of each column; None where the general way has to be gone."""
        self._check(defaults)
        (features,) = split_examples([serialized])
        values = []
        for key, kind, read in self._readers:
            feature = features.get(key)
            payload = kind.usual_payload(feature) if feature else None
            value = None if payload is None else read(payload)
            if value is None:
                return None
            values.append(value)
        return values

    def _check(self, defaults):
        if len(defaults) == len(self._checked) and all(map(_is, defaults, self._checked)):
            return
        for i, (column, default) in enumerate(zip(self._columns, defaults, strict=True)):
            column.check_default(default, i)
        self._checked = defaults


def _is(a, b):
    return a is b


def _floats(column, payload):
    if not payload or len(payload) != _FLOAT * column.count:
        return None
    return _shaped(torch.frombuffer(bytearray(payload), dtype=torch.float32), column.shape)


def _integers(column, payload):
    if len(payload) > FEW:
        values, counts = column.kind.decoded([payload])
        return _shaped(values, column.shape) if counts[0] == column.count else None
    values = few_integers(payload)
    if not values or len(values) != column.count:
        return None
    if column.shape == ():
        return torch.tensor(values[0])
    return _shaped(torch.tensor(values), column.shape)


def _strings(column, payload):
    if column.shape == ():
        return string_scalar(payload)
    return string_vector([payload]) if column.shape == (1,) else None


def _shaped(values, shape):
    return values if len(shape) == 1 else values.reshape(shape)


_READERS = {dtypes.float32: _floats, dtypes.int64: _integers, dtypes.string: _strings}
assert _READERS.keys() == KINDS.keys()
