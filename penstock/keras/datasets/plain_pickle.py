"""Pickled data without code: arrays, lists, numbers and text, and no other objects."""

from __future__ import annotations

import io
import pickle
from typing import Any

_ALLOWED = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy.core.multiarray", "scalar"),
    ("numpy._core.multiarray", "scalar"),
    ("_codecs", "encode"),
}


class _PlainUnpickler(pickle.Unpickler):
    """Refuses whatever isn't data."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"the file holds {module}.{name}, which is not plain data")
        return super().find_class(module, name)


def load_objects(stream: io.BufferedIOBase | io.BytesIO, encoding: str = "bytes") -> Any:
    """The data of a pickle of arrays and lists."""
    return _PlainUnpickler(stream, encoding=encoding).load()
