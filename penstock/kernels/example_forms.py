"""Many Examples of the same form, read at once.

Examples that one program wrote mostly differ in their values alone: what lies between them, tags
and lengths and keys, is the same, byte for byte. A `_Form` tells where the values are in records
that look like it. Records of equal length are the rows of a matrix of bytes; whether they have the
form is one comparison, and a feature of all of them is some of the matrix's columns.

Only dense features of numbers are read so. Whatever is unusual (a feature that is missing, of
another type or size) is left to the general way, which knows all forms and words all errors.
"""

from __future__ import annotations

import numpy as np
import torch

from penstock import dtypes
from penstock.kernels.packed_features import KINDS, integers_in_rows

_FEWEST = 16  # records for which forms are worth while
_MOST_FORMS = 32  # of records of one length; and lengths of records that are read together
_MOST_LENGTHS = 256  # whose forms are kept
_MESSAGE, _KEY, _VALUE = 0x0A, 0x0A, 0x12  # tags: field 1 or 2, with a length
_CONTINUED = 0x80  # the bit of a varint's byte that is not its last
_TYPES = {dtypes.float32: np.float32, dtypes.int64: np.int64}


class _Unusual(Exception):
    """A record is not of a form that can be read here."""


class _Form:
    """Where the values of some columns are in records of one length.

    `same` are the bytes that all such records share; `differs` tells which bytes are values.
    """

    def __init__(self, record, columns):
        self.same = np.frombuffer(record, np.uint8)
        self.differs = np.zeros(len(record), bool)
        features = _features(record)
        for start, end in features.values():
            self.differs[start:end] = True
        self.places = []  # of the values of each column: begin and end
        for column in columns:
            start, end = features.get(column.key, (0, 0))
            values = column.kind.usual_payload(record[start:end]) if end > start else None
            if not values:
                raise _Unusual
            self.places.append((end - len(values), end))
            self.differs[start : end - len(values)] = False

    def is_of(self, matrix):
        """Which rows of a matrix of bytes have this form."""
        return ((matrix == self.same) | self.differs).all(1)


def _features(record):
    """Where the Feature messages of a serialized Example begin and end, by their keys."""
    found, place = {}, _message(record, 0, len(record), _MESSAGE)
    while place < len(record):
        end_of_entry, place = _field(record, place, _MESSAGE)
        end_of_key, start = _field(record, place, _KEY)
        key = _decoded(record[start:end_of_key])
        end, start = _field(record, end_of_key, _VALUE)
        if end != end_of_entry or key in found:
            raise _Unusual
        found[key] = start, end
        place = end_of_entry
    return found


def _message(record, place, end, tag):
    """Where the contents begin of a field that fills all bytes up to `end`."""
    found_end, start = _field(record, place, tag)
    if found_end != end:
        raise _Unusual
    return start


def _field(record, place, tag):
    """Where a field ends, and where its contents begin."""
    if place >= len(record) or record[place] != tag:
        raise _Unusual
    length = shift = 0
    for start in range(place + 1, min(place + 6, len(record))):
        length |= (record[start] & ~_CONTINUED) << shift
        if record[start] < _CONTINUED:
            end = start + 1 + length
            if end > len(record):
                raise _Unusual
            return end, start + 1
        shift += 7
    raise _Unusual


def _decoded(key):
    try:
        return key.decode()
    except UnicodeDecodeError:
        raise _Unusual from None


class ExampleForms:
    """Reads dense columns of numbers out of serialized Examples, by the forms that it has seen."""

    def __init__(self, columns):
        self._columns = columns
        self._forms = {}  # lists of them by the length of records

    @staticmethod
    def can_read(columns):
        return bool(columns) and all(
            column.kind.dtype in _TYPES and column.count for column in columns
        )

    def read(self, records):
        """A batch for each column; None where the general way has to be gone."""
        count = len(records)
        if count < _FEWEST:
            return None
        lengths = np.fromiter(map(len, records), np.int64, count)
        kinds = np.unique(lengths)
        if len(kinds) > _MOST_FORMS or len(kinds) * _FEWEST > 2 * count or not kinds[0]:
            return None
        batches = [
            np.empty((count, column.count), _TYPES[column.kind.dtype]) for column in self._columns
        ]
        try:
            for length in kinds.tolist():
                self._read_into(batches, records, np.flatnonzero(lengths == length), length)
        except _Unusual:
            return None
        return [
            torch.from_numpy(batch.reshape(count, *column.shape))
            for column, batch in zip(self._columns, batches, strict=True)
        ]

    def _read_into(self, batches, records, rows, length):
        """Reads the records at the places `rows`, all of one length."""
        is_all = len(rows) == len(records)
        data = b"".join(records if is_all else [records[row] for row in rows.tolist()])
        matrix = np.frombuffer(data, np.uint8).reshape(len(rows), length)
        if len(self._forms) > _MOST_LENGTHS:
            self._forms = {}
        forms = self._forms.setdefault(length, [])
        for place in range(_MOST_FORMS):
            if place == len(forms):
                forms.append(_Form(matrix[0].tobytes(), self._columns))
            form = forms[place]
            fits = form.is_of(matrix)
            if fits.all():
                self._values_into(batches, slice(None) if is_all else rows, matrix, form)
                return
            self._values_into(batches, rows[fits], matrix[fits], form)
            rows, matrix, is_all = rows[~fits], matrix[~fits], False
        raise _Unusual

    def _values_into(self, batches, rows, matrix, form):
        for batch, column, (start, end) in zip(batches, self._columns, form.places, strict=True):
            batch[rows] = _READERS[column.kind.dtype](matrix[:, start:end], column.count)


def _floats(octets, count):
    if octets.shape[1] != 4 * count:
        raise _Unusual
    return np.ascontiguousarray(octets).view("<f4")


def _integers(octets, count):
    values = integers_in_rows(octets, count)
    if values is None:
        raise _Unusual
    return values


_READERS = {dtypes.float32: _floats, dtypes.int64: _integers}
assert _READERS.keys() == _TYPES.keys() < KINDS.keys()
