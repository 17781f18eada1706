"""Staging areas: `tf.contrib.staging.StagingArea` and `MapStagingArea`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from penstock.dtypes import DType
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.control import no_op
from penstock.ops.identity import identity
from penstock.ops.staging_ops import (
    MAP,
    ORDERED_MAP,
    Stage,
    StageClear,
    StagePeek,
    StageSize,
    Unstage,
)
from penstock.shapes import TensorShape, unknown_shape


class BaseStagingArea:
    """What both kinds of staging areas have in common."""

    def __init__(
        self,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        capacity: int = 0,
        memory_limit: int = 0,
    ):
        if shared_name is None:
            self._name = get_default_graph().unique_name(type(self).__name__)
        elif isinstance(shared_name, str):
            self._name = shared_name
        else:
            raise ValueError("shared_name must be a string")
        self._dtypes = dtypes
        if shapes is None:
            self._shapes = [unknown_shape() for _ in dtypes]
        elif len(shapes) != len(dtypes):
            raise ValueError("StagingArea shapes must be the same length as dtypes")
        else:
            self._shapes = [TensorShape(shape) for shape in shapes]
        if names is not None and len(names) != len(dtypes):
            raise ValueError("StagingArea names must be the same length as dtypes")
        self._names = names
        self._capacity = capacity
        self._memory_limit = memory_limit
        with name_scope(f"{self._name}_root"):
            self._coloc_op = no_op()

    @property
    def name(self) -> str:
        """The name of the staging area."""
        return self._name

    @property
    def dtypes(self) -> list[DType]:
        """The type of each component."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """The shape of each component."""
        return self._shapes

    @property
    def names(self) -> list[str] | None:
        """The name of each component, if they have names."""
        return self._names

    @property
    def capacity(self) -> int:
        """How many elements it holds at most; 0 for no limit."""
        return self._capacity

    @property
    def memory_limit(self) -> int:
        """How many bytes it holds at most; 0 for no limit."""
        return self._memory_limit

    @property
    def _settings(self) -> dict[str, Any]:
        return {
            "shared_name": self._name,
            "capacity": self._capacity,
            "memory_limit": self._memory_limit,
        }

    def _colocated(self) -> AbstractContextManager[Any]:
        return get_default_graph().colocate_with(self._coloc_op)

    def _check_put(self, vals: Any, indices: Any) -> tuple[list[Tensor], Sequence[int]]:
        """What is put as tensors and the numbers of their components."""
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Staging areas must have names to enqueue a dictionary")
            if not set(vals).issubset(self._names):
                raise ValueError(
                    "Keys in dictionary to put do not match names of staging area. Dictionary: "
                    f"({sorted(vals)}), Queue: ({sorted(self._names)})"
                )
            indices = [i for i, key in enumerate(self._names) if key in vals]
            vals = [vals[self._names[i]] for i in indices]
        else:
            if self._names:
                raise ValueError("You must enqueue a dictionary in a staging area with names")
            if indices is None:
                raise ValueError("Indices must be supplied when inserting a list of tensors")
            if len(indices) != len(vals):
                raise ValueError(
                    f"Number of indices '{len(indices)}' doesn't match number of values "
                    f"'{len(vals)}'"
                )
        if len(vals) > len(self._dtypes):
            raise ValueError(f"Unexpected number of inputs '{len(vals)}' vs '{len(self._dtypes)}'")
        tensors = [self._component(value, i) for value, i in zip(vals, indices, strict=True)]
        return tensors, indices

    def _component(self, value: Any, index: int) -> Tensor:
        dtype = self._dtypes[index]
        if value.dtype != dtype:
            raise ValueError(f"Datatypes do not match. '{value.dtype}' != '{dtype}'")
        value.get_shape().assert_is_compatible_with(self._shapes[index])
        return convert_to_tensor(value, dtype=dtype, name=f"component_{index}")

    def _moved(self, tensors: Any) -> list[Tensor]:
        """The tensors on the device of the current scope, if that is not the area's."""
        given = list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
        if no_op().device == self._coloc_op.device:
            return given
        return [identity(tensor) for tensor in given]

    def _result(self, tensors: Any, indices: Sequence[int]) -> Any:
        moved = self._moved(tensors)
        for tensor, i in zip(moved, indices, strict=True):
            tensor.set_shape(self._shapes[i])
        if self._names:
            return {self._names[i]: t for t, i in zip(moved, indices, strict=True)}
        return moved


def _tensors_of(vals: Any) -> list[Any]:
    if isinstance(vals, dict):
        return list(vals.values())
    return list(vals) if isinstance(vals, (list, tuple)) else [vals]


