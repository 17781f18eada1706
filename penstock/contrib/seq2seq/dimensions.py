"""Sizes of dimensions: numbers where they are known."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.ir.constants import constant_value
from penstock.shapes import TensorShape, dimension_value


def size_of(tensor: Any, axis: int) -> Any:
    """The size of a dimension: a number where it is known, else a tensor."""
    known = dimension_value(tensor.shape[axis])
    return tf.shape(tensor)[axis] if known is None else known


def known_number(value: Any) -> int | None:
    """A number that may be a tensor, as far as it is known while building."""
    if not isinstance(value, tf.Tensor):
        return None if value is None else int(value)
    known = constant_value(value)
    return None if known is None else int(known)


def known_shape(size: Any) -> TensorShape:
    """A size that a cell names (a number, a shape, or a tensor) as a shape."""
    if isinstance(size, tf.Tensor):
        known = constant_value(size)
        return TensorShape(None) if known is None else TensorShape(known.reshape(-1).tolist())
    return TensorShape(size)
