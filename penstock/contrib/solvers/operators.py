"""Matrices as what they do to vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import penstock as tf

__all__ = [
    "LinearOperator",
    "create_operator",
    "dot",
    "identity_operator",
    "l2norm",
    "l2norm_squared",
    "l2normalize",
]


class LinearOperator(NamedTuple):
    """A matrix by its shape, its type, and its products with columns."""

    shape: Any
    dtype: Any
    apply: Callable[[Any], Any]
    apply_adjoint: Callable[[Any], Any]


def _shape(matrix: Any) -> Any:
    shape = matrix.get_shape()
    return shape.as_list() if shape.is_fully_defined() else tf.shape(matrix)


def create_operator(matrix: Any) -> LinearOperator:
    """A matrix as an operator."""
    return LinearOperator(
        _shape(matrix),
        matrix.dtype,
        lambda v: tf.matmul(matrix, v, adjoint_a=False),
        lambda v: tf.matmul(matrix, v, adjoint_a=True),
    )


def identity_operator(matrix: Any) -> LinearOperator:
    """An operator of a matrix's shape that changes nothing."""
    return LinearOperator(_shape(matrix), matrix.dtype, lambda v: v, lambda v: v)


def dot(x: Any, y: Any) -> Any:
    """The product of two vectors, the first conjugated."""
    return tf.reduce_sum(tf.conj(x) * y)


def l2norm_squared(v: Any) -> Any:
    """The squared length of a vector."""
    return tf.constant(2, dtype=v.dtype.base_dtype) * tf.nn.l2_loss(v)


def l2norm(v: Any) -> Any:
    """The length of a vector."""
    return tf.sqrt(l2norm_squared(v))


def l2normalize(v: Any) -> tuple[Any, Any]:
    """A vector of length one, and the length that it had."""
    norm = l2norm(v)
    return v / norm, norm
