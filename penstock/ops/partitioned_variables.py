"""Variables that are kept in parts, one after the other along one axis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from penstock.dtypes import DType
from penstock.ir.convert import register_tensor_conversion_function
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops.identity import identity
from penstock.ops.joining import concat, split
from penstock.ops.variables import Variable
from penstock.shapes import TensorShape


class PartitionedVariable:
    """A list of variables that stand for one: the parts of it along one axis.

    As a tensor it is the concatenation of its parts.

    Args:
      name: name of the whole.
      shape: shape of the whole.
      dtype: type of the whole.
      variable_list: the parts, each with its `SaveSliceInfo`.
      partitions: the number of parts along each axis.
    """

    def __init__(
        self,
        name: str,
        shape: Any,
        dtype: DType,
        variable_list: Any,
        partitions: Any,
    ):
        if not isinstance(variable_list, (list, tuple)):
            raise TypeError(f"variable_list is not a list or tuple: {variable_list}")
        if not isinstance(partitions, (list, tuple)):
            raise TypeError(f"partitions is not a list or tuple: {partitions}")
        if not all(count >= 1 for count in partitions):
            raise ValueError(f"partition values must be positive: {partitions}")
        if not variable_list:
            raise ValueError("variable_list may not be empty")
        for part in variable_list:
            info = part._get_save_slice_info()
            if info is None:
                raise ValueError(
                    f"All variables must have a save_slice_info available; missing in {part.name!r}"
                )
            if len(shape) != len(partitions):
                raise ValueError(f"len(shape) != len(partitions): {shape} vs. {partitions}")
            if list(info.full_shape) != [int(size) for size in shape]:
                raise ValueError(
                    f"All variables' full shapes must match shape: {shape}; but full shapes were: "
                    f"{info.full_shape}"
                )
        self._name = name
        self._shape = TensorShape(shape)
        self._dtype = dtype
        self._variable_list = sorted(variable_list, key=_offset)
        self._partitions = list(partitions)

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        return self._shape

    def get_shape(self) -> TensorShape:
        """The static shape of the whole."""
        return self._shape

    def _get_variable_list(self) -> list[Variable]:
        return self._variable_list

    def _get_partitions(self) -> list[int]:
        return self._partitions

    def _partition_axes(self) -> list[int]:
        """The axes along which there is more than one part; the first if there is none."""
        return [axis for axis, count in enumerate(self._partitions) if count > 1] or [0]

    def _axis(self) -> int:
        axes = self._partition_axes()
        if len(axes) > 1:
            raise NotImplementedError(
                f"Cannot concatenate along more than one dimension: {axes}. Multi-axis partition "
                "concat is not supported"
            )
        return axes[0]

    def __iter__(self) -> Iterator[Variable]:
        return iter(self._variable_list)

    def __len__(self) -> int:
        axes = self._partition_axes()
        if len(axes) > 1:
            raise ValueError(f"Cannot get a length for {len(axes)} > 1 partition axes")
        return len(self._variable_list)

    def as_tensor(self) -> Tensor:
        """The parts joined to one tensor."""
        with get_default_graph().control_dependencies(None):
            return self._concat()

    def _concat(self) -> Tensor:
        if len(self._variable_list) == 1:
            with name_scope(None):
                return identity(self._variable_list[0], name=self._name)
        axis = self._axis()
        with name_scope(f"{self._name}/ConcatPartitions/"):
            joined = concat(self._variable_list, axis)
        with name_scope(None):
            return identity(joined, name=self._name)

    def assign(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> list[Any]:
        """Replaces the value of each part by its part of `value` (a tensor, or a list of parts)."""
        return self._apply(lambda part, new: part.assign(new, use_locking, name, read_value), value)

    def assign_add(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> list[Any]:
        """Adds to each part its part of `value`."""
        return self._apply(
            lambda part, delta: part.assign_add(delta, use_locking, name, read_value), value
        )

    def assign_sub(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> list[Any]:
        """Subtracts from each part its part of `value`."""
        return self._apply(
            lambda part, delta: part.assign_sub(delta, use_locking, name, read_value), value
        )

    def _apply(self, update: Callable[[Variable, Any], Any], value: Any) -> list[Any]:
        axis = self._axis()
        if isinstance(value, (list, tuple)):
            values = list(value)
        elif isinstance(value, PartitionedVariable):
            values = list(value._variable_list)
        else:
            sizes = [part.shape.as_list()[axis] for part in self._variable_list]
            values = split(value, sizes, axis=axis)
        if len(values) != len(self._variable_list):
            raise ValueError(
                f"{self._name!r} has {len(self._variable_list)} parts, got {len(values)} values"
            )
        return [update(part, new) for part, new in zip(self._variable_list, values, strict=True)]


def _offset(part: Variable) -> list[int]:
    info = part._get_save_slice_info()
    assert info is not None
    return list(info.var_offset or ())


def _conversion(
    variable: PartitionedVariable, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    if dtype is not None and not dtype.is_compatible_with(variable.dtype):
        raise ValueError(
            f"Incompatible type conversion requested to type {dtype.name!r} for variable of type "
            f"{variable.dtype.name!r}"
        )
    if as_ref:
        raise NotImplementedError("PartitionedVariable doesn't support being used as a reference.")
    return variable.as_tensor()


register_tensor_conversion_function(PartitionedVariable, _conversion)
