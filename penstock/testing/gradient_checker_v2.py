"""Checks the gradients of a Python function of tensors: `compute_gradient(f, [x, y])`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from penstock.ir.composite import IndexedSlicesValue
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_session
from penstock.ops.constants import placeholder
from penstock.testing.gradient_checker import _Check, _compute_dx_and_dy, largest_difference


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
    session = get_default_session()
    values = session.run([convert_to_tensor(each) for each in x])
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
