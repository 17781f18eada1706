"""The type that variables of mixed precision are read in, in this thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _Reading(threading.local):
    """`dtype` is None where variables are read in their own types."""

    dtype: Any = None


_reading = _Reading()


def read_dtype() -> Any:
    """The type, or None."""
    return _reading.dtype


@contextmanager
def reading_as(dtype: Any) -> Iterator[None]:
    """A block in which such variables are read in a type; None for their own."""
    before, _reading.dtype = _reading.dtype, dtype
    try:
        yield
    finally:
        _reading.dtype = before
