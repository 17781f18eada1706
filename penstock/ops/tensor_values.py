"""Values outside of a graph: as messages, and as far as a graph alone determines them."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from penstock import dtypes, shapes
from penstock.ir.constants import constant_shape, static_value
from penstock.ir.convert import is_dense_tensor_like
from penstock.ir.tensor import Tensor
from penstock.ir.tensor_codec import array_to_proto, proto_to_array, short_list_to_proto
from penstock.ops.constants import filled
from penstock.ops.literals import to_array
from penstock.shapes import Dimension, TensorShape

__all__ = ["get_static_value", "is_tensor", "make_ndarray", "make_tensor_proto"]


def make_tensor_proto(
    values: Any,
    dtype: Any = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> Any:
    """A TensorProto of a value, by the rules of `tf.constant`."""
    if type(values).__name__ == "TensorProto":
        return values
    if dtype is None and isinstance(values, list) and any(isinstance(v, Dimension) for v in values):
        raise TypeError(
            f"Failed to convert object of type {type(values)} to Tensor. Contents: {values}. "
            "Consider casting elements to a supported type."
        )
    array, found = to_array(values, None if dtype is None else dtypes.as_dtype(dtype))
    if shape is not None:
        full: Any = shapes.raw(shape)
        count = shapes.num_elements(full)
        if allow_broadcast and array.shape not in ((), (1,)) and array.size != count:
            raise TypeError(f"Expected Tensor's shape: {full}, got {array.shape}.")
        if not verify_shape and array.ndim and count is not None and array.size < count:
            return short_list_to_proto(array, found, full)
        array = filled(array, full, verify_shape)
    return array_to_proto(array, found)


def make_ndarray(tensor: Any) -> np.ndarray:
    """The value of a TensorProto as a NumPy array."""
    return proto_to_array(tensor)


def is_tensor(x: Any) -> bool:
    """Whether a value is a tensor, a SparseTensor, a variable or of a type that acts as one."""
    from penstock.ir.composite import IndexedSlices, SparseTensor
    from penstock.ops.variables import Variable

    if isinstance(x, (Tensor, SparseTensor, IndexedSlices, Variable)) or is_dense_tensor_like(x):
        return True
    return getattr(x, "is_tensor_like", False) is True


def get_static_value(tensor: Any, partial: bool = False) -> np.ndarray | None:
    """The value of a tensor where the graph alone determines it, else None.

    A `partial` value of a stack is an array of what is stacked, with None for what isn't known.
    """
    if not isinstance(tensor, Tensor):
        return None if is_tensor(tensor) else cast("np.ndarray | None", tensor)
    value = static_value(tensor)
    if value is not None or not partial or tensor._op.type != "Pack" or tensor._op.attrs["axis"]:
        return value
    stacked = np.empty(len(tensor._op.inputs), object)
    for i, part in enumerate(tensor._op.inputs):
        stacked[i] = get_static_value(part, partial)
    return stacked


constant_value = get_static_value
_OTHER_MASKS = ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")  # not only begin, end, step


def constant_value_as_shape(tensor: Any) -> TensorShape:
    """The shape that a tensor of sizes stands for, as far as the graph determines it."""
    if tensor.shape.ndims == 0:
        value = static_value(tensor)
        if value is None or value != -1:
            raise ValueError(
                f"Received a scalar value '{value}' as shape; require a statically known scalar "
                "with value '-1' to describe an unknown shape."
            )
        return shapes.TensorShape(None)
    tensor.shape.with_rank(1)
    if tensor._op.type == "StridedSlice" and any(tensor._op.attrs[mask] for mask in _OTHER_MASKS):
        return shapes.unknown_shape(shapes.dimension_value(tensor.shape[0]))
    return shapes.TensorShape(constant_shape(tensor))


def maybe_set_static_shape(tensor: Tensor, shape: Any) -> None:
    """Tells a tensor the shape that another tensor holds, as far as that is known."""
    if isinstance(shape, Tensor):
        shape = constant_value_as_shape(shape)
    tensor.set_shape(shape)


MakeNdarray = make_ndarray
