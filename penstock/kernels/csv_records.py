"""The kernel of comma-separated records."""

import itertools

import numpy as np

from penstock import dtypes, errors
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.string_arrays import attr_bytes, strings_like
from penstock.kernels.string_numbers import INTEGER_RANGE, number_parser, rounded
from penstock.kernels.values import from_array, to_array

_TYPE_NAMES = {
    dtypes.float32: "float",
    dtypes.float64: "double",
    dtypes.int32: "int32",
    dtypes.int64: "int64",
}


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


@kernel("DecodeCSV", devices=HOST)
def _(node):
    attrs = node.attrs
    split = _splitter(attrs)
    columns = [_Column(i, dtype) for i, dtype in enumerate(attrs["OUT_TYPE"])]
    not_there = frozenset((b"", attr_bytes(attrs["na_value"])))

    def run(records, *defaults):
        _check_defaults(defaults)
        rows = [split(record) for record in records.ravel()]
        for i, row in enumerate(rows):
            if len(row) != len(columns):
                raise _invalid(f"Expect {len(columns)} fields but have {len(row)} in record {i}")
        fields = list(zip(*rows, strict=True)) or [()] * len(columns)
        # Python reads 1_000 as a number, TensorFlow does not.
        plain = not any(b"_" in record for record in records.ravel())
        values = [
            column.read(entries, default, not_there, records, plain)
            for column, entries, default in zip(columns, fields, defaults, strict=True)
        ]
        return values if len(values) > 1 else values[0]

    return run


def fields_reader(types, defaults, na_value):
    """The function that reads the fields of one record: a tuple with a scalar for each column."""
    columns = [_Column(i, dtype, numbered=False) for i, dtype in enumerate(types)]
    not_there = frozenset((b"", na_value))
    _check_defaults(defaults)
    scalar = np.empty((), dtype=object)

    def read(fields):
        return tuple(
            [
                column.read((field,), default, not_there, scalar, b"_" not in field)
                for column, field, default in zip(columns, fields, defaults, strict=True)
            ]
        )

    return read


def _check_defaults(defaults):
    for i, default in enumerate(defaults):
        array = to_array(default)
        if array.ndim > 1:
            raise _invalid(f"Each record default should be at most rank 1, field {i} has more")
        if array.size > 1:
            raise _invalid(
                f"There should only be 1 default per field but field {i} has {array.size}"
            )


class _Column:
    """Reads the fields of one column."""

    def __init__(self, index, dtype, *, numbered=True):
        self._index = index
        self._dtype = dtype
        self._numbered = numbered  # whether errors say which record
        self._parse = None if dtype is dtypes.string else number_parser(dtype)

    def read(self, fields, default, not_there, records, plain):
        if not not_there.isdisjoint(fields):
            fields, plain = self._filled(fields, default, not_there), False
        if self._parse is None:
            return strings_like(records, fields)
        numbers = self._plain_numbers(fields) if plain else None
        if numbers is None:
            numbers = self._numbers(fields)
        return from_array(rounded(numbers, self._dtype.as_numpy_dtype).reshape(records.shape))

    def _plain_numbers(self, fields):
        """What Python reads in the fields; None where it can't, or where it may read too much."""
        try:
            if self._dtype.is_floating:
                return [*map(float, fields)]
            numbers = [*map(int, fields)]
        except ValueError:
            return None
        low, high = INTEGER_RANGE[self._dtype]
        return numbers if all(low <= number < high for number in numbers) else None

    def _numbers(self, fields):
        parse = self._parse
        try:
            return [parse(f) if type(f) is bytes else f for f in fields]
        except ValueError:
            raise self._unreadable(fields) from None

    def _filled(self, fields, default, not_there):
        """The fields with the default, a value, in place of those that are missing."""
        value = to_array(default)
        if not value.size:
            missing = next(i for i, field in enumerate(fields) if field in not_there)
            raise _invalid(
                f"Field {self._index} is required but missing in {self._record(missing)}!"
            )
        filling = value.reshape(-1).tolist()[0]
        return [filling if field in not_there else field for field in fields]

    def _record(self, number):
        return f"record {number}" if self._numbered else "record"

    def _unreadable(self, fields):
        for i, field in enumerate(fields):
            try:
                self._parse(field)
            except ValueError:
                shown = field.decode(errors="backslashreplace")
                name = _TYPE_NAMES[self._dtype]
                where = f"Field {self._index} in {self._record(i)}"
                return _invalid(f"{where} is not a valid {name}: {shown}")
            except TypeError:  # a default
                continue
        raise AssertionError("every field is readable")


# Fields -----------------------------------------------------------------------------------------


def _splitter(attrs):
    """The function that splits a record into the fields of the chosen columns."""
    delimiter = attr_bytes(attrs["field_delim"])
    if len(delimiter) != 1:
        raise _invalid("field_delim should be only 1 char")
    chosen = _checked_selection(attrs["select_cols"], len(attrs["OUT_TYPE"]))
    quotes = attrs["use_quote_delim"]
    special = (b"\n", b"\r", b'"') if quotes else (b"\n", b"\r")

    def split(record):
        if any(mark in record for mark in special):
            return _fields(record, delimiter, quotes, chosen)
        if not record:
            return []
        fields = record.split(delimiter)
        if chosen is None:
            return fields
        return [fields[i] for i in chosen if i < len(fields)]

    return split


def _checked_selection(columns, count):
    if not columns:
        return None
    if len(columns) != count:
        raise _invalid("select_cols should match output size")
    if any(column < 0 for column in columns):
        raise _invalid("select_cols should be non-negative indices")
    if any(a >= b for a, b in itertools.pairwise(columns)):
        raise _invalid("select_cols should be strictly increasing indices")
    return columns


def _fields(record, delimiter, quotes, chosen):
    """The fields of a record with quotes or line ends in it, by TensorFlow's rules."""
    fields, at, number = [], 0, 0
    last = None if chosen is None else chosen[-1]
    while at < len(record):
        if record[at : at + 1] in (b"\n", b"\r"):
            at += 1
            continue
        if quotes and record[at : at + 1] == b'"':
            field, at = _quoted(record, at + 1, delimiter)
        else:
            field, at = _unquoted(record, at, delimiter, quotes)
        if chosen is None or number in chosen:
            fields.append(field)
        if number == last:
            return fields
        number += 1
    if record.endswith(delimiter) and (chosen is None or number in chosen):
        fields.append(b"")
    return fields


def _unquoted(record, start, delimiter, quotes):
    end = record.find(delimiter, start)
    field = record[start:] if end < 0 else record[start:end]
    if b"\n" in field or b"\r" in field or (quotes and b'"' in field):
        raise _invalid("Unquoted fields cannot have quotes/CRLFs inside")
    return field, start + len(field) + 1


def _quoted(record, start, delimiter):
    at = start
    while True:
        end = record.find(b'"', at)
        if end < 0:
            raise _invalid("Quoted field has to end with quote followed by delim or end")
        after = record[end + 1 : end + 2]
        if after in (b"", delimiter):
            return record[start:end].replace(b'""', b'"'), end + 2
        if after != b'"':
            raise _invalid("Quote inside a string has to be escaped by another quote")
        at = end + 2
