"""Arrays to and from the tensors inside messages, each copied once at most."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from penstock import dtypes, errors, proto
from penstock.distributed.wire_fields import Buffer, cut, field
from penstock.dtypes import DType
from penstock.ir.tensor_codec import FIELD_OF, array_to_proto, proto_to_array, strings_in
from penstock.state.resource_handles import ResourceHandle, at_home, handle_of

_CONTENT = 4  # TensorProto.tensor_content
_SMALL = 1 << 12  # bytes: below it protobuf itself is as fast
_MOST_BYTES = 2**31 - 1  # what a message can hold


def decoded(message: memoryview) -> Any:
    """The array in a serialized TensorProto; a large one is a view of the message.

    That of a handle is the resource where it is one of this process, else the handle.
    """
    try:
        return _decoded(message)
    except (ValueError, TypeError, DecodeError) as error:
        raise errors.InvalidArgumentError(
            None, None, f"a tensor of the message can't be read: {error}"
        ) from None


def _decoded(message: memoryview) -> Any:
    contents: list[memoryview] = []
    if len(message) < _SMALL:
        tensor = proto.TensorProto.FromString(bytes(message))
    else:
        contents, rest = cut(message, _CONTENT)
        tensor = proto.TensorProto.FromString(rest)
    dtype = dtypes.as_dtype(tensor.dtype).base_dtype
    if dtype is dtypes.resource:
        if contents:
            tensor.tensor_content = bytes(contents[-1])
        return at_home(ResourceHandle.of_message(_handle_in(tensor)))
    if dtype.name not in FIELD_OF:
        raise TypeError(f"values of type {dtype.name} don't travel")
    numpy_type = np.dtype(dtype.as_numpy_dtype)
    shape = [dim.size for dim in tensor.tensor_shape.dim]
    needed = math.prod(shape) * numpy_type.itemsize
    if needed > _MOST_BYTES or min(shape, default=0) < 0:
        raise ValueError(f"no tensor of a message has the shape {shape}")
    if contents and dtype is dtypes.string:
        tensor.tensor_content = bytes(contents[-1])
    if not contents or dtype is dtypes.string:
        return proto_to_array(tensor)
    content = contents[-1]
    if len(content) != needed:
        raise ValueError(
            f"tensor_content holds {len(content)} bytes, but shape {shape} of {numpy_type.name} "
            f"needs {needed}"
        )
    return np.frombuffer(content, dtype=numpy_type).reshape(shape)


def _handle_in(tensor: Any) -> Any:
    """The one ResourceHandleProto of a tensor; clients write it as a string in the content."""
    handles = list(tensor.resource_handle_val)
    if not handles and tensor.tensor_content:
        written = strings_in(tensor.tensor_content, 1)[0]
        handles.append(proto.ResourceHandleProto.FromString(written))
    if len(handles) != 1 or any(dim.size != 1 for dim in tensor.tensor_shape.dim):
        raise ValueError("handles of resources travel one by one")
    return handles[0]


def encoded(value: Any, dtype: DType) -> list[Buffer]:
    """A fetched value as the parts of a TensorProto."""
    handle = handle_of(value) if dtype.base_dtype is dtypes.resource else None
    if handle is not None:
        tensor = proto.TensorProto(
            dtype=dtypes.resource.as_datatype_enum, resource_handle_val=[handle.message()]
        )
        tensor.tensor_shape.SetInParent()
        return [tensor.SerializeToString()]
    array = _array_of(value, dtype)
    if array.dtype == object or array.nbytes < _SMALL or array.nbytes > _MOST_BYTES:
        return [array_to_proto(array, dtype.base_dtype).SerializeToString()]
    head = proto.TensorProto(dtype=dtype.base_dtype.as_datatype_enum)
    for size in array.shape:
        head.tensor_shape.dim.add(size=size)
    content = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
    return [head.SerializeToString(), *field(_CONTENT, [content])]


def _array_of(value: Any, dtype: DType) -> np.ndarray:
    if dtype.base_dtype.name not in FIELD_OF:
        raise errors.UnimplementedError(
            None, None, f"a value of type {dtype.base_dtype.name} can't be sent to another process"
        )
    if isinstance(value, bytes):
        value = np.array([value, None], dtype=object)[:1].reshape(())
    return np.asarray(value)
