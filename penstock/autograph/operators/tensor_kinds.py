"""What kind of tensor a value is, which decides what an operator does with it."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.composite import SparseTensor
from penstock.ops.tensor_array import TensorArray
from penstock.ops.tensor_values import is_tensor as is_tensor


def is_dense_tensor(t: Any) -> bool:
    """Whether a value is a tensor that can be a condition."""
    return is_tensor(t) and not isinstance(t, SparseTensor)


def is_tensor_array(t: Any) -> bool:
    """Whether a value is a TensorArray."""
    return isinstance(t, TensorArray)


def is_tensor_list(t: Any) -> bool:
    """Whether a value is, as far as one can see, the handle of a tensor list."""
    return is_tensor(t) and t.dtype == dtypes.variant and not t.shape.ndims


def is_range_tensor(t: Any) -> bool:
    """Whether a value is the result of `tf.range`."""
    return is_tensor(t) and hasattr(t, "op") and t.op.type == "Range"
