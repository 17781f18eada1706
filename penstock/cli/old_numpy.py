"""Names that NumPy has removed since TensorFlow 1.x programs were written."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

REMOVED: dict[str, Any] = {
    "bool": bool,
    "complex": complex,
    "float": float,
    "int": int,
    "long": int,
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
            # Some names came back with another meaning than they had (np.bool, np.long).
            if not hasattr(np, name) or name in ("bool", "long"):
                setattr(np, name, value)
                restored.append(name)
    return restored
