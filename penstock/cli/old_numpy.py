"""What NumPy has removed since TensorFlow 1.x programs were written: names, arrays of old."""

from __future__ import annotations

import functools
import math
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np


class _Casts:
    """`np.cast["float32"](values)`."""

    def __getitem__(self, dtype: Any) -> Callable[[Any], np.ndarray]:
        return functools.partial(np.asarray, dtype=dtype)


REMOVED: dict[str, Any] = {
    "cast": _Casts(),
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
    "NAN": np.nan,
    "NINF": -np.inf,
    "NZERO": -0.0,
    "PINF": np.inf,
    "PZERO": 0.0,
    "AxisError": np.exceptions.AxisError,
    "ComplexWarning": np.exceptions.ComplexWarning,
    "RankWarning": np.exceptions.RankWarning,
    "VisibleDeprecationWarning": np.exceptions.VisibleDeprecationWarning,
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
    "int0": np.intp,
    "issctype": lambda rep: isinstance(rep, (type, np.dtype)) and np.dtype(rep) != np.dtype(object),
    "issubclass_": lambda kind, bases: isinstance(kind, type) and issubclass(kind, bases),
    "issubsctype": np.issubdtype,
    "longcomplex": np.clongdouble,
    "longfloat": np.longdouble,
    "mat": np.asmatrix,
    "math": math,
    "msort": lambda array: np.sort(array, axis=0),
    "obj2sctype": lambda rep, default=None: np.dtype(rep).type,
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
    "uint0": np.uintp,
}

#: What joins the arrays of a sequence.
_JOINERS = ("vstack", "hstack", "dstack", "stack", "column_stack", "row_stack")

#: What makes an array of a sequence.
_MAKERS = ("array", "asarray", "asanyarray")


def _as_of_old(make: Callable[..., Any]) -> Callable[..., Any]:
    """Makes arrays as NumPy 1 did.

    Rows of different lengths give an array of objects, an error since 1.24; `copy=False` copies
    where it has to, and numbers too large for their type lose their upper bits, errors since 2.0.
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
        except OverflowError:
            dtype = args[1] if len(args) > 1 else kwargs.pop("dtype", None)
            if dtype is None or np.dtype(dtype).kind not in "iu":
                raise
            return make(args[0], np.int64, *args[2:], **kwargs).astype(dtype)

    return made


def _of_any_iterable(join: Callable[..., Any]) -> Callable[..., Any]:
    """Joins the arrays of an iterator, too: of `map(...)`, which was a list in Python 2."""

    @functools.wraps(join)
    def joined(arrays: Any, *args: Any, **kwargs: Any) -> Any:
        return join(arrays if hasattr(arrays, "__getitem__") else list(arrays), *args, **kwargs)

    return joined


def _give_lib_its_functions() -> None:
    """`np.lib.pad` and its kin, which are in NumPy's main namespace alone now."""
    for name in np.__all__:
        value = getattr(np, name)
        if callable(value) and not isinstance(value, types.ModuleType):
            np.lib.__dict__.setdefault(name, value)


def restore() -> list[str]:
    """Gives NumPy the names back that it lacks; which ones."""
    restored = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, value in REMOVED.items():
            if not hasattr(np, name):  # np.bool is back, and NumPy's own code uses it
                setattr(np, name, value)
                restored.append(name)
        _give_lib_its_functions()
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        np.set_printoptions(legacy="1.25")  # a number is 0.5, not np.float64(0.5), in a list
    for names, as_before in ((_MAKERS, _as_of_old), (_JOINERS, _of_any_iterable)):
        for name in names:
            if not getattr(getattr(np, name), "_is_as_before", False):
                function = as_before(getattr(np, name))
                function._is_as_before = True  # type: ignore[attr-defined]
                setattr(np, name, function)
    return restored
