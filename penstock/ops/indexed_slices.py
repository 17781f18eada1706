"""IndexedSlices where a dense tensor is wanted."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from penstock.ir.composite import IndexedSlices, SparseTensor
from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor, register_tensor_conversion_function
from penstock.ir.tensor import Tensor
from penstock.ops.segments import UnsortedSegmentSum

_LARGE = 100_000_000  # elements: worth a warning


def _conversion(
    slices: IndexedSlices, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    if dtype is not None and not dtype.is_compatible_with(slices.dtype):
        raise ValueError(
            f"Tensor conversion requested dtype {dtype.name} for IndexedSlices with dtype "
            f"{slices.dtype.name}"
        )
    if slices.dense_shape is None:
        raise ValueError(
            f"Tensor conversion requested for IndexedSlices without dense_shape: {slices}"
        )
    _warn_if_large(slices.dense_shape)
    dense_shape: Any = slices.dense_shape
    rows = dense_shape[0]
    return UnsortedSegmentSum(slices.values, slices.indices, rows, name=name)


def _warn_if_large(dense_shape: Any) -> None:
    known = not isinstance(dense_shape, Tensor)  # a list, as it was given
    sizes = np.asarray(dense_shape) if known else constant_value(dense_shape)
    if sizes is None:
        size = "of unknown shape"
    else:
        count = int(sizes.prod())
        if count < _LARGE:
            return
        size = f"with {count} elements"
    warnings.warn(
        f"Converting sparse IndexedSlices to a dense Tensor {size}. This may consume a large "
        "amount of memory.",
        stacklevel=2,
    )


register_tensor_conversion_function(IndexedSlices, _conversion)


def convert_to_tensor_or_indexed_slices(
    value: Any, dtype: Any = None, name: str | None = None
) -> Any:
    """The value as it is if it is an IndexedSlices, else as a tensor."""
    if isinstance(value, (IndexedSlices, SparseTensor)):
        if dtype and not dtype.is_compatible_with(value.dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype "
                f"{value.dtype.name}: {value!s}"
            )
        return value
    return convert_to_tensor(value, dtype, name)
