"""The hinge loss of several classes (Crammer and Singer, 2001)."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.ir.tensor import Tensor

__all__ = ["sparse_multiclass_hinge_loss"]


def sparse_multiclass_hinge_loss(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = tf.GraphKeys.LOSSES,
    reduction: Any = tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """How far the logit of the label is from being larger than all others by 1.

    Args:
      labels: numbers of classes, `[batch]` or `[batch, 1]`.
      logits: `[batch, classes]`.
      weights: a number, or one for each example.
    """
    with tf.name_scope(scope, "sparse_multiclass_hinge_loss", (logits, labels)) as scope:
        rank = logits.get_shape().ndims
        if rank != 2:
            raise ValueError(
                f"logits should have rank 2 ([batch_size, num_classes]). Given rank is {rank}"
            )
        if labels.dtype not in (tf.int32, tf.int64):
            raise ValueError(
                f"Invalid dtype for labels: {labels.dtype}. Acceptable dtypes: int32 and int64"
            )
        rank = labels.get_shape().ndims
        if rank not in (1, 2):
            raise ValueError(
                "labels should have rank 1 ([batch_size]) or 2 ([batch_size, 1]). Given rank is "
                f"{rank}"
            )
        classes = tf.shape(logits)[1]
        with tf.control_dependencies([tf.assert_less(labels, tf.cast(classes, labels.dtype))]):
            labels = tf.reshape(labels, shape=[-1])
        logits = tf.cast(logits, tf.float32)
        others = tf.one_hot(labels, classes, on_value=0.0, off_value=1.0)
        right = tf.reduce_sum(logits * (1.0 - others), axis=1, keepdims=True)
        losses = tf.reduce_max(tf.nn.relu(logits - right + others), axis=1)
        found: Tensor = tf.losses.compute_weighted_loss(
            losses, _flat_weights(weights, labels), scope, loss_collection, reduction=reduction
        )
        return found


def _flat_weights(weights: Any, labels: Tensor) -> Tensor:
    made: Tensor = tf.convert_to_tensor(weights)
    rank = made.get_shape().ndims
    if rank not in (0, 1, 2):
        raise ValueError(
            "non-scalar weights should have rank 1 ([batch_size]) or 2 ([batch_size, 1]). Given "
            f"rank is {rank}"
        )
    if rank:
        made = tf.reshape(made, shape=[-1])
        made.get_shape().assert_is_compatible_with(labels.get_shape())
    return made
