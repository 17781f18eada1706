"""Losses of examples, and of weights, as parts of a loss that all replicas add up to."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from penstock.ir.convert import convert_to_tensor
from penstock.ir.tensor import Tensor
from penstock.losses.squeezing import scale_losses_by_sample_weight
from penstock.ops.casts import cast
from penstock.ops.control import control_dependencies
from penstock.ops.math import reduce_sum
from penstock.ops.shaping import rank, shape
from penstock.ops.value_assertions import assert_greater_equal


def compute_average_loss(
    per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None
) -> Tensor:
    """The sum of the examples' losses over the size of the batch of all replicas.

    Args:
      per_example_loss: the losses, one or more for each example.
      sample_weight: weights of the examples.
      global_batch_size: the size of the whole batch; by default that of this replica's part times
        the number of replicas.
    """
    losses = convert_to_tensor(per_example_loss)
    dtype = losses.dtype
    if losses.shape.rank == 0:
        raise ValueError(
            "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1, "
            f"received: {losses}"
        )
    with _has_examples(losses):
        if sample_weight is not None:
            losses = scale_losses_by_sample_weight(losses, sample_weight)
        losses = cast(losses, dtype)
        if global_batch_size is None:
            replicas = _replicas_inside("compute_average_loss")
            global_batch_size = cast(shape(losses)[0] * replicas, dtype)
        return reduce_sum(losses) / global_batch_size


def _has_examples(losses: Tensor) -> Any:
    if losses.shape.rank is not None:
        return nullcontext()
    message = "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1."
    return control_dependencies([assert_greater_equal(rank(losses), 1, message=message)])


def scale_regularization_loss(regularization_loss: Any) -> Tensor:
    """This replica's part of the losses of weights, which all replicas have."""
    return reduce_sum(regularization_loss) / _replicas_inside("scale_regularization_loss")


def _replicas_inside(function: str) -> int:
    from penstock.distribute import context

    if context.has_strategy() and context.in_cross_replica_context():
        raise RuntimeError(
            f"You are calling `{function}` in cross replica context, while it was expected to be "
            "called in replica context."
        )
    return int(context.get_strategy().num_replicas_in_sync)
