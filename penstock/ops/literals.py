"""Python numbers, strings, lists and arrays as typed NumPy arrays, by TensorFlow's rules.

Python floats are float32, integers int32 (int64 if they don't fit), strings bytes. A value is
never narrowed silently: 1.5 is no int32, "a" is no float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes, proto
from penstock.dtypes import DType
from penstock.ir.tensor import Tensor
from penstock.ir.tensor_codec import proto_to_array
from penstock.shapes import Dimension


def to_array(value: Any, dtype: DType | None = None) -> tuple[np.ndarray, DType]:
    """The array for a constant and its DType; TypeError where the value doesn't fit `dtype`."""
    if value is None:
        raise ValueError("None values not supported.")
    if isinstance(value, (np.ndarray, np.generic)):
        return _from_numpy(np.asarray(value), dtype)
    if hasattr(value, "__array__") and not isinstance(value, (list, tuple, Tensor)):
        return _from_numpy(np.asarray(value), dtype)
    if isinstance(value, proto.TensorProto):  # has its type, whatever is asked for
        return proto_to_array(value), dtypes.as_dtype(value.dtype)
    return _from_python(value, dtype)


def _from_numpy(array: np.ndarray, dtype: DType | None) -> tuple[np.ndarray, DType]:
    if dtype is not None and dtype.is_quantized and array.dtype.kind not in "OSU":
        return _quantized(array, dtype), dtype
    if dtype is not None and dtype is not dtypes.string and array.dtype.kind not in "OSU":
        converted = array.astype(dtype.as_numpy_dtype)
        return (converted.copy() if converted is array else converted), dtype
    if array.dtype.kind in "SU" or (array.dtype.kind == "O" and dtype in (None, dtypes.string)):
        return _bytes_array(array, dtype), dtypes.string
    if dtype is not None:
        return _from_python(array.tolist(), dtype)
    found = dtypes.as_dtype(array.dtype)
    return array.copy(), found


def _quantized(array: np.ndarray, dtype: DType) -> np.ndarray:
    """Quantized numbers, of which NumPy has structured types, from integers or such."""
    if array.dtype.names:
        array = array[array.dtype.names[0]]
    return _structured(array, dtype)


def _structured(integers: np.ndarray, dtype: DType) -> np.ndarray:
    kind = np.dtype(dtype.as_numpy_dtype)
    return np.ascontiguousarray(integers.astype(kind[0])).view(kind).reshape(integers.shape)


def _bytes_array(array: np.ndarray, dtype: DType | None) -> np.ndarray:
    if dtype is not None and dtype is not dtypes.string:
        raise TypeError(f"Expected {dtype.name}, got strings")
    result = np.empty(array.shape, dtype=object)
    flat, source = result.reshape(-1), array.reshape(-1)
    for i, entry in enumerate(source):
        flat[i] = _to_bytes(entry)
    return flat.reshape(array.shape)


def _to_bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    raise TypeError(f"Expected binary or unicode string, got {value!r}")


def _leaves(value: Any) -> list[Any]:
    """The elements of nested lists, flat; arrays inside lists count as lists."""
    if isinstance(value, (list, tuple)):
        found: list[Any] = []
        for entry in value:
            found += _leaves(entry)
        return found
    if isinstance(value, np.ndarray):
        return list(value.reshape(-1))
    return [value.value if isinstance(value, Dimension) else value]


def _lengths(value: Any) -> tuple[int, ...] | None:
    """The shape of nested lists; None where they are ragged."""
    if isinstance(value, np.ndarray):
        return value.shape
    if not isinstance(value, (list, tuple)):
        return ()
    if not value:
        return (0,)
    inner = [_lengths(entry) for entry in value]
    if inner[0] is None or any(entry != inner[0] for entry in inner):
        return None
    return (len(value), *inner[0])


def _ragged(value: Any, dtype: DType | None) -> Exception:
    """The error for nested lists of different lengths."""
    if dtype not in (None, dtypes.string):
        return ValueError(f"setting an array element with a sequence. Not dense: {value!r}")
    got, wanted = list(_equal_lengths(value)), _first_lengths(value)
    if got == wanted:
        return _unsupported(value)
    return ValueError(
        f"Argument must be a dense tensor: {value!r} - got shape {got}, but wanted {wanted}."
    )


def _equal_lengths(value: Any) -> tuple[int, ...]:
    """The outer dimensions in which the lists agree."""
    if not isinstance(value, (list, tuple)):
        return ()
    inner = [_equal_lengths(entry) for entry in value]
    agreed: tuple[int, ...] = ()
    for sizes in zip(*inner, strict=False):
        if len(set(sizes)) > 1:
            break
        agreed += (sizes[0],)
    return (len(value), *agreed)


