"""What `tensorflow.python.framework.tensor_util` has besides the public API."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.tensor import Tensor
from penstock.proto import TensorProto, TensorShapeProto
from penstock.shapes import dimension_value

#: Says nothing here: static shapes follow from values as soon as nodes are made.
_ENABLE_MAYBE_SET_STATIC_SHAPE = True


def TensorShapeProtoToList(shape: Any) -> list[int]:
    """The sizes of a TensorShapeProto."""
    return [size.size for size in shape.dim]


def ShapeEquals(tensor_proto: Any, shape: Any) -> bool:
    """Whether a TensorProto has a shape, given as a list or a message."""
    if not isinstance(tensor_proto, TensorProto):
        raise TypeError("tensor_proto is not a tensor_pb2.TensorProto object")
    if isinstance(shape, TensorShapeProto):
        shape = TensorShapeProtoToList(shape)
    elif not isinstance(shape, (list, tuple)):
        raise TypeError("shape is not a list or tuple")
    sizes = TensorShapeProtoToList(tensor_proto.tensor_shape)
    return all(size == wanted for size, wanted in zip(sizes, shape, strict=False))


def shape_tensor(shape: Any) -> Tensor:
    """A shape as a tensor: int32 if it has no sizes."""
    dtype = None
    if isinstance(shape, (tuple, list)):
        if not shape:
            dtype = dtypes.int32
        else:
            shape = tuple(dimension_value(size) for size in shape)
    return convert_to_tensor(shape, dtype=dtype, name="shape")
