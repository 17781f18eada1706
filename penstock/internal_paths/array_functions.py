"""What `tensorflow.python.ops.array_ops` has besides the public API."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.tensor import Tensor
from penstock.ops.casts import cast
from penstock.ops.filling import ones_like, zeros_like
from penstock.ops.repeating import repeat
from penstock.ops.shaping import Rank, Size, expand_dims, rank, shape_of, size, squeeze
from penstock.ops.slicing import INDEX_ERROR as _SLICE_TYPE_ERROR

__all__ = ["_SLICE_TYPE_ERROR"]


def shape_internal(
    input: Any, name: str | None = None, optimize: bool = True, out_type: Any = dtypes.int32
) -> Tensor:
    return shape_of(input, name, dtypes.as_dtype(out_type), optimize=optimize)


def size_internal(
    input: Any, name: str | None = None, optimize: bool = True, out_type: Any = dtypes.int32
) -> Tensor:
    if optimize:
        return size(input, name=name, out_type=out_type)
    return Size(input, out_type=dtypes.as_dtype(out_type), name=name)


def rank_internal(input: Any, name: str | None = None, optimize: bool = True) -> Tensor:
    return rank(input, name=name) if optimize else Rank(input, name=name)


def expand_dims_v2(input: Any, axis: Any, name: str | None = None) -> Tensor:
    return expand_dims(input, axis, name)


def squeeze_v2(input: Any, axis: Any = None, name: str | None = None) -> Tensor:
    return squeeze(input, axis, name)


def zeros_like_v2(input: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    return zeros_like(input, dtype, name)


def ones_like_v2(input: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    return ones_like(input, dtype, name)


zeros_like_impl = zeros_like
ones_like_impl = ones_like

# What a slice does to an axis, in the numbers of strided slices.
NEW_AXIS = -1
SHRINK_AXIS = -2


def get_positive_axis(axis: int, ndims: int | None) -> int:
    """An axis counted from the first."""
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    if ndims is None:
        if axis < 0:
            raise ValueError("axis may only be negative if ndims is statically known.")
        return axis
    if not -ndims <= axis < ndims:
        raise ValueError(f"axis={axis} out of bounds: expected {-ndims}<=axis<{ndims}")
    return axis % ndims


def repeat_with_axis(data: Any, repeats: Any, axis: int, name: str | None = None) -> Tensor:
    """`tf.repeat` along an axis."""
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    return repeat(data, repeats, axis, name)


def convert_to_int_tensor(tensor: Any, name: str, dtype: Any = dtypes.int32) -> Any:
    """Integers of any type as a tensor of one."""
    tensor = convert_to_tensor(tensor, name=name, preferred_dtype=dtype)
    if not tensor.dtype.is_integer:
        raise TypeError(f"{name} must be an integer tensor; dtype={tensor.dtype}")
    return cast(tensor, dtype)
