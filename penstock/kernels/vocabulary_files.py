"""Vocabulary files: one entry per line, its key and value being columns, the line or its number."""

import os

import numpy as np

from penstock import dtypes, errors
from penstock.kernels.sparse_rows import invalid

WHOLE_LINE, LINE_NUMBER = -2, -1
_PYTHON_TYPE = {dtypes.float32: float, dtypes.float64: float, dtypes.int32: int, dtypes.int64: int}


def read_vocabulary(
    filename, key_dtype, value_dtype, *, key_index, value_index, vocab_size, delimiter, offset
):
    """The keys and values in a file: `vocab_size` of them, or all if that is -1."""
    path = os.fsdecode(filename)
    separator = delimiter if isinstance(delimiter, bytes) else delimiter.encode()
    if len(separator) != 1:
        raise invalid("delimiter should be only 1 char")
    _check_index("Key", "key", key_index, key_dtype)
    _check_index("Value", "value", value_index, value_dtype)
    lines = _lines(path, vocab_size)
    rows = [line.split(separator) for line in lines] if max(key_index, value_index) >= 0 else []
    wanted = max(key_index, value_index)
    for number, row in enumerate(rows):
        if len(row) <= wanted:
            raise invalid(
                f"Invalid number of columns in {path} line {number} "
                f"({_text(lines[number])}) : expected at least {wanted + 1} got {len(row)}"
            )
    keys = _column(lines, rows, key_index, key_dtype, offset)
    return keys, _column(lines, rows, value_index, value_dtype, offset)


def _check_index(title, name, index, dtype):
    if index == LINE_NUMBER and dtype is not dtypes.int64:
        raise invalid(
            f"{title} index for line number requires table {name} dtype of int64, got {dtype.name}"
        )
    if index == WHOLE_LINE and not (dtype.is_integer or dtype is dtypes.string):
        raise invalid(
            f"{title} index for whole line requires table {name} dtype of integer or string, got "
            f"{dtype.name}"
        )


def _text(line):
    return line.decode(errors="replace")


def _lines(path, vocab_size):
    """The lines of a file, without their ends."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except FileNotFoundError:
        raise errors.NotFoundError(None, None, f"{path}; No such file or directory") from None
    except IsADirectoryError:
        raise errors.FailedPreconditionError(None, None, f"{path}; Is a directory") from None
    except PermissionError:
        raise errors.PermissionDeniedError(None, None, f"{path}; Permission denied") from None
    lines = content.split(b"\n")
    if not lines[-1]:
        lines.pop()
    if not lines:
        raise errors.OutOfRangeError(None, None, f"{path} has no lines")
    if vocab_size > len(lines):
        raise invalid(f"Invalid vocab_size in {path}: expected {vocab_size} but got {len(lines)}")
    if vocab_size >= 0:
        lines = lines[:vocab_size]
    lines = [line.removesuffix(b"\r") for line in lines]
    if b"" in lines:
        position = sum(len(line) + 1 for line in lines[: lines.index(b"") + 1])
        raise invalid(f"Invalid content in {path}: empty line found at position {position}.")
    return lines


def _column(lines, rows, index, dtype, offset):
    if index == LINE_NUMBER:
        return np.arange(offset, offset + len(lines), dtype=np.int64)
    fields = lines if index == WHOLE_LINE else [row[index] for row in rows]
    if dtype is dtypes.string:
        result = np.empty(len(fields), dtype=object)
        result[:] = fields
        return result
    return np.array([_number(field, i, dtype) for i, field in enumerate(fields)]).astype(
        dtype.as_numpy_dtype
    )


def _number(field, line, dtype):
    convert = _PYTHON_TYPE.get(dtype)
    if convert is None:
        raise invalid(f"Data type {dtype.name} not supported.")
    try:
        return convert(field)
    except ValueError:
        kind = {dtypes.float32: "float", dtypes.float64: "double"}.get(dtype, dtype.name)
        raise invalid(f"Field {_text(field)} in line {line} is not a valid {kind}.") from None
