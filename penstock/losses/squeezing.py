"""Bringing labels, predictions and weights to matching ranks."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.tensor import Tensor
from penstock.losses.weights_broadcast import broadcast_weights
from penstock.ops import confusion
from penstock.ops.binary import multiply
from penstock.ops.casts import cast
from penstock.ops.comparison import equal
from penstock.ops.conditionals import cond
from penstock.ops.shaping import expand_dims, rank, squeeze
from penstock.ops.shaping import shape as shape_of

__all__ = [
    "remove_squeezable_dimensions",
    "scale_losses_by_sample_weight",
    "squeeze_or_expand_dimensions",
]


def remove_squeezable_dimensions(
    labels: Any, predictions: Any, weights: Any = None, expected_rank_diff: int = 0
) -> tuple[Tensor, Tensor, Any]:
    """Drops last dimensions of labels, predictions or weights that are one too many.

    Args:
      expected_rank_diff: the rank of the predictions less that of the labels, as it should be.
    """
    labels, predictions = confusion.remove_squeezable_dimensions(
        labels, predictions, expected_rank_diff=expected_rank_diff
    )
    if weights is None:
        return labels, predictions, None
    weights = convert_to_tensor(weights)
    labels_rank, weights_rank = labels._rank(), weights._rank()
    if labels_rank is not None and weights_rank is not None:
        if weights_rank - labels_rank == 1:
            weights = squeeze(weights, [-1])
        return labels, predictions, weights
    difference = rank(weights) - rank(labels)
    if weights_rank is None or (weights_rank > 0 and weights._shape[-1] in (None, 1)):
        given = weights
        weights = cond(equal(1, difference), lambda: squeeze(given, [-1]), lambda: given)
    return labels, predictions, weights


def squeeze_or_expand_dimensions(
    y_pred: Any, y_true: Any = None, sample_weight: Any = None
) -> tuple[Any, ...]:
    """Drops last dimensions that are one too many, and gives weights one that they lack."""
    pred_rank = y_pred.shape.ndims
    if y_true is not None:
        y_true, y_pred = _matched(y_true, y_pred)
    if sample_weight is None:
        return y_pred, y_true
    weight = convert_to_tensor(sample_weight)
    weight_rank = weight.shape.ndims
    if weight_rank == 0:
        return y_pred, y_true, weight
    if pred_rank is not None and weight_rank is not None:
        if weight_rank - pred_rank == 1:
            weight = squeeze(weight, [-1])
        elif pred_rank - weight_rank == 1:
            weight = expand_dims(weight, [-1])
        return y_pred, y_true, weight
    return y_pred, y_true, _adjusted(weight, rank(weight), y_pred)


def _matched(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    true_rank, pred_rank = y_true.shape.ndims, y_pred.shape.ndims
    if true_rank is not None and pred_rank is not None:
        # Sparse labels have one dimension fewer than the probabilities of their classes.
        if pred_rank - true_rank != 1 or y_pred.shape.as_list()[-1] == 1:
            return confusion.remove_squeezable_dimensions(y_true, y_pred)
        return y_true, y_pred

    def squeezed() -> tuple[Any, Any]:
        return confusion.remove_squeezable_dimensions(y_true, y_pred)

    difference = rank(y_pred) - rank(y_true)
    is_last_one = equal(1, shape_of(y_pred)[-1])
    return cond(
        equal(1, difference),
        lambda: cond(is_last_one, squeezed, lambda: (y_true, y_pred)),
        squeezed,
    )


def _adjusted(weight: Tensor, weight_rank: Tensor, y_pred: Tensor) -> Tensor:
    difference = weight_rank - rank(y_pred)

    def expanded() -> Tensor:
        return cond(equal(difference, -1), lambda: expand_dims(weight, [-1]), lambda: weight)

    def fitted() -> Tensor:
        return cond(equal(difference, 1), lambda: squeeze(weight, [-1]), expanded)

    return cond(equal(weight_rank, 0), lambda: weight, fitted)


def scale_losses_by_sample_weight(losses: Any, sample_weight: Any) -> Tensor:
    """Losses times their weights, which are squeezed, expanded or broadcast to fit, as float32."""
    losses = cast(losses, dtypes.float32)
    weight = cast(sample_weight, dtypes.float32)
    losses, _, weight = squeeze_or_expand_dimensions(losses, None, weight)
    return multiply(losses, broadcast_weights(weight, losses))