class StagingArea(BaseStagingArea):
    """Elements that one step puts aside for another, in order: to overlap copying and computing.

    Args:
      dtypes: the type of each component.
      shapes: the shape of each component, if they are known.
      names: names of the components: elements are then dictionaries.
      shared_name: the name that sessions share it under.
      capacity: how many elements it holds at most; 0 for no limit.
      memory_limit: how many bytes it holds at most; 0 for no limit.
    """

    def put(self, values: Any, name: str | None = None) -> Operation:
        """Adds an element, when there is room."""
        with name_scope(name, f"{self._name}_put", _tensors_of(values)) as scope:
            if not isinstance(values, (list, tuple, dict)):
                values = [values]
            tensors, _ = self._check_put(values, list(range(len(values))))
            with self._colocated():
                return Stage(tensors, name=scope, **self._settings)

    def get(self, name: str | None = None) -> Any:
        """Removes the oldest element, when there is one."""
        with self._colocated():
            values = Unstage(
                dtypes=self._dtypes, name=name or f"{self._name}_get", **self._settings
            )
        return self._result(values, range(len(self._dtypes)))

    def peek(self, index: Any, name: str | None = None) -> Any:
        """The element with a number, which stays."""
        with self._colocated():
            values = StagePeek(
                index, dtypes=self._dtypes, name=name or f"{self._name}_peek", **self._settings
            )
        return self._result(values, range(len(self._dtypes)))

    def size(self, name: str | None = None) -> Tensor:
        """How many elements are in the area."""
        return StageSize(dtypes=self._dtypes, name=name or f"{self._name}_size", **self._settings)

    def clear(self, name: str | None = None) -> Operation:
        """Removes all elements."""
        return StageClear(dtypes=self._dtypes, name=name or f"{self._name}_clear", **self._settings)


class MapStagingArea(BaseStagingArea):
    """Elements that one step puts aside for another, under keys.

    Args:
      dtypes, shapes, names, shared_name, capacity, memory_limit: see `StagingArea`.
      ordered: whether the smallest key is taken first.
    """

    def __init__(
        self,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        ordered: bool = False,
        capacity: int = 0,
        memory_limit: int = 0,
    ):
        super().__init__(dtypes, shapes, names, shared_name, capacity, memory_limit)
        self._ops = ORDERED_MAP if ordered else MAP

    def put(self, key: Any, vals: Any, indices: Any = None, name: str | None = None) -> Operation:
        """Adds components of the element with a key, when there is room.

        Args:
          key: an int64 scalar.
          vals: a dictionary of named components, or a list.
          indices: the numbers of the components in a list.
          name: a name for the operation.
        """
        with name_scope(name, f"{self._name}_put", _tensors_of(vals)) as scope:
            tensors, indices = self._check_put(vals, indices)
            with self._colocated():
                return self._ops.stage(
                    key, list(indices), tensors, dtypes=self._dtypes, name=scope, **self._settings
                )

    def peek(self, key: Any, indices: Any = None, name: str | None = None) -> Any:
        """Components of the element with a key, which stay."""
        numbers, dtypes = self._wanted(indices)
        with self._colocated():
            values = self._ops.peek(
                key, numbers, dtypes=dtypes, name=name or f"{self._name}_pop", **self._settings
            )
        return self._result(values, numbers)

    def get(self, key: Any = None, indices: Any = None, name: str | None = None) -> Any:
        """Removes components of the element with a key, or of any: (key, values)."""
        numbers, dtypes = self._wanted(indices)
        if key is not None:
            with self._colocated():
                values = self._ops.unstage(
                    key, numbers, dtypes=dtypes, name=name or f"{self._name}_get", **self._settings
                )
            return key, self._result(values, numbers)
        with self._colocated():
            taken, values = self._ops.unstage_no_key(
                numbers, dtypes=dtypes, name=name or f"{self._name}_get_nokey", **self._settings
            )
        return self._moved(taken)[0], self._result(values, numbers)

    def _wanted(self, indices: Any) -> tuple[list[int], list[DType]]:
        """Numbers or names of components as numbers, and their types."""
        if indices is None:
            indices = list(range(len(self._dtypes)))
        if not isinstance(indices, (tuple, list)):
            raise TypeError(f"Invalid indices type '{type(indices)}'")
        if not indices:
            raise ValueError("Empty indices")
        if all(isinstance(i, str) for i in indices):
            if self._names is None:
                raise ValueError(
                    f"String indices provided '{indices}', but this Staging Area was not created "
                    "with names."
                )
            for name in indices:
                if name not in self._names:
                    raise ValueError(
                        f"Named index '{name}' not in Staging Area names '{self._names}'"
                    )
            indices = [self._names.index(name) for name in indices]
        elif not all(isinstance(i, int) for i in indices):
            raise TypeError(f"Mixed types in indices '{indices}'. May only be str or int")
        return list(indices), [self._dtypes[i] for i in indices]

    def size(self, name: str | None = None) -> Tensor:
        """How many complete elements are in the area."""
        return self._ops.size(
            dtypes=self._dtypes, name=name or f"{self._name}_size", **self._settings
        )

    def incomplete_size(self, name: str | None = None) -> Tensor:
        """How many elements lack components."""
        return self._ops.incomplete_size(
            dtypes=self._dtypes, name=name or f"{self._name}_incomplete_size", **self._settings
        )

    def clear(self, name: str | None = None) -> Operation:
        """Removes all elements."""
        return self._ops.clear(
            dtypes=self._dtypes, name=name or f"{self._name}_clear", **self._settings
        )
