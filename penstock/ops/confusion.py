"""Confusion matrices: how often each label got each prediction."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.composite import SparseTensor
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops.binary import maximum
from penstock.ops.casts import cast
from penstock.ops.comparison import equal
from penstock.ops.conditionals import cond
from penstock.ops.control import with_dependencies
from penstock.ops.filling import ones_like, zeros
from penstock.ops.joining import stack
from penstock.ops.reductions import reduce_max
from penstock.ops.shaping import rank, squeeze
from penstock.ops.sparse_arithmetic import sparse_add
from penstock.ops.value_assertions import assert_less, assert_non_negative

__all__ = ["confusion_matrix"]


def remove_squeezable_dimensions(
    labels: Any, predictions: Any, expected_rank_diff: int = 0, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Drops the last dimension of the one whose rank is one above what the other's asks for.

    Args:
      expected_rank_diff: the rank of the predictions less that of the labels, as it should be.
    """
    with name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        predictions = convert_to_tensor(predictions)
        labels = convert_to_tensor(labels)
        label_rank, prediction_rank = labels._rank(), predictions._rank()
        if label_rank is not None and prediction_rank is not None:
            excess = prediction_rank - label_rank - expected_rank_diff
            if excess == 1:
                predictions = squeeze(predictions, [-1])
            elif excess == -1:
                labels = squeeze(labels, [-1])
            return labels, predictions
        difference = rank(predictions) - rank(labels)
        predictions = _squeezed_if(predictions, expected_rank_diff + 1, difference)
        labels = _squeezed_if(labels, expected_rank_diff - 1, difference)
        return labels, predictions


def _squeezed_if(tensor: Tensor, wanted: int, difference: Tensor) -> Tensor:
    static = tensor._shape
    if static is not None and (not static or static[-1] not in (None, 1)):
        return tensor
    return cond(equal(wanted, difference), lambda: squeeze(tensor, [-1]), lambda: tensor)


def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
    weights: Any = None,
) -> Tensor:
    """A matrix of how often each label (the row) got each prediction (the column).

    `num_classes` is one more than the largest class that occurs if it is None; `weights` counts
    each pair as that much.
    """
    with name_scope(name, "confusion_matrix", [predictions, labels, num_classes, weights]):
        labels, predictions = remove_squeezable_dimensions(
            convert_to_tensor(labels, name="labels"),
            convert_to_tensor(predictions, name="predictions"),
        )
        predictions = cast(predictions, dtypes.int64)
        labels = cast(labels, dtypes.int64)
        labels = _not_negative(labels, "labels")
        predictions = _not_negative(predictions, "predictions")
        if num_classes is None:
            num_classes = maximum(reduce_max(predictions), reduce_max(labels)) + 1
        else:
            limit = cast(num_classes, dtypes.int64)
            labels = _below(labels, limit, "labels")
            predictions = _below(predictions, limit, "predictions")
        if weights is not None:
            weights = convert_to_tensor(weights, name="weights")
            predictions.shape.assert_is_compatible_with(weights.shape)
            weights = cast(weights, dtype)
        shape = stack([num_classes, num_classes])
        indices = stack([labels, predictions], axis=1)
        if weights is None:
            weights = ones_like(predictions, dtypes.as_dtype(dtype))
        counted = SparseTensor(indices, weights, cast(shape, dtypes.int64))
        return sparse_add(zeros(cast(shape, dtypes.int32), dtype), counted)


def _not_negative(tensor: Tensor, what: str) -> Tensor:
    check = assert_non_negative(tensor, message=f"`{what}` contains negative values")
    return with_dependencies([check], tensor)


def _below(tensor: Tensor, limit: Tensor, what: str) -> Tensor:
    check = assert_less(tensor, limit, message=f"`{what}` out of bound")
    return with_dependencies([check], tensor)
