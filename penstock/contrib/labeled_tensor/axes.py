"""Axes with names, sizes and tick labels."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from penstock.contrib.labeled_tensor import typecheck as tc
from penstock.shapes import Dimension

LabelsLike = tc.Union(np.ndarray, range, list, tuple)
DimensionLike = tc.Optional(tc.Union(Dimension, int))
AxisValue = tc.Union(LabelsLike, DimensionLike)
Scalar = tc.Union(numbers.Number, bool, bytes, str)


class Axis:
    """One dimension of a tensor: a name, with a size or with labels of its places.

    Args:
      value: a size, which may be None, or the labels, each of which occurs once.
    """

    @tc.accepts(object, str, AxisValue)
    def __init__(self, name: str, value: Any):
        labels = None
        if value is None or isinstance(value, int | Dimension):
            dimension = value if isinstance(value, Dimension) else Dimension(value)
        else:
            dimension, labels = Dimension(len(value)), tuple(value)
        if dimension.value == 0:
            labels = ()
        self._name = name
        self._dimension = dimension
        self._labels: tuple[Any, ...] | None = labels
        self._index: dict[Any, int] | None = None
        if labels is not None:
            self._index = {label: place for place, label in enumerate(labels)}
            if len(self._index) != len(labels):
                raise ValueError(f"Tick labels must be unique, but got {labels}")

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimension(self) -> Dimension:
        return self._dimension

    @property
    def size(self) -> int | None:
        size: int | None = self._dimension.value
        return size

    @property
    def labels(self) -> tuple[Any, ...] | None:
        return self._labels

    @property
    def value(self) -> Any:
        """The labels, or the dimension of an axis without."""
        return self._dimension if self._labels is None else self._labels

    def index(self, value: Any) -> int:
        """The place of a label."""
        if self._index is None:
            raise ValueError("Axis does not have tick labels")
        return self._index[value]

    def __len__(self) -> int:
        if self.size is None:
            raise ValueError(f"axis {self.name!r} has unknown length")
        return self.size

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self.name}', {self.value!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Axis) and self._facts() == other._facts()

    def __hash__(self) -> int:
        return hash(self._facts())

    def _facts(self) -> tuple[Any, ...]:
        return self.name, self.size, self.labels


AxisLike = tc.Union(Axis, tc.Tuple(str, AxisValue))


@tc.accepts(AxisLike)
def as_axis(axis_data: Any) -> Axis:
    """An axis from one, or from a name and a value."""
    return axis_data if isinstance(axis_data, Axis) else Axis(*axis_data)


class Axes(Mapping[str, Axis]):
    """The axes of a tensor in their order, by name."""

    @tc.accepts(object, tc.List(AxisLike))
    def __init__(self, axes: Any):
        self._axes: dict[str, Axis] = {}
        for axis in map(as_axis, axes):
            if axis.name in self._axes:
                raise ValueError(f"Duplicate axis name: {axis.name}")
            self._axes[axis.name] = axis

    def __iter__(self) -> Iterator[str]:
        return iter(self._axes)

    @tc.accepts(object, str)
    def __getitem__(self, name: str) -> Axis:
        return self._axes[name]

    def __contains__(self, name: object) -> bool:
        return name in self._axes

    def __len__(self) -> int:
        return len(self._axes)

    def __hash__(self) -> int:
        return hash(tuple(self.items()))

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}([{shown_axes(self, indent=len(name) + 2)}])"

    @tc.accepts(object, str)
    def remove(self, axis_name: str) -> Axes:
        """The axes without one of them."""
        if axis_name not in self:
            raise KeyError(axis_name)
        return Axes([axis for axis in self.values() if axis.name != axis_name])


def shown_axes(axes: Axes, indent: int) -> str:
    """Axes one below the other, for a `repr`."""
    return (",\n" + " " * indent).join(f"('{a.name}', {a.value!r})" for a in axes.values())


@tc.accepts(tc.Collection(Axis))
def concat_axes(axes: Any) -> Axis:
    """The axis of tensors that are put one after the other along it."""
    if not axes:
        raise ValueError("axes must not be empty")
    names = {axis.name for axis in axes}
    if len(names) > 1:
        raise ValueError(f"axes do not all have the same name: {names!r}")
    (name,) = names
    if all(axis.labels is not None for axis in axes):
        return Axis(name, tuple(label for axis in axes for label in axis.labels))
    sizes = [axis.size for axis in axes]
    return Axis(name, None if None in sizes else sum(sizes))
