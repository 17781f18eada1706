"""Names that NumPy has removed since TensorFlow 1.x programs were written."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

REMOVED: dict[str, Any] = {
    "complex": complex,
    "float": float,
    "int": int,
    "object": object,
    "str": str,
    "unicode": str,
    "bool8": np.bool_,
    "complex_": np.complex128,
    "float_": np.float64,
    "string_": np.bytes_,
    "unicode_": np.str_,
    "Inf": np.inf,
    "Infinity": np.inf,
    "NaN": np.nan,
    "NINF": -np.inf,
    "PINF": np.inf,
    "alltrue": np.all,
    "sometrue": np.any,
    "product": np.prod,
    "cumproduct": np.cumprod,
    "asscalar": lambda array: array.item(),
    "asfarray": lambda array, dtype=np.float64: np.asarray(array, dtype=dtype),
    "row_stack": np.vstack,
}


def restore() -> list[str]:
    """Gives NumPy the names back that it lacks; which ones."""
    restored = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, value in REMOVED.items():
            if not hasattr(np, name):  # np.bool is back, and NumPy's own code uses it
                setattr(np, name, value)
                restored.append(name)
    return restored
