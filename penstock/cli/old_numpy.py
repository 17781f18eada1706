"""What NumPy has removed since TensorFlow 1.x programs were written: names, arrays of old."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
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
    "alen": len,
    "cfloat": np.complex128,
    "fastCopyAndTranspose": lambda array: np.array(array).T.copy(),
    "find_common_type": lambda array_types, scalar_types: np.result_type(
        *array_types, *scalar_types
    ),
    "in1d": np.isin,
    "infty": np.inf,
    "longcomplex": np.clongdouble,
    "longfloat": np.longdouble,
    "mat": np.asmatrix,
    "msort": lambda array: np.sort(array, axis=0),
    "rank": np.ndim,
    "round_": np.round,
    "singlecomplex": np.complex64,
    "sctypes": {
        "int": [np.int8, np.int16, np.int32, np.int64],
        "uint": [np.uint8, np.uint16, np.uint32, np.uint64],
        "float": [np.float16, np.float32, np.float64, np.longdouble],
        "complex": [np.complex64, np.complex128, np.clongdouble],
        "others": [bool, object, bytes, str, np.void],
    },
    "typeDict": np.sctypeDict,
}

#: What makes an array of a sequence.
_MAKERS = ("array", "asarray", "asanyarray")


def _as_of_old(make: Callable[..., Any]) -> Callable[..., Any]:
    """Makes arrays as NumPy 1 did.

    Rows of different lengths give an array of objects, an error since 1.24; `copy=False` copies
    where it has to, an error since 2.0.
    """

    @functools.wraps(make)
    def made(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("copy") is False:
            kwargs["copy"] = None
        try:
            return make(*args, **kwargs)
        except ValueError as error:
            typed = len(args) > 1 or kwargs.get("dtype") is not None
            if typed or "inhomogeneous" not in str(error):
                raise
            return make(*args, **{**kwargs, "dtype": object})

    return made


def restore() -> list[str]:
    """Gives NumPy the names back that it lacks; which ones."""
    restored = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, value in REMOVED.items():
            if not hasattr(np, name):  # np.bool is back, and NumPy's own code uses it
                setattr(np, name, value)
                restored.append(name)
    for name in _MAKERS:
        if not hasattr(getattr(np, name), "__wrapped__"):
            setattr(np, name, _as_of_old(getattr(np, name)))
    return restored
