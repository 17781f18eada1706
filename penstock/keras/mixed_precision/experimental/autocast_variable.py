"""Variables that layers of mixed precision read in the type that they compute in."""

from __future__ import annotations

from typing import Any

from penstock.distribute.values import DistributedValues
from penstock.distribute.variables import DistributedVariable
from penstock.ir import tapes
from penstock.ir.auto_casts import read_dtype
from penstock.ir.convert import convert_to_tensor, register_tensor_conversion_function
from penstock.ops.casts import cast
from penstock.ops.control import init_scope
from penstock.ops.resource_variable import ResourceVariable, is_resource_variable

__all__ = ["AutoCastDistributedVariable", "AutoCastVariable", "auto_cast"]


class AutoCastVariable(ResourceVariable):
    """A variable whose reads, in a layer's call, are cast.

    It has the attributes of the variable that it is made of: both are one.
    """

    __slots__ = ("_variable",)

    _variable: Any

    def __init__(self, variable: Any):
        if not is_resource_variable(variable):
            raise ValueError(f"variable must be of type tf.ResourceVariable, but got: {variable}")
        if not variable.dtype.is_floating:
            raise ValueError(
                f"variable must be a floating point variable but has type: {variable.dtype.name}"
            )
        self.__dict__ = variable.__dict__
        object.__setattr__(self, "_variable", variable)

    @property
    def true_dtype(self) -> Any:
        """The type that the variable is kept in."""
        return self._variable.dtype

    @property
    def dtype(self) -> Any:
        """The type that it is read in."""
        return read_dtype() or self._variable.dtype

    def _cast(self, value: Any) -> Any:
        return value if self.dtype == value.dtype.base_dtype else cast(value, self.dtype)

    def value(self) -> Any:
        return self._cast(self._variable.value())

    def read_value(self) -> Any:
        return self._cast(self._variable.read_value())

    def sparse_read(self, indices: Any, name: str | None = None) -> Any:
        return self._cast(self._variable.sparse_read(indices, name=name))

    def gather_nd(self, indices: Any, name: str | None = None) -> Any:
        return self._cast(self._variable.gather_nd(indices, name=name))

    def __repr__(self) -> str:
        shown = (
            f"<AutoCastVariable '{self.name}' shape={self.shape} dtype={self.dtype.name} "
            f"true_dtype={self.true_dtype.name}"
        )
        if not self._is_eager:
            return f"{shown}>"
        with tapes.stop_recording(), init_scope():
            value: Any = self.read_value()
        return f"{shown}, numpy={value._text(is_repr=True).strip()}>"


class AutoCastDistributedVariable(AutoCastVariable, DistributedVariable):
    """Such a variable with a copy for each replica."""

    __slots__ = ()

    def __new__(cls, variable: Any) -> Any:
        if not isinstance(variable, DistributedValues):
            raise ValueError(f"variable must be of type DistributedValues, but got: {variable}")
        kind: Any = type(cls.__name__, (cls, type(variable)), {"__slots__": ()})
        return object.__new__(kind)

    __repr__ = DistributedVariable.__repr__


def _as_tensor(
    value: AutoCastDistributedVariable,
    dtype: Any = None,
    name: str | None = None,
    as_ref: bool = False,
) -> Any:
    """The copy of this replica, in the type that it is read in."""
    return convert_to_tensor(value._cast(convert_to_tensor(value.get(), name=name)), dtype)


# Before that of the variables that it is made of.
register_tensor_conversion_function(AutoCastDistributedVariable, _as_tensor, priority=99)


def auto_cast(variable: Any) -> Any:
    """The variable as one whose reads are cast; others than real ones stay as they are."""
    if not variable.dtype.is_floating:
        return variable
    if isinstance(variable, DistributedVariable):
        return AutoCastDistributedVariable(variable)
    return AutoCastVariable(variable)
