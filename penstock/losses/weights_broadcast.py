"""Which weights go with which values, in losses and metrics.

Weights are a scalar, or have the rank of the values with each dimension 1 or the values'.
"""

from __future__ import annotations

from typing import Any

from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.binary import multiply
from penstock.ops.comparison import equal
from penstock.ops.conditionals import cond
from penstock.ops.control import no_op
from penstock.ops.debugging import Assert
from penstock.ops.filling import ones_like
from penstock.ops.joining import concat
from penstock.ops.sets import set_difference
from penstock.ops.shaping import expand_dims, rank, size
from penstock.ops.shaping import shape as shape_of

__all__ = ["assert_broadcastable", "broadcast_weights"]

_FAULT = "weights can not be broadcast to values."


def assert_broadcastable(weights: Any, values: Any) -> Operation:
    """Checks that `weights` can be broadcast to `values`; the operation fails if they can't.

    What can be checked while building is, with a ValueError.
    """
    with name_scope(None, "assert_broadcastable", [weights, values]) as scope:
        with name_scope(None, "weights", [weights]) as weights_scope:
            weights = convert_to_tensor(weights, name=weights_scope)
            weights_shape = shape_of(weights, name="shape")
            weights_rank = rank(weights, name="rank")
        with name_scope(None, "values", [values]) as values_scope:
            values = convert_to_tensor(values, name=values_scope)
            values_shape = shape_of(values, name="shape")
            values_rank = rank(values, name="rank")
        success = check_broadcastable(weights, values)
        if success is not None:
            return no_op(name=success)
        is_scalar = equal(0, weights_rank, name="is_scalar")
        data = [
            _FAULT,
            "weights.shape=",
            weights.name,
            weights_shape,
            "values.shape=",
            values.name,
            values_shape,
            "is_scalar=",
            is_scalar,
        ]
        is_valid = cond(
            is_scalar,
            lambda: is_scalar,
            lambda: _has_valid_shape(weights_rank, weights_shape, values_rank, values_shape),
            name="is_valid_shape",
        )
        return Assert(is_valid, data, name=scope)


def check_broadcastable(weights: Tensor, values: Tensor) -> str | None:
    """The name of a check that succeeds; None if it must be made when the graph runs.

    ValueError if it fails.
    """
    weights_rank, values_rank = weights._rank(), values._rank()
    if weights_rank is None or values_rank is None:
        return None
    if weights_rank == 0:
        return "static_scalar_check_success"
    if weights_rank != values_rank:
        raise ValueError(
            f"{_FAULT} values.rank={values_rank}. weights.rank={weights_rank}. "
            f"values.shape={values.shape}. weights.shape={weights.shape}."
        )
    weights_shape, values_shape = weights._shape, values._shape
    assert weights_shape is not None and values_shape is not None
    if None in weights_shape or None in values_shape:
        return None
    for axis, (weight, value) in enumerate(zip(weights_shape, values_shape, strict=True)):
        if weight not in (1, value):
            raise ValueError(
                f"{_FAULT} Mismatch at dim {axis}. values.shape={list(values_shape)} "
                f"weights.shape={list(weights_shape)}."
            )
    return "static_dims_check_success"


def _has_valid_shape(
    weights_rank: Tensor, weights_shape: Tensor, values_rank: Tensor, values_shape: Tensor
) -> Tensor:
    parts = [weights_rank, weights_shape, values_rank, values_shape]
    with name_scope(None, "has_valid_nonscalar_shape", parts) as scope:
        is_same_rank = equal(values_rank, weights_rank, name="is_same_rank")
        return cond(
            is_same_rank,
            lambda: _has_valid_dims(weights_shape, values_shape),
            lambda: is_same_rank,
            name=scope,
        )


def _has_valid_dims(weights_shape: Tensor, values_shape: Tensor) -> Tensor:
    with name_scope(None, "has_invalid_dims", [weights_shape, values_shape]) as scope:
        values_column = expand_dims(values_shape, -1)
        valid = concat([values_column, ones_like(values_column)], axis=1)
        invalid = set_difference(expand_dims(weights_shape, -1), valid)
        count = size(invalid.values, name="num_invalid_dims")
        return equal(0, count, name=scope)


def broadcast_weights(weights: Any, values: Any) -> Tensor:
    """`weights` with the shape of `values`, checked as `assert_broadcastable` does."""
    with name_scope(None, "broadcast_weights", [weights, values]) as scope:
        values = convert_to_tensor(values, name="values")
        weights = convert_to_tensor(weights, dtype=values.dtype.base_dtype, name="weights")
        if values.shape.is_fully_defined() and weights._shape == values._shape:
            return weights
        with get_default_graph().control_dependencies([assert_broadcastable(weights, values)]):
            return multiply(weights, ones_like(values), name=scope)
