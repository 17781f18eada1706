"""What heads do in training: check the optimizer and its variables, take a step, summarize."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.estimator.heads.keys import MetricKeys

_SUM_OVER_BATCH_SIZE = "sum_over_batch_size"


def check_loss_reduction(loss_reduction: Any) -> None:
    """ValueError unless losses become a scalar that way."""
    from penstock.keras.utils.weighting import Reduction

    if loss_reduction not in Reduction.all() or loss_reduction == Reduction.NONE:
        raise ValueError(
            f"Invalid loss_reduction: {loss_reduction}. See `tf.losses.Reduction` for valid "
            "options."
        )


def check_update_ops(update_ops: Any = None) -> None:
    """ValueError unless these are a list or a tuple, or not given."""
    if update_ops is not None:
        _check_sequence("update_ops", update_ops)


def check_optimizer(optimizer: Any) -> None:
    """ValueError unless it is an optimizer of Keras."""
    if not isinstance(optimizer, tf.keras.optimizers.Optimizer):
        raise ValueError(
            "The given optimizer is not a tf.keras.optimizers.Optimizer instance. "
            f"Given: {optimizer}"
        )


def check_trainable_variables(trainable_variables: Any = None) -> None:
    """ValueError unless these are a list or a tuple."""
    if trainable_variables is None:
        raise ValueError(f"trainable_variables cannot be None. Given {trainable_variables}")
    _check_sequence("trainable_variables", trainable_variables)


def _check_sequence(what: str, given: Any) -> None:
    if not isinstance(given, list | tuple):
        raise ValueError(f"{what} should be a list or a tuple. Given type: {type(given)}.")


def train_op_of(
    loss: Any,
    optimizer: Any = None,
    trainable_variables: Any = None,
    train_op_fn: Any = None,
    update_ops: Any = None,
    loss_reduction: Any = _SUM_OVER_BATCH_SIZE,
) -> Any:
    """A training step by an optimizer or a user's function, and the updates that go with it."""
    check_update_ops(update_ops)
    with tf.name_scope(""), tf.name_scope("training"):
        if optimizer is not None:
            if train_op_fn is not None:
                raise ValueError("train_op_fn and optimizer cannot both be set.")
            train_op = _minimized(loss, optimizer, trainable_variables, loss_reduction)
        elif train_op_fn is not None:
            train_op = train_op_fn(loss)
        else:
            raise ValueError("train_op_fn and optimizer cannot both be None.")
        return train_op if update_ops is None else tf.group(train_op, *update_ops)


def _minimized(loss: Any, optimizer: Any, variables: Any, loss_reduction: Any) -> Any:
    if isinstance(optimizer, tf.train.Optimizer):  # as heads of TensorFlow 1.13 took them
        step = tf.train.get_global_step()
        return optimizer.minimize(loss, global_step=step, var_list=variables)
    check_optimizer(optimizer)
    check_trainable_variables(variables)
    return optimizer.get_updates(replica_loss(loss, loss_reduction), variables)[0]


def replica_loss(loss: Any, loss_reduction: Any) -> Any:
    """A mean loss as the part of it that a replica adds to the others'."""
    from penstock.keras.utils.weighting import scale_loss_for_distribution

    return scale_loss_for_distribution(loss) if loss_reduction == _SUM_OVER_BATCH_SIZE else loss


def summarize(
    loss: Any,
    regularization_losses: Any = None,
    summary_key: Callable[[str], str] | None = None,
) -> None:
    """Summaries of the loss and of its regularization."""
    full = summary_key or str
    with tf.name_scope(""):
        tf.summary.scalar(full(MetricKeys.LOSS), loss)
        if regularization_losses is not None:
            key = full(MetricKeys.LOSS_REGULARIZATION)
            tf.summary.scalar(key, tf.add_n(regularization_losses))
