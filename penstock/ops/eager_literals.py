"""Python values of constants in eager mode, where TensorFlow reads sequences by its own rules.

A sequence's first element says what all of them are: NumPy's doubles stay doubles, while numbers
of different kinds don't go together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes
from penstock.dtypes import DType, runtime_name

_MIXED = "Can't convert Python sequence with mixed types to Tensor."
_RAGGED = "Can't convert non-rectangular Python sequence to Tensor."
_OUT_OF_RANGE = "Can't convert Python sequence with out-of-range integer to Tensor."


_SCALARS = frozenset((bool, int, float, complex, str, bytes, np.float64, np.float32, np.int64))


def read_sequence(value: Any, wanted: DType | None) -> tuple[Any, DType | None]:
    """A value with lists in the place of other sequences, and the type that it asks for."""
    listed = _listed(value)
    if wanted is not None or not isinstance(listed, (list, tuple)):
        return listed, wanted
    first = _first_leaf(listed)
    kind = first.dtype.type if isinstance(first, np.ndarray) else type(first)
    if kind is np.float64:
        return listed, dtypes.float64
    if issubclass(kind, (bool, np.bool_)) and not _all_are(listed, (bool, np.bool_)):
        raise ValueError(_MIXED)
    return listed, None


def _listed(value: Any) -> Any:
    """Nested sequences as lists; what is a value of its own stays as it is."""
    if type(value) in _SCALARS:
        return value
    if isinstance(value, (list, tuple)):
        entries = [_listed(entry) for entry in value]
        same = all(new is old for new, old in zip(entries, value, strict=True))
        return value if same else entries
    is_sequence = all(hasattr(value, name) for name in ("__len__", "__getitem__", "__iter__"))
    if not is_sequence or isinstance(value, (str, bytes, bytearray, dict)):
        return value
    return value if hasattr(value, "__array__") else list(value)


def _first_leaf(value: Any) -> Any:
    while isinstance(value, (list, tuple)) and len(value):
        value = value[0]
    return value


def _all_are(value: Any, kinds: tuple[type, ...]) -> bool:
    if isinstance(value, (list, tuple)):
        return all(_all_are(entry, kinds) for entry in value)
    return isinstance(value, kinds) or (isinstance(value, np.ndarray) and value.dtype.kind == "b")


def refusal(value: Any, wanted: DType | None, error: Exception) -> Exception:
    """The error of a value that can't be converted, in the words of eager mode."""
    told = str(error)
    if isinstance(error, OverflowError) or _has_huge_integer(value):
        return ValueError(_OUT_OF_RANGE)
    is_sequence = isinstance(value, (list, tuple))
    if told == _MIXED or (is_sequence and _is_mixed(value)):
        return ValueError(_MIXED)
    if "__len__" in told:
        return ValueError(f"ValueError: {told}")
    if "dense tensor" in told or "element with a sequence" in told:
        return ValueError(_RAGGED)
    if value is None or not isinstance(error, TypeError) or "Failed to convert" in told:
        if is_sequence:
            return ValueError(_MIXED)
        return ValueError(
            f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) to "
            "a Tensor."
        )
    if wanted is None:
        return error
    return TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {runtime_name(wanted)}")


def _has_huge_integer(value: Any) -> bool:
    if type(value) is list or type(value) is tuple:
        return any(map(_has_huge_integer, value))
    return type(value) is int and not -(2**63) <= value < 2**64


def _is_mixed(value: Any) -> bool:
    """Whether some elements are sequences while the first one is none."""
    nested = [isinstance(entry, (list, tuple)) for entry in value]
    return bool(nested) and not nested[0] and any(nested)
