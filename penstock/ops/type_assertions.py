"""Assertions about types, which are known while the graph is built."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from penstock import dtypes
from penstock.dtypes import DType
from penstock.ir.composite import SparseTensor
from penstock.ir.convert import to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.control import no_op

__all__ = [
    "assert_integer",
    "assert_proper_iterable",
    "assert_same_float_dtype",
    "assert_type",
    "is_numeric_tensor",
]


def assert_type(
    tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None
) -> Operation:
    """Raises TypeError unless `tensor` has type `tf_type`; returns an operation without effect."""
    wanted = dtypes.as_dtype(tf_type)
    with name_scope(name, "assert_type", [tensor]):
        if not isinstance(tensor, SparseTensor):
            tensor = to_tensor(tensor, name="tensor")
        if tensor.dtype != wanted:
            called = getattr(tensor, "name", "tensor")
            raise TypeError(
                f"{_prefix(message)}{called} must be of type {wanted}; got {tensor.dtype}"
            )
        return no_op("statically_determined_correct_type")


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> Operation:
    """Raises TypeError unless `x` has an integer type; returns an operation without effect."""
    with name_scope(name, "assert_integer", [x]):
        x = to_tensor(x, name="x")
        if not x.dtype.is_integer:
            raise TypeError(
                f'{_prefix(message)}Expected "x" to be integer type.  Found: {_called(x)} of dtype '
                f"{x.dtype}"
            )
        return no_op("statically_determined_was_integer")


def _prefix(message: str | None) -> str:
    return f"{message}.  " if message else ""


#: The types of numbers that assertions compare.
NUMERIC_TYPES = frozenset(
    dtype
    for dtype in dtypes.BY_NAME.values()
    if dtype.is_floating or dtype.is_integer or dtype.is_complex or dtype.is_quantized
)


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether `tensor` is a tensor of numbers; a Python number is none."""
    if not isinstance(tensor, Tensor):
        return False
    dtype = tensor.dtype
    return dtype.is_floating or dtype.is_integer or dtype.is_complex or dtype.is_quantized


def assert_same_float_dtype(
    tensors: Iterable[Any] | None = None, dtype: DType | None = None
) -> DType:
    """The floating-point type that all `tensors` have, and `dtype` if given; else ValueError.

    Entries that are None are passed over; without any tensor or type, it is float32.
    """
    found, first = dtype, None
    for item in tensors or ():
        if item is None:
            continue
        base = item.dtype.base_dtype
        if found is None:
            found, first = base, item
        elif base is not found:
            like = "" if first is None else f" as {_called(first)}"
            raise ValueError(
                f"{_called(item)}, type={base}, must be of the same type ({found}){like}."
            )
    if found is None:
        return dtypes.float32
    if not found.is_floating:
        raise ValueError(f"Expected floating point type, got {found}.")
    return found


def _called(item: Any) -> str:
    return item.name if hasattr(item, "name") else str(item)


def assert_proper_iterable(values: Any) -> None:
    """Raises TypeError unless `values` is a list or the like; a tensor, array or string is not."""
    unintended = (Tensor, SparseTensor, np.ndarray, str, bytes)
    if isinstance(values, unintended):
        raise TypeError(
            f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}'
        )
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')
