"""What heads are told when they are made, checked."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.estimator.heads import tensor_checks
from penstock.estimator.keras_heads.training import check_loss_reduction

#: What `tf.losses` calls Keras' reductions, which heads of earlier releases were given.
_OF_TF_LOSSES = {
    tf.losses.Reduction.SUM: "sum",
    tf.losses.Reduction.SUM_OVER_BATCH_SIZE: "sum_over_batch_size",
}


def checked_reduction(loss_reduction: Any) -> Any:
    """A `tf.keras.losses.Reduction` that gives a scalar."""
    reduction = _OF_TF_LOSSES.get(loss_reduction, loss_reduction)
    check_loss_reduction(reduction)
    return reduction


#: What a loss function may ask for besides labels and logits.
LOSS_FN_MAY_TAKE = ("features", "loss_reduction")


def check_loss_fn(loss_fn: Any) -> None:
    """ValueError unless a loss function has the arguments it needs, and no unknown ones."""
    tensor_checks.check_loss_fn(loss_fn, LOSS_FN_MAY_TAKE)


def checked_n_classes(n_classes: Any) -> Any:
    """A number of classes above two; one that is a tensor is checked when it is known."""
    if isinstance(n_classes, int) and n_classes <= 2:
        raise ValueError(f"n_classes must be > 2: {n_classes}.")
    check = tf.assert_greater(
        tf.convert_to_tensor(n_classes), 2, message="n_classes must be greater than 2"
    )
    with tf.control_dependencies([] if check is None else [check]):
        tf.no_op()
    return n_classes
