"""Datasets of the rows that a query of a SQLite database gives."""

from __future__ import annotations

import re
import sqlite3
from urllib.parse import quote

import numpy as np

from penstock import dtypes, errors
from penstock.kernels.datasets.readers import scalar_string
from penstock.kernels.datasets.recipes import dataset_kernel
from penstock.kernels.sparse_rows import invalid
from penstock.kernels.values import from_array
from penstock.state.datasets import Context, Dataset, Elements

_INTEGER = re.compile(rb"\s*([+-]?\d+)")
_NUMBER = re.compile(rb"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)")
_LARGEST, _SMALLEST = 2**63 - 1, -(2**63)


# SQLite gives a column as whatever type it is asked for; so do these functions.


def _as_text(value):
    if value is None:
        return b""
    if isinstance(value, bytes):
        return value
    if isinstance(value, int):
        return str(value).encode()
    mantissa, exponent, power = f"{value:.15g}".partition("e")
    point = "" if "." in mantissa else ".0"
    return f"{mantissa}{point}{exponent}{power}".encode()


def _as_integer(value):
    if value is None:
        return 0
    if isinstance(value, bytes):
        found = _INTEGER.match(value)
        value = int(found[1]) if found else 0
    return max(_SMALLEST, min(_LARGEST, int(value)))


def _as_number(value):
    if value is None:
        return 0.0
    if isinstance(value, bytes):
        found = _NUMBER.match(value)
        return float(found[1]) if found else 0.0
    return float(value)


def _wrapped(dtype):
    """A function from a column's value to a scalar of an integer type, of which it has the bits."""
    element = np.dtype(dtype.as_numpy_dtype)
    return lambda value: from_array(np.array(_as_integer(value), np.int64).astype(element))


_READERS = {
    dtypes.string: lambda value: scalar_string(_as_text(value)),
    dtypes.float64: lambda value: from_array(np.array(_as_number(value))),
    # A boolean is asked for as an integer of 32 bits.
    dtypes.bool: lambda value: from_array(np.array(_as_integer(value) != 0)),
    **{
        dtype: _wrapped(dtype)
        for dtype in (
            *(dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64),
            *(dtypes.uint8, dtypes.uint16),
        )
    },
}


class _Rows(Elements):
    """The rows of a query's result, from a connection of its own."""

    def __init__(self, path, query, readers):
        self._path, self._query, self._readers = path, query, readers
        self._connection = None
        self._cursor = None
        self._count = 0

    def next(self):
        if self._cursor is None:
            try:
                self._open()
            except errors.OpError:
                self.close()
                raise
        try:
            row = self._cursor.fetchone()
        except sqlite3.Error as error:
            raise errors.UnknownError(None, None, f"Step() failed: {error}") from error
        if row is None:
            return None
        self._count += 1
        return tuple(read(value) for read, value in zip(self._readers, row, strict=True))

    def _open(self):
        try:
            # Elements are asked for by one thread at a time, but not always by the same.
            self._connection = sqlite3.connect(
                f"file:{quote(self._path)}?mode=ro", uri=True, check_same_thread=False
            )
            self._connection.execute("PRAGMA schema_version").fetchone()
        except sqlite3.Error as error:
            raise invalid(f"Sqlite::Open({self._path}) failed: {error}") from error
        self._connection.text_factory = bytes
        columns = self._start()
        if columns != len(self._readers):
            raise invalid(
                f"The number of columns in query ({columns}) must match the number of elements in "
                f"output_types ({len(self._readers)})."
            )

    def _start(self):
        """Starts the query; the number of columns of its result."""
        try:
            self._cursor = self._connection.execute(self._query)
        except sqlite3.Error as error:
            if "readonly" in str(error):  # it writes, so it has no result
                return 0
            raise errors.UnknownError(
                None, None, f"Prepare() failed: {error}: {self._query}"
            ) from error
        return len(self._cursor.description or ())

    def save(self):
        return self._count

    def restore(self, state):
        while self._count < state and self.next() is not None:
            pass

    def close(self):
        if self._connection is not None:
            self._connection.close()
            self._connection = self._cursor = None


class _QueryDataset(Dataset):
    def __init__(self, path, query, readers):
        self._path, self._query, self._readers = path, query, readers

    def iterate(self, context: Context) -> Elements:
        return _Rows(self._path, self._query, self._readers)


@dataset_kernel("SqlDataset", "ExperimentalSqlDataset")
def _(node):
    types = node.attrs["output_types"]
    unknown = [dtype for dtype in types if dtype not in _READERS]
    if unknown:
        raise invalid(
            "Each element of `output_types_` must be one of: DT_STRING, DT_INT8, DT_INT16, "
            "DT_INT32, DT_INT64, DT_UINT8, DT_UINT16, DT_BOOL, DT_DOUBLE"
        )
    readers = [_READERS[dtype] for dtype in types]

    def run(driver, source, query):
        kind = driver.item().decode()
        if kind != "sqlite":
            raise invalid(
                f"The database type, {kind}, is not supported by SqlDataset. The set of supported "
                "databases is: {'sqlite'}."
            )
        return _QueryDataset(source.item().decode(), query.item().decode(), readers)

    return run