def _first_lengths(value: Any) -> list[int]:
    """The shape that the first list, its first list and so on ask for."""
    if not isinstance(value, (list, tuple)):
        return []
    return [len(value), *(_first_lengths(value[0]) if value else [])]


def _unsupported(value: Any) -> TypeError:
    return TypeError(
        f"Failed to convert object of type {type(value)} to Tensor. Contents: {value}. "
        "Consider casting elements to a supported type."
    )


def _from_python(value: Any, dtype: DType | None) -> tuple[np.ndarray, DType]:
    if dtype is not None and dtype.is_quantized:
        return _from_tuples(value, dtype)
    leaves = _leaves(value)
    if dtype is not None:
        for leaf in leaves:
            _check(leaf, dtype)
    elif any(isinstance(leaf, Tensor) for leaf in leaves):
        raise TypeError("List of Tensors when single Tensor expected")
    shape = _lengths(value)
    if shape is None:
        raise _ragged(value, dtype)
    if dtype is None:
        dtype = _infer(value, leaves)
    if dtype is dtypes.string:
        array = np.empty(len(leaves), dtype=object)
        for i, leaf in enumerate(leaves):
            array[i] = _to_bytes(leaf)
        return array.reshape(shape), dtype
    if dtype.is_integer and leaves:
        # An integer of 64 bits that a smaller type can't hold wraps around, as in TensorFlow.
        return np.array(leaves).astype(dtype.as_numpy_dtype).reshape(shape), dtype
    return np.array(leaves, dtype=dtype.as_numpy_dtype).reshape(shape), dtype


def _from_tuples(value: Any, dtype: DType) -> tuple[np.ndarray, DType]:
    """Quantized numbers are tuples of one integer in Python, the elements of structured types."""

    def listed(entry: Any) -> Any:
        if isinstance(entry, list):
            return [listed(each) for each in entry]
        if not isinstance(entry, tuple):
            raise TypeError(
                f"Expected {dtype.name}, got {entry!r} of type '{type(entry).__name__}' instead."
            )
        return entry[0]

    return _structured(np.array(listed(value)), dtype), dtype


def _infer(value: Any, leaves: list[Any]) -> DType:
    """float32 for an empty list, as TensorFlow has it; else the type that holds every element."""
    kinds = {type(leaf) for leaf in leaves}
    if not kinds or kinds == {float}:
        return dtypes.float32
    if kinds == {bool}:
        return dtypes.bool
    if kinds == {int}:
        return _infer_integers(value, min(leaves), max(leaves))
    if all(issubclass(kind, (str, bytes, bytearray)) for kind in kinds):  # NumPy's own, too
        return dtypes.string
    if kinds == {complex} or kinds == {complex, float}:
        return dtypes.complex128
    if kinds <= {int, float}:
        return dtypes.float32
    return _infer_mixed(value, leaves, kinds)


def _infer_integers(value: Any, low: int, high: int) -> DType:
    if low >= -(2**31) and high < 2**31:
        return dtypes.int32
    if low >= -(2**63) and high < 2**63:
        return dtypes.int64
    if low >= 0 and high < 2**64:
        return dtypes.uint64
    raise _unsupported(value)


def _infer_mixed(value: Any, leaves: list[Any], kinds: set[type]) -> DType:
    if kinds == {range}:
        raise ValueError(
            f"Argument must be a dense tensor: {value!r} - got shape [{len(leaves[0])}], but "
            f"wanted {list(_lengths(value) or ())}."
        )
    if not all(issubclass(kind, (int, float, complex, np.generic)) for kind in kinds):
        raise _unsupported(value)
    if any(issubclass(kind, (str, bytes)) for kind in kinds):
        raise _unsupported(value)
    array = np.array(leaves)
    # NumPy's scalars in a list count as Python's numbers do: 64 bits only where they are needed.
    if array.dtype == np.float64:
        return dtypes.float32
    if array.dtype == np.int64 and array.min() >= -(2**31) and array.max() < 2**31:
        return dtypes.int32
    return dtypes.as_dtype(array.dtype)


def _check(leaf: Any, dtype: DType) -> None:
    if dtype is dtypes.string:
        ok = isinstance(leaf, (str, bytes, bytearray))
    elif dtype is dtypes.bool:
        ok = isinstance(leaf, (bool, np.bool_))
    elif dtype.is_integer:  # Python's True and False are integers
        ok = isinstance(leaf, (int, np.integer))
    elif dtype.is_floating:
        ok = isinstance(leaf, (int, float, np.integer, np.floating))
        ok = ok or type(leaf).__module__ == "ml_dtypes"
    elif dtype.is_complex:
        ok = isinstance(leaf, (int, float, complex, np.number))
    else:
        raise TypeError(f"can't make a constant of type {dtype.name}")
    if not ok:
        raise TypeError(
            f"Expected {dtype.name}, got {leaf!r} of type '{type(leaf).__name__}' instead."
        )
