"""Weighting and reducing losses."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.collections import GraphKeys
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.losses.collected import add_loss
from penstock.losses.weights_broadcast import assert_broadcastable, broadcast_weights
from penstock.ops.binary import div_no_nan, multiply
from penstock.ops.casts import cast
from penstock.ops.comparison import equal
from penstock.ops.filling import ones_like, zeros_like
from penstock.ops.filling import range as range_of
from penstock.ops.masking import where
from penstock.ops.reductions import reduce_sum
from penstock.ops.shaping import rank, size

__all__ = ["Reduction", "compute_weighted_loss"]


class Reduction:
    """How weighted losses become one number.

    NONE leaves them as they are, SUM adds them up; the others divide the sum by the sum of the
    weights (MEAN), by the number of losses (SUM_OVER_BATCH_SIZE), or by the number of losses with
    a weight that is not zero (SUM_BY_NONZERO_WEIGHTS).
    """

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """Every reduction."""
        return (
            cls.NONE,
            cls.SUM,
            cls.MEAN,
            cls.SUM_OVER_BATCH_SIZE,
            cls.SUM_OVER_NONZERO_WEIGHTS,
            cls.SUM_BY_NONZERO_WEIGHTS,
        )

    @classmethod
    def validate(cls, key: str) -> None:
        """Refuses what is not a reduction."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}. Key should be one of {cls.all()}.")


def compute_weighted_loss(
    losses: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Weights losses, reduces them, and adds the result to the graph's losses.

    Args:
      weights: a scalar, or of the rank of the losses with each dimension 1 or the losses'.
      scope: name scope of the operations.
      loss_collection: collection to add the result to; None adds it to none.
      reduction: one of `tf.losses.Reduction`.
    """
    Reduction.validate(reduction)
    with (
        name_scope(scope, "weighted_loss", [losses, weights]),
        get_default_graph().control_dependencies([assert_broadcastable(weights, losses)]),
    ):
        losses = convert_to_tensor(losses)
        dtype = losses.dtype
        losses = cast(losses, dtypes.float32)
        weights = cast(weights, dtypes.float32)
        weighted = multiply(losses, weights)
        loss = cast(_reduced(weighted, losses, weights, reduction), dtype)
        add_loss(loss, loss_collection)
        get_default_graph()._last_loss_reduction = reduction
        return loss


def _reduced(weighted: Tensor, losses: Tensor, weights: Tensor, reduction: str) -> Tensor:
    if reduction == Reduction.NONE:
        return weighted
    total = reduce_sum(weighted)
    if reduction == Reduction.SUM:
        return total
    if reduction == Reduction.MEAN:
        count = reduce_sum(ones_like(losses) * weights)
    elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
        count = _num_elements(losses)
    else:
        count = num_present(losses, weights)
    return div_no_nan(reduce_sum(total), count, name="value")


def _num_elements(losses: Tensor) -> Tensor:
    with name_scope(None, "num_elements", [losses]) as scope:
        return cast(size(losses, name=scope), losses.dtype)


def num_present(losses: Tensor, weights: Tensor, per_batch: bool = False) -> Tensor:
    """How many losses have a weight that is not zero; per batch entry in the losses' rank."""
    with name_scope(None, "num_present", [losses, weights]) as scope:
        weights = cast(weights, dtypes.float32)
        present = where(equal(weights, 0.0), zeros_like(weights), ones_like(weights))
        present = broadcast_weights(present, losses)
        if not per_batch:
            return reduce_sum(present, name=scope)
        axes = range_of(1, rank(present))
        return reduce_sum(present, axis=axes, keepdims=True, name=scope)
