"""The layouts of image batches: tensors, or shapes as lists, from one to the other."""

from __future__ import annotations

from typing import Any

from penstock.ir.tensor import Tensor
from penstock.ops.permuting import transpose
from penstock.ops.shaping import reshape

_TO_NCHW = {4: [0, 3, 1, 2], 5: [0, 4, 1, 2, 3]}
_TO_NHWC = {4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1]}
_TO_NCHW_VECT_C = {5: [0, 3, 1, 2, 4], 6: [0, 4, 1, 2, 3, 5]}
_FROM_NCHW_VECT_C = {5: [0, 2, 3, 1, 4], 6: [0, 2, 3, 4, 1, 5]}


def _permuted(tensor_or_shape: Any, orders: dict[int, list[int]]) -> Any:
    if isinstance(tensor_or_shape, Tensor):
        return transpose(tensor_or_shape, orders[len(tensor_or_shape.shape)])
    return [tensor_or_shape[axis] for axis in orders[len(tensor_or_shape)]]


def NHWCToNCHW(input_tensor: Any) -> Any:
    """Puts channels, which are last, after the batch."""
    return _permuted(input_tensor, _TO_NCHW)


def NCHWToNHWC(input_tensor: Any) -> Any:
    """Puts channels, which come after the batch, last."""
    return _permuted(input_tensor, _TO_NHWC)


def _static_shape(tensor_or_shape: Any) -> list[Any]:
    if isinstance(tensor_or_shape, Tensor):
        return tensor_or_shape.shape.as_list()
    return list(tensor_or_shape)


def NHWCToNCHW_VECT_C(input_shape_or_tensor: Any) -> Any:
    """Puts channels, which are last, after the batch, in groups of four that are last."""
    *front, channels = _static_shape(input_shape_or_tensor)
    if channels % 4:
        raise ValueError(
            "Last dimension of input must be evenly divisible by 4 to convert to NCHW_VECT_C."
        )
    grouped = [*front, channels // 4, 4]
    if isinstance(input_shape_or_tensor, Tensor):
        return _permuted(reshape(input_shape_or_tensor, grouped), _TO_NCHW_VECT_C)
    return _permuted(grouped, _TO_NCHW_VECT_C)


def NCHW_VECT_CToNHWC(input_shape_or_tensor: Any) -> Any:
    """The inverse of `NHWCToNCHW_VECT_C`."""
    shape = _static_shape(input_shape_or_tensor)
    if shape[-1] != 4:
        raise ValueError("Last dimension of NCHW_VECT_C must be 4.")
    *front, groups, four = _permuted(shape, _FROM_NCHW_VECT_C)
    merged = [*front, groups * four]
    if isinstance(input_shape_or_tensor, Tensor):
        return reshape(_permuted(input_shape_or_tensor, _FROM_NCHW_VECT_C), merged)
    return merged
