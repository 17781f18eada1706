"""The loss of predicted sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf

__all__ = ["sequence_loss"]


def sequence_loss(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """The weighted cross entropy of sequences of classes.

    Args:
      logits: `[batch, time, classes]`.
      targets: `[batch, time]` classes.
      weights: `[batch, time]`: usually 1 within a sequence and 0 behind its end.
      average_across_timesteps, average_across_batch: Over what to sum and divide by the weights.
      sum_over_timesteps, sum_over_batch: Over what to sum and divide by the number of weights
        that are not zero.
      softmax_loss_function: A function of `labels` and `logits` in place of the softmax's.
    """
    _check_rank("Logits", logits, 3, "[batch_size x sequence_length x logits]")
    _check_rank("Targets", targets, 2, "[batch_size x sequence_length]")
    _check_rank("Weights", weights, 2, "[batch_size x sequence_length]")
    for what, average, total in (
        ("timesteps", average_across_timesteps, sum_over_timesteps),
        ("batch", average_across_batch, sum_over_batch),
    ):
        if average and total:
            raise ValueError(
                f"average_across_{what} and sum_over_{what} cannot be set to True at same time."
            )
    loss_of = softmax_loss_function or tf.nn.sparse_softmax_cross_entropy_with_logits
    with tf.name_scope(name, "sequence_loss", [logits, targets, weights]):
        flat = tf.reshape(logits, [-1, tf.shape(logits)[2]])
        loss = loss_of(labels=tf.reshape(targets, [-1]), logits=flat)
        loss *= tf.reshape(weights, [-1])
        if average_across_timesteps and average_across_batch:
            return _divided(loss, tf.reduce_sum(weights))
        if sum_over_timesteps and sum_over_batch:
            return _divided(loss, tf.count_nonzero(weights))
        loss = tf.reshape(loss, tf.shape(logits)[0:2])
        if average_across_timesteps or average_across_batch:
            axis = [0] if average_across_batch else [1]
            return _divided(loss, tf.reduce_sum(weights, axis=axis), axis)
        if sum_over_timesteps or sum_over_batch:
            axis = [0] if sum_over_batch else [1]
            return _divided(loss, tf.count_nonzero(weights, axis=axis), axis)
        return loss


def _divided(loss: Any, total: Any, axis: Any = None) -> Any:
    return tf.div_no_nan(tf.reduce_sum(loss, axis=axis), tf.cast(total, loss.dtype))


def _check_rank(what: str, tensor: Any, rank: int, form: str) -> None:
    if len(tensor.get_shape()) != rank:
        raise ValueError(f"{what} must be a {form} tensor")
