"""Bringing labels, predictions and weights of metrics to matching ranks."""

from __future__ import annotations

from typing import Any

from penstock.ir.composite import SparseTensor
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops import confusion
from penstock.ops.comparison import equal
from penstock.ops.conditionals import cond
from penstock.ops.joining import concat
from penstock.ops.shaping import expand_dims, rank, size, squeeze
from penstock.ops.sparse_structure import sparse_reshape
from penstock.ops.sparse_tensors import convert_to_tensor_or_sparse_tensor


def match_ranks(predictions: Any, labels: Any, weights: Any) -> tuple[Tensor, Any, Any]:
    """Drops last dimensions that are one too many, and gives weights one that they lack."""
    predictions = convert_to_tensor(predictions)
    if labels is not None:
        labels, predictions = confusion.remove_squeezable_dimensions(labels, predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
    if weights is None:
        return predictions, labels, None
    weights = convert_to_tensor(weights)
    weights_rank, predictions_rank = weights._rank(), predictions._rank()
    if weights_rank == 0:
        return predictions, labels, weights
    if weights_rank is None or predictions_rank is None:
        return predictions, labels, _fitted(weights, predictions)
    if weights_rank - predictions_rank == 1:
        weights = squeeze(weights, [-1])
    elif predictions_rank - weights_rank == 1:
        weights = expand_dims(weights, [-1])
    return predictions, labels, weights


def _fitted(weights: Tensor, predictions: Tensor) -> Tensor:
    """Weights squeezed or expanded as their rank asks for when the graph runs."""
    weights_rank = rank(weights)
    difference = weights_rank - rank(predictions)
    static = weights._shape

    def squeezed() -> Tensor:
        if static is not None and static[-1] not in (None, 1):
            return weights
        return squeeze(weights, [-1])

    def expanded() -> Tensor:
        return cond(equal(difference, -1), lambda: expand_dims(weights, [-1]), lambda: weights)

    def adjusted() -> Tensor:
        return cond(equal(difference, 1), squeezed, expanded)

    return cond(equal(weights_rank, 0), lambda: weights, adjusted)


def expanded_labels(labels: Any, predictions: Tensor) -> Any:
    """Labels with a last dimension of size 1 where predictions have one dimension more."""
    with name_scope(None, "expand_labels", [labels, predictions]) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            return cond(
                equal(rank(predictions), size(labels.dense_shape) + 1),
                lambda: sparse_reshape(
                    labels, shape=concat([labels.dense_shape, [1]], 0), name=scope
                ),
                lambda: labels,
            )
        labels_rank, predictions_rank = labels._rank(), predictions._rank()
        if labels_rank is None or predictions_rank is None:
            return cond(
                equal(rank(predictions), rank(labels) + 1),
                lambda: expand_dims(labels, -1, name=scope),
                lambda: labels,
            )
        if predictions_rank == labels_rank:
            return labels
        if predictions_rank == labels_rank + 1:
            return expand_dims(labels, -1, name=scope)
        raise ValueError(
            f"Unexpected labels shape {labels.shape} for predictions shape {predictions.shape}. "
            "Predictions rank should be the same rank as labels rank or labels rank plus one."
        )
