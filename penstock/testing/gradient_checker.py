"""Checks gradients by differences: `tf.test.compute_gradient` and `compute_gradient_error`.

A Jacobian has a row for each element of x and a column for each of y. A complex element counts as
two real ones, for a function of complex numbers need not have a complex derivative.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from penstock import dtypes
from penstock.autodiff.gradients import gradients
from penstock.ir.composite import IndexedSlices
from penstock.ir.defaults import get_default_session
from penstock.ir.tensor import Tensor
from penstock.ops.constants import constant
from penstock.ops.identity import identity

DIFFERENTIABLE = (
    dtypes.float16,
    dtypes.bfloat16,
    dtypes.float32,
    dtypes.float64,
    dtypes.complex64,
    dtypes.complex128,
)

Jacobians = tuple[np.ndarray, np.ndarray]


def _size(shape: Any) -> int:
    return shape if isinstance(shape, int) else math.prod(int(size) for size in shape)


def _reals(dtype: dtypes.DType) -> int:
    return 2 if dtype.is_complex else 1


def _flat_view(array: np.ndarray, dtype: dtypes.DType) -> np.ndarray:
    """The elements of a contiguous array as real numbers, to be read and changed."""
    return array.reshape(-1).view(dtype.real_dtype.as_numpy_dtype)


def _compute_dx_and_dy(x: Any, y: Any, y_shape: Any) -> tuple[Any, Tensor]:
    """The gradient of y by x, and the gradient by y that it is computed from, to be fed."""
    with x.graph.as_default():
        dy = constant(1.0, shape=y_shape, dtype=y.dtype.base_dtype)
        # The identity keeps a gradient that is dy itself from being the fed tensor, which could
        # not be fetched.
        (dx,) = gradients(y, x, identity(dy))
    return dx, dy


class _Check:
    """One pair of x and y, with the gradient nodes between them."""

    def __init__(
        self, x: Any, x_shape: Any, y: Any, y_shape: Any, feeds: dict[Any, Any], dx: Any, dy: Any
    ):
        self.x = x
        self.x_shape = tuple(np.atleast_1d(x_shape)) if isinstance(x_shape, int) else tuple(x_shape)
        self.y = y
        self.y_shape = y_shape
        self.feeds = feeds
        self.dx = dx
        self.dy = dy

    def start_value(self, given: Any) -> np.ndarray:
        dtype = dtypes.as_dtype(self.x.dtype).base_dtype
        for name, each in (("x", dtype), ("y", dtypes.as_dtype(self.y.dtype).base_dtype)):
            assert each in DIFFERENTIABLE, f"Don't support type {each.name} for {name}"
        if given is not None:
            assert list(self.x_shape) == list(given.shape), (
                f"x_shape = {self.x_shape}, init_data shape = {given.shape}"
            )
            return np.asarray(given)
        value = np.random.random_sample(self.x_shape).astype(dtype.as_numpy_dtype)  # noqa: NPY002
        if dtype.is_complex:
            value.imag = np.random.random_sample(self.x_shape)  # noqa: NPY002
        return value

    def theoretical(self, x_data: np.ndarray) -> np.ndarray:
        """The Jacobian from the gradient nodes: one run, and one column, per element of dy."""
        x_type, dy_type = self.x.dtype.base_dtype, self.dy.dtype.base_dtype
        columns = _size(self.y_shape) * _reals(dy_type)
        rows = _size(self.x_shape) * _reals(x_type)
        jacobian = np.zeros((rows, columns), x_type.real_dtype.as_numpy_dtype)
        dy_data = np.zeros(self.y_shape, dy_type.as_numpy_dtype)
        dy_elements = _flat_view(dy_data, dy_type)
        for column in range(columns):
            dy_elements[column] = 1
            self._add_gradient(jacobian[:, column], x_data, dy_data)
            dy_elements[column] = 0
        if not columns:
            self._check_empty(x_data, dy_data)
        return jacobian

    def _slope(self, x_data: Any, dy_data: Any) -> Any:
        """The gradient by x: an array, or the indices and values of its rows."""
        feeds = {**self.feeds, self.x: x_data, self.dy: dy_data}
        session = get_default_session()
        if isinstance(self.dx, IndexedSlices):
            return tuple(session.run([self.dx.indices, self.dx.values], feeds))
        assert isinstance(self.dx, Tensor), f"dx = {self.dx}"
        return session.run(self.dx, feeds)

    def _value(self, x_data: Any) -> np.ndarray:
        """The value of y where x has this one."""
        return self.y.eval(feed_dict={**self.feeds, self.x: x_data})

    def _add_gradient(self, column: np.ndarray, x_data: Any, dy_data: Any) -> None:
        slope = self._slope(x_data, dy_data)
        if isinstance(slope, tuple):
            row_size = len(column) // max(1, int(self.x_shape[0]))
            for index, value in zip(*slope, strict=True):
                row = np.ascontiguousarray(value).reshape(-1).view(column.dtype)
                column[index * row_size : (index + 1) * row_size] += row
            return
        column[:] = np.ascontiguousarray(slope).reshape(-1).view(column.dtype)

    def _check_empty(self, x_data: Any, dy_data: Any) -> None:
        """No element of y: the gradient is run once all the same, and must be zero."""
        backprop = self._slope(x_data, dy_data)
        if backprop.shape != x_data.shape:
            raise ValueError(
                f"Empty gradient has wrong shape: expected {x_data.shape}, got {backprop.shape}"
            )
        if np.any(backprop):
            raise ValueError("Empty tensor with nonzero gradients")

    def numeric(self, x_data: np.ndarray, delta: float) -> np.ndarray:
        """The Jacobian from central differences: two runs, and one row, per element of x."""
        x_type, y_type = self.x.dtype.base_dtype, self.y.dtype.base_dtype
        if y_type == dtypes.bfloat16:  # too few bits for a small difference
            y_type = dtypes.float32
        x_data = np.array(x_data, dtype=x_type.as_numpy_dtype, order="C")
        real_y = y_type.real_dtype.as_numpy_dtype
        scale = np.asarray(2 * delta, dtype=real_y)[()]
        rows = _size(self.x_shape) * _reals(x_type)
        columns = _size(self.y_shape) * _reals(y_type)
        jacobian = np.zeros((rows, columns), x_type.real_dtype.as_numpy_dtype)
        for row in range(rows):
            above, below = x_data.copy(), x_data.copy()
            _flat_view(above, x_type)[row] += delta
            _flat_view(below, x_type)[row] -= delta
            y_above, y_below = (
                np.asarray(self._value(value)).astype(y_type.as_numpy_dtype)
                for value in (above, below)
            )
            difference = np.ascontiguousarray((y_above - y_below) / scale)
            jacobian[row, :] = difference.reshape(-1).view(real_y)
        return jacobian

    def jacobians(self, given: Any, delta: float) -> Jacobians:
        x_data = self.start_value(given)
        return self.theoretical(x_data), self.numeric(x_data, delta)


def _compute_theoretical_jacobian(
    x: Any, x_shape: Any, x_data: Any, dy: Any, dy_shape: Any, dx: Any, extra_feed_dict: Any
) -> np.ndarray:
    """The Jacobian from the nodes of `_compute_dx_and_dy`."""
    return _Check(x, x_shape, None, dy_shape, extra_feed_dict or {}, dx, dy).theoretical(x_data)


def _compute_numeric_jacobian(
    x: Any, x_shape: Any, x_data: Any, y: Any, y_shape: Any, delta: float, extra_feed_dict: Any
) -> np.ndarray:
    """The Jacobian from central differences."""
    feeds = extra_feed_dict or {}
    return _Check(x, x_shape, y, y_shape, feeds, None, None).numeric(x_data, delta)


def compute_gradient(
    x: Any,
    x_shape: Any,
    y: Any,
    y_shape: Any,
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Sequence[Any] | None = None,
    extra_feed_dict: dict[Any, Any] | None = None,
) -> Any:
    """The Jacobian of y by x from the gradient nodes, and the one from differences.

    Args:
      x: A tensor, or a list of them, which gives a list of such pairs.
      x_shape: The shape of x, or a list of them.
      y: A tensor that is computed from x.
      y_shape: The shape of y.
      x_init_value: Where to differentiate, an array or a list of them; random unless given.
      delta: By how much elements of x are changed.
      init_targets: Operations to run before.
      extra_feed_dict: Values of other tensors.
    """
    feeds = dict(extra_feed_dict or {})
    several = isinstance(x, list)
    xs, shapes = (x, x_shape) if several else ([x], [x_shape])
    checks = [
        _Check(xi, shape, y, y_shape, feeds, *_compute_dx_and_dy(xi, y, y_shape))
        for xi, shape in zip(xs, shapes, strict=True)
    ]
    if init_targets is not None:
        assert isinstance(init_targets, (list, tuple))
        for target in init_targets:
            target.run()
    starts = x_init_value if several and x_init_value is not None else [x_init_value] * len(xs)
    found = [check.jacobians(start, delta) for check, start in zip(checks, starts, strict=True)]
    return found if several else found[0]


def compute_gradient_error(
    x: Any,
    x_shape: Any,
    y: Any,
    y_shape: Any,
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Sequence[Any] | None = None,
    extra_feed_dict: dict[Any, Any] | None = None,
) -> Any:
    """The largest difference between the Jacobians of `compute_gradient`."""
    found = compute_gradient(
        x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict
    )
    return largest_difference([found] if isinstance(found, tuple) else found)


def largest_difference(pairs: Iterable[Jacobians]) -> Any:
    """The largest difference between elements of the two Jacobians of each pair."""
    differences = [np.fabs(a - b).max() for a, b in pairs if a.size or b.size]
    return max(differences, default=0)
