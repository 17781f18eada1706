"""Weights of examples: how they are matched with values, and how losses become one number."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.losses.weights_broadcast import check_broadcastable


class Reduction:
    """How the losses of a batch become one number."""

    AUTO = "auto"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """The known ways."""
        return (cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE)

    @classmethod
    def validate(cls, key: str) -> None:
        """Refuses an unknown way."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


ReductionV2 = Reduction


def matched_weights(values: Any, weights: Any) -> Any:
    """Weights in a rank that broadcasts with the values."""
    weights = tf.convert_to_tensor(weights)
    rank, weights_rank = values.shape.ndims, weights.shape.ndims
    if None in (rank, weights_rank) or weights_rank in (0, rank):
        return weights
    if weights_rank == rank + 1:
        return tf.squeeze(weights, [-1])
    if rank > weights_rank:
        for _ in range(rank - weights_rank):
            weights = tf.expand_dims(weights, -1)
    return weights


def weighted_loss(
    losses: Any, sample_weight: Any = None, reduction: str = "auto", name: str | None = None
) -> Any:
    """The weighted losses, or what `reduction` makes of them."""
    with tf.name_scope(name or "weighted_loss"):
        losses = tf.convert_to_tensor(losses)
        dtype = losses.dtype
        weights = tf.convert_to_tensor(1.0 if sample_weight is None else sample_weight)
        losses = tf.cast(losses, tf.float32)
        weights = tf.cast(weights, tf.float32)
        weights = matched_weights(losses, weights)
        check_broadcastable(weights, losses)
        losses = losses * weights
        known = reduction in (Reduction.NONE, Reduction.SUM)
        reduced = reduce_weighted_loss(
            losses, reduction if known else Reduction.SUM_OVER_BATCH_SIZE
        )
        return tf.cast(reduced, dtype)


def compute_weighted_loss(
    losses: Any,
    sample_weight: Any = None,
    reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    name: str | None = None,
) -> Any:
    """The weighted losses, or what `reduction` makes of them, in a scope of that name."""
    Reduction.validate(reduction)
    return weighted_loss(losses, sample_weight, reduction, name)


def reduce_weighted_loss(
    weighted_losses: Any, reduction: str = Reduction.SUM_OVER_BATCH_SIZE
) -> Any:
    """One number of losses that are weighted already."""
    if reduction == Reduction.NONE:
        return weighted_losses
    total = tf.reduce_sum(weighted_losses)
    if reduction == Reduction.SUM_OVER_BATCH_SIZE:
        count = tf.cast(tf.size(weighted_losses, name="num_elements"), total.dtype)
        total = tf.div_no_nan(total, count, name="value")
    return total


def scale_loss_for_distribution(loss_value: Any) -> Any:
    """A loss over the number of replicas, which add up theirs."""
    replicas = tf.distribute.get_strategy().num_replicas_in_sync
    return loss_value * (1.0 / replicas) if replicas > 1 else loss_value
