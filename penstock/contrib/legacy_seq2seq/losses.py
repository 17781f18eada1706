"""Losses of lists of logits, one entry per time step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import penstock as tf

LossFunction = Callable[..., Any]


def sequence_loss_by_example(
    logits: Sequence[Any],
    targets: Sequence[Any],
    weights: Sequence[Any],
    average_across_timesteps: bool = True,
    softmax_loss_function: LossFunction | None = None,
    name: str | None = None,
) -> Any:
    """The weighted cross entropy of each sequence: `[batch]`, from lists of `[batch, …]`.

    Args:
      average_across_timesteps: Whether to divide by the sum of the weights.
      softmax_loss_function: A function of `labels` and `logits` in place of the softmax's.
    """
    if len(targets) != len(logits) or len(weights) != len(logits):
        raise ValueError(
            "Lengths of logits, weights, and targets must be the same "
            f"{len(logits)}, {len(weights)}, {len(targets)}."
        )
    with tf.name_scope(name, "sequence_loss_by_example", [*logits, *targets, *weights]):
        total = tf.add_n(
            [
                _cross_entropy(logit, target, softmax_loss_function) * weight
                for logit, target, weight in zip(logits, targets, weights, strict=True)
            ]
        )
        if average_across_timesteps:
            total /= tf.add_n(list(weights)) + 1e-12  # nothing is divided by zero
    return total


def _cross_entropy(logits: Any, targets: Any, loss_function: LossFunction | None) -> Any:
    if loss_function is not None:
        return loss_function(labels=targets, logits=logits)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.reshape(targets, [-1]), logits=logits
    )


def sequence_loss(
    logits: Sequence[Any],
    targets: Sequence[Any],
    weights: Sequence[Any],
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    softmax_loss_function: LossFunction | None = None,
    name: str | None = None,
) -> Any:
    """The sum of `sequence_loss_by_example`, by default divided by the size of the batch."""
    with tf.name_scope(name, "sequence_loss", [*logits, *targets, *weights]):
        cost = tf.reduce_sum(
            sequence_loss_by_example(
                logits,
                targets,
                weights,
                average_across_timesteps=average_across_timesteps,
                softmax_loss_function=softmax_loss_function,
            )
        )
        if not average_across_batch:
            return cost
        return cost / tf.cast(tf.shape(targets[0])[0], cost.dtype)
