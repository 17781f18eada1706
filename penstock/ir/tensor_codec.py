"""NumPy arrays to and from TensorProto, TensorFlow's form of a constant."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock import dtypes, proto
from penstock.dtypes import DType

# The repeated field of a TensorProto that holds the values of a type, where not tensor_content.
FIELD_OF: dict[str, str] = {
    "float32": "float_val",
    "float64": "double_val",
    "int32": "int_val",
    "int16": "int_val",
    "int8": "int_val",
    "uint8": "int_val",
    "uint16": "int_val",
    "qint8": "int_val",
    "quint8": "int_val",
    "qint16": "int_val",
    "quint16": "int_val",
    "qint32": "int_val",
    "int4": "int_val",
    "uint4": "int_val",
    "int64": "int64_val",
    "uint32": "uint32_val",
    "uint64": "uint64_val",
    "bool": "bool_val",
    "string": "string_val",
    "complex64": "scomplex_val",
    "complex128": "dcomplex_val",
    "float16": "half_val",
    "bfloat16": "half_val",
    "float8_e5m2": "float8_val",
    "float8_e4m3fn": "float8_val",
}
_MAX_BYTES = 2**31 - 1  # a protobuf message can't hold more


def as_array(value: Any) -> np.ndarray:
    """A TensorProto or array-like as the array that a node keeps."""
    if hasattr(value, "tensor_shape") and hasattr(value, "dtype"):
        return proto_to_array(value, compact=True)
    return np.asarray(value)


def array_to_proto(array: np.ndarray, dtype: DType) -> Any:
    """An array as a TensorProto: raw little-endian content, string_val for strings.

    An array that is a view of one element becomes that one value.
    """
    message = proto.TensorProto(dtype=dtype.as_datatype_enum)
    message.tensor_shape.SetInParent()
    for size in array.shape:
        message.tensor_shape.dim.add(size=size)
    if array.size > 1 and not any(array.strides):
        array = array[(slice(0, 1),) * array.ndim]
    if dtype.base_dtype is dtypes.string:
        message.string_val.extend(_as_bytes(entry) for entry in array.reshape(-1))
        return message
    if array.dtype.names:  # quantized numbers, which are written as their integers
        array = array[array.dtype.names[0]]
    if array.nbytes > _MAX_BYTES:
        raise ValueError("Cannot create a tensor proto whose content is larger than 2GB.")
    if array.size == 1 and FIELD_OF[dtype.base_dtype.name] in _SCALAR_FIELDS:
        _set_scalar(message, array.reshape(-1)[0], dtype)
    elif dtype.base_dtype.name in _LISTED:
        getattr(message, FIELD_OF[dtype.base_dtype.name]).extend(_listed(array, dtype))
    elif array.size:
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        message.tensor_content = np.ascontiguousarray(little).tobytes()
    return message


_SCALAR_FIELDS = frozenset(
    "float_val double_val int_val int64_val uint32_val uint64_val bool_val half_val "
    "scomplex_val dcomplex_val".split()
)


# The types of which TensorFlow's Python code lists all values instead of writing their bytes.
_LISTED = frozenset(["bfloat16", "bool", "complex64", "complex128", "float16", "uint16"])


def _listed(array: np.ndarray, dtype: DType) -> list[Any]:
    flat = np.ascontiguousarray(array).reshape(-1)
    if flat.dtype.kind == "c":
        return flat.view(flat.real.dtype).tolist()
    if dtype.base_dtype.name in ("float16", "bfloat16"):
        return flat.view(np.uint16).tolist()
    return flat.tolist()


def short_list_to_proto(array: np.ndarray, dtype: DType, shape: Sequence[int]) -> Any:
    """A TensorProto of more elements than the array has: it lists them, the last one stands for
    the rest."""
    message = proto.TensorProto(dtype=dtype.as_datatype_enum)
    for size in shape:
        message.tensor_shape.dim.add(size=size)
    if array.dtype.names:
        array = array[array.dtype.names[0]]
    is_string = dtype.base_dtype is dtypes.string
    values = map(_as_bytes, array.reshape(-1)) if is_string else _listed(array, dtype)
    getattr(message, FIELD_OF[dtype.base_dtype.name]).extend(values)
    return message


def _set_scalar(message: Any, value: Any, dtype: DType) -> None:
    field = getattr(message, FIELD_OF[dtype.base_dtype.name])
    if dtype.is_complex:
        field.extend([value.real, value.imag])
    elif dtype.base_dtype.name in ("float16", "bfloat16"):
        field.append(int(np.asarray(value).view(np.uint16)))
    else:
        field.append(value.item() if hasattr(value, "item") else value)


def _as_bytes(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


def proto_to_array(message: Any, *, compact: bool = False) -> np.ndarray:
    """The array in a TensorProto; a short value list repeats its last entry, as TensorFlow's do.

    A `compact` array of one value is a view of it, which can't be written to.
    """
    dtype = dtypes.as_dtype(message.dtype).base_dtype
    if dtype.name not in FIELD_OF:
        raise TypeError(f"Unsupported tensor type: {dtype.name}")
    shape = tuple(dim.size for dim in message.tensor_shape.dim)
    if any(size < 0 for size in shape):
        raise ValueError(f"a TensorProto with the unknown shape {shape} has no value")
    count = math.prod(shape)
    numpy_type = np.dtype(dtype.as_numpy_dtype)
    if message.tensor_content and dtype is dtypes.string:
        return strings_in(message.tensor_content, count).reshape(shape)
    if message.tensor_content:
        return _from_content(message.tensor_content, numpy_type, shape, count)
    values = getattr(message, FIELD_OF[dtype.name])
    if compact and count > 1 and len(values) in (0, 2 if dtype.is_complex else 1):
        one = proto.TensorProto()
        one.CopyFrom(message)
        one.ClearField("tensor_shape")
        return np.broadcast_to(proto_to_array(one), shape)
    if count * numpy_type.itemsize > _MAX_BYTES:
        raise ValueError(
            f"a TensorProto of shape {list(shape)} has {len(values)} values, and its array would "
            f"need {count * numpy_type.itemsize} bytes"
        )
    if dtype is dtypes.string:
        return _fill(np.array([*values, None], dtype=object)[:-1], shape, count, b"")
    if dtype.is_complex:
        pairs = np.asarray(values, dtype=numpy_type.type(0).real.dtype)
        return _fill(pairs.view(numpy_type), shape, count, 0)
    if dtype.name in ("float16", "bfloat16"):
        return _fill(np.asarray(values, dtype=np.uint16).view(numpy_type), shape, count, 0)
    if dtype.name.startswith("float8"):
        return _fill(np.frombuffer(values, dtype=numpy_type), shape, count, 0)
    return _fill(np.asarray(values).astype(numpy_type), shape, count, 0)


def _from_content(
    content: bytes, numpy_type: np.dtype, shape: tuple[int, ...], count: int
) -> np.ndarray:
    if len(content) != count * numpy_type.itemsize:
        raise ValueError(
            f"tensor_content holds {len(content)} bytes, but shape {list(shape)} of "
            f"{numpy_type.name} needs {count * numpy_type.itemsize}"
        )
    array = np.frombuffer(content, dtype=numpy_type.newbyteorder("<"))
    return array.astype(numpy_type).reshape(shape)


def strings_in(content: bytes, count: int) -> np.ndarray:
    """Strings in tensor_content: all their lengths as varints, then all their bytes."""
    lengths, at = [], 0
    for _ in range(count):
        length = shift = 0
        while True:
            if at >= len(content) or shift > 35:
                raise ValueError(f"tensor_content has no lengths of {count} strings")
            byte = content[at]
            at += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        lengths.append(length)
    if at + sum(lengths) != len(content):
        raise ValueError(
            f"tensor_content holds {len(content)} bytes, but its {count} strings need "
            f"{at + sum(lengths)}"
        )
    found = np.empty(count, dtype=object)
    for index, length in enumerate(lengths):
        found[index] = content[at : at + length]
        at += length
    return found


def _fill(values: np.ndarray, shape: tuple[int, ...], count: int, empty: Any) -> np.ndarray:
    """The values, the last of them repeated; those that have no place are ignored.

    TensorFlow does that, and its clients send one for a tensor of strings without elements.
    """
    values = values[:count]
    filled = np.empty(count, dtype=values.dtype)
    filled[: len(values)] = values
    filled[len(values) :] = values[-1] if len(values) else empty
    return filled.reshape(shape)
