"""Values of sessions (arrays, NumPy scalars, bytes) to and from those that travel on the road."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes, errors
from penstock.distributed.frames import Value
from penstock.dtypes import DType
from penstock.kernels.values import from_array, to_array
from penstock.runtime.value_bytes import is_number
from penstock.state.resource_handles import handle_of

_WITHOUT_ARRAYS = (dtypes.resource, dtypes.variant)


def value_of(result: Any, dtype: DType) -> Value:
    """What a step has given, as a value that can be sent; an array is not copied."""
    if dtype.base_dtype is dtypes.resource:
        handle = handle_of(result)
        if handle is not None:
            return handle
    if dtype.base_dtype in _WITHOUT_ARRAYS:
        raise errors.UnimplementedError(
            None, None, f"a value of type {dtype.base_dtype.name} can't be sent to another process"
        )
    if isinstance(result, bytes):
        return np.array([result, None], dtype=object)[:1].reshape(())
    return from_array(np.asarray(result))


def sendable(result: Any, dtype: DType) -> Value:
    """The same, as a number or an array where that can be sent, too."""
    if is_number(result):
        return result
    plain = isinstance(result, (np.ndarray, np.generic)) and result.dtype.isbuiltin == 1
    return np.asarray(result) if plain and result.dtype != object else value_of(result, dtype)


def array_type(dtype: DType) -> np.dtype:
    """The form that arrays of a type have; of one whose values are none, any."""
    return np.dtype(object if dtype in _WITHOUT_ARRAYS else dtype.as_numpy_dtype)


def array_of(value: Value, wanted: np.dtype) -> Any:
    """A value that has come, as an array of its type's own form; it is not copied.

    A handle stays what it is.
    """
    array: Any = to_array(value)
    if not isinstance(array, np.ndarray):
        return array
    return array if array.dtype == wanted else array.view(wanted)
