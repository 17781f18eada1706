"""Kernels of assertions and printing."""

import itertools
import math
import sys

from penstock import errors
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.values import to_array


def summarize(value, limit):
    """The first `limit` elements of a value as TensorFlow prints them: `[1 -2...]`."""
    array = to_array(value)
    if array.ndim == 0:
        return element_text(array[()])
    limit = array.size if limit < 0 else limit
    shown = [element_text(entry) for entry in itertools.islice(array.flat, limit)]
    more = "..." if array.size > limit else ""
    return (" ".join(shown) if array.ndim == 1 else _rows(shown, array.shape)) + more


def _rows(shown, shape):
    """The shown elements in brackets, one pair for each row that they reach."""
    size = math.prod(shape[1:])
    rows = [shown[start : start + size] for start in range(0, len(shown), size)]
    if len(shape) == 2:
        cut = ["..." if len(row) < size else "" for row in rows]
        return "".join(f"[{' '.join(row)}{more}]" for row, more in zip(rows, cut, strict=True))
    return "".join(f"[{_rows(row, shape[1:])}]" for row in rows)


# What stands in a printed string for quotes and for characters that can't be seen, as in C.
_ESCAPED = {code: f"\\{code:03o}" for code in (*range(32), 127)} | {
    ord("\n"): "\\n",
    ord("\r"): "\\r",
    ord("\t"): "\\t",
    ord('"'): '\\"',
    ord("'"): "\\'",
    ord("\\"): "\\\\",
}


def element_text(entry):
    """One element as TensorFlow prints it."""
    if isinstance(entry, bytes):
        return entry.decode(errors="replace").translate(_ESCAPED)
    if hasattr(entry, "dtype") and entry.dtype.kind == "b":
        return str(int(entry))
    if hasattr(entry, "dtype") and entry.dtype.kind == "f":
        # The shorter form where it reads back as the same number.
        short, full = (15, 17) if entry.dtype.itemsize > 4 else (6, 9)
        text = f"{float(entry):.{short}g}"
        return text if type(entry)(text) == entry else f"{float(entry):.{full}g}"
    return str(entry)


@kernel("Assert")  # of a GPU's nodes too: the host runs it beside them
def _(node):
    limit = node.attrs["summarize"]

    def run(condition, *data):
        if not condition.item():
            shown = " ".join(f"[{summarize(value, limit)}]" for value in data)
            raise errors.InvalidArgumentError(None, None, f"assertion failed: {shown}")

    return run


@kernel("Print", devices=HOST)
def _(node):
    message, first_n, limit = (node.attrs[key] for key in ("message", "first_n", "summarize"))
    calls = itertools.count()

    def run(input, *data):
        if first_n < 0 or next(calls) < first_n:
            shown = "".join(f"[{summarize(value, limit)}]" for value in data)
            sys.stderr.write(f"{message}{shown}\n")
        return input

    return run
