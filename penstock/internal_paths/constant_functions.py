"""What `tensorflow.python.framework.constant_op` has besides the public API."""

from __future__ import annotations

from typing import Any

from penstock.dtypes import as_dtype
from penstock.ir.tensor import Tensor
from penstock.ops.constants import _constant_conversion as _constant_tensor_conversion_function
from penstock.ops.constants import _dimension_conversion as _dimension_tensor_conversion_function
from penstock.ops.constants import _shape_conversion as _tensor_shape_tensor_conversion_function
from penstock.ops.constants import constant as constant_v1
from penstock.ops.literals import to_array
from penstock.shapes import TensorShape

__all__ = [
    "_constant_tensor_conversion_function",
    "_dimension_tensor_conversion_function",
    "_tensor_shape_tensor_conversion_function",
    "constant",
]


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Tensor:
    """A constant of as many elements as `shape` has, or of one that fills it.

    Of the two functions of that name this is the stricter: `tf.constant` also lengthens a value.
    """
    if shape is None:
        return constant_v1(value, dtype, None, name)
    array, found = to_array(value, None if dtype is None else as_dtype(dtype).base_dtype)
    wanted = TensorShape(shape)
    if wanted.num_elements() not in (None, array.size) and array.shape not in ((), (1,)):
        raise TypeError(f"Expected Tensor's shape: {wanted}, got {array.shape}.")
    return constant_v1(array, found, wanted, name)
