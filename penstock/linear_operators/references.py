"""Arguments of linear operators that may be variables: those are kept, others become tensors."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.module import Module
from penstock.ops.variables import Variable

__all__ = ["base_dtype", "convert_nonref_to_tensor", "dtype_name", "is_ref"]


def is_ref(x: Any) -> bool:
    """Whether x may change its value: a variable, or a module with a dtype and a shape."""
    if isinstance(x, Variable):
        return True
    return isinstance(x, Module) and hasattr(x, "dtype") and hasattr(x, "shape")


def base_dtype(dtype: Any) -> dtypes.DType:
    """The type without reference."""
    return dtypes.as_dtype(dtype).base_dtype


def dtype_name(dtype: Any) -> str:
    """The name of a type, as in "float32"."""
    return dtypes.as_dtype(dtype).name


def convert_nonref_to_tensor(
    value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None
) -> Any:
    """A tensor of what is no reference; a variable is given back as it is, None stays None."""
    if value is None:
        return None
    if not is_ref(value):
        return convert_to_tensor(value, dtype, name, preferred_dtype=dtype_hint)
    if dtype is not None and base_dtype(dtype) != base_dtype(value.dtype):
        wanted, given = dtype_name(base_dtype(dtype)), dtype_name(base_dtype(value.dtype))
        raise TypeError(f'Mutable type must be of dtype "{wanted}" but is "{given}".')
    return value
