"""Checks the gradients of a Python function of tensors: `compute_gradient(f, [x, y])`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from penstock.gradient_tape import GradientTape
from penstock.ir.composite import IndexedSlices, IndexedSlicesValue
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import executing_eagerly, get_default_session
from penstock.ops.constants import constant, placeholder
from penstock.testing.gradient_checker import (
    DIFFERENTIABLE,
    _Check,
    _compute_dx_and_dy,
    largest_difference,
)


def compute_gradient(
    f: Callable[..., Any], x: list[Any], delta: float = 1e-3
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """The Jacobians of f by each argument: those from the gradient nodes, those from differences.

    Args:
      f: A function of tensors that returns a tensor.
      x: The values of its arguments where it is differentiated.
      delta: By how much elements of x are changed.
    """
    if not isinstance(x, list):
        raise ValueError(f"`x` must be a list of Tensors (arguments to `f`), not a {type(x)}")
    tensors = [convert_to_tensor(each) for each in x]
    for i, tensor in enumerate(tensors):
        dtype = tensor.dtype.base_dtype
        assert dtype in DIFFERENTIABLE, (
            f"Cannot compute gradient for unsupported type {dtype.name} of argument {i}"
        )
    if executing_eagerly():
        return _computed_now(f, [np.asarray(tensor) for tensor in tensors], delta)
    session = get_default_session()
    values = session.run(tensors)
    values = [np.asarray(value) for value in values]
    arguments = [placeholder(value.dtype, value.shape) for value in values]
    y = convert_to_tensor(f(*arguments))
    feeds = dict(zip(arguments, values, strict=True))
    y_shape = session.run(y, feeds).shape
    checks = [
        _Check(each, value.shape, y, y_shape, feeds, *_compute_dx_and_dy(each, y, y_shape))
        for each, value in zip(arguments, values, strict=True)
    ]
    pairs = [check.jacobians(value, delta) for check, value in zip(checks, values, strict=True)]
    theoretical, numeric = zip(*pairs, strict=True)
    return theoretical, numeric


class _EagerCheck(_Check):
    """One argument of a function that is computed as it is called."""

    def __init__(self, f: Callable[..., Any], values: list[np.ndarray], place: int):
        self._f = f
        self._values = values
        self._place = place
        y = convert_to_tensor(f(*map(constant, values)))
        x = constant(values[place])
        super().__init__(x, values[place].shape, y, y.shape.as_list(), {}, None, y)

    def _arguments(self, x_data: Any) -> list[Any]:
        values = [*self._values]
        values[self._place] = x_data
        return [constant(value) for value in values]

    def _value(self, x_data: Any) -> np.ndarray:
        return np.asarray(convert_to_tensor(self._f(*self._arguments(x_data))))

    def _slope(self, x_data: Any, dy_data: Any) -> Any:
        arguments = self._arguments(x_data)
        with GradientTape() as tape:
            tape.watch(arguments[self._place])
            y = convert_to_tensor(self._f(*arguments))
        dx = tape.gradient(y, arguments[self._place], output_gradients=constant(dy_data))
        if isinstance(dx, IndexedSlices):
            return np.asarray(dx.indices), np.asarray(dx.values)
        return np.zeros_like(x_data) if dx is None else np.asarray(dx)


def _computed_now(
    f: Callable[..., Any], values: list[np.ndarray], delta: float
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    pairs = [
        _EagerCheck(f, values, place).jacobians(value, delta) for place, value in enumerate(values)
    ]
    theoretical, numeric = zip(*pairs, strict=True)
    return theoretical, numeric


def max_error(grad1: Iterable[np.ndarray], grad2: Iterable[np.ndarray]) -> Any:
    """The largest difference between the elements of two lists of Jacobians."""
    return largest_difference(zip(grad1, grad2, strict=False))


def _to_numpy(value: Any) -> Any:
    """A fetched gradient as an array: of rows, the sum at each index."""
    if not isinstance(value, IndexedSlicesValue):
        return value
    dense = np.zeros(value.dense_shape)
    np.add.at(dense, value.indices, value.values)
    return dense
