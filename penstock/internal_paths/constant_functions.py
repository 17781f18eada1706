"""What `tensorflow.python.framework.constant_op` has besides the public API."""

from penstock.ops.constants import _constant_conversion as _constant_tensor_conversion_function
from penstock.ops.constants import _dimension_conversion as _dimension_tensor_conversion_function
from penstock.ops.constants import _shape_conversion as _tensor_shape_tensor_conversion_function

__all__ = [
    "_constant_tensor_conversion_function",
    "_dimension_tensor_conversion_function",
    "_tensor_shape_tensor_conversion_function",
]
