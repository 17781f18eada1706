"""`tf.contrib.sparsemax`: a softmax that gives zeros, and its loss (Martins & Astudillo, 2016)."""

from __future__ import annotations

from typing import Any

import penstock as tf

__all__ = ["sparsemax", "sparsemax_loss"]


def sparsemax(logits: Any, name: str | None = None) -> Any:
    """The nearest point to each row of `logits` among the probability distributions.

    A row that has no such point (it holds NaN or infinity, or only minus infinities) gives NaN.

    Args:
      logits: A matrix of floats, a row for each example.
    """
    with tf.name_scope(name, "sparsemax", [logits]):
        logits = tf.convert_to_tensor(logits, name="logits")
        dtype, classes = logits.dtype, tf.shape(logits)[1]
        descending, _ = tf.nn.top_k(logits, k=classes)
        rank = tf.cast(tf.range(1, classes + 1), dtype)
        sums = tf.cumsum(descending, axis=1)
        # The entries above the threshold come first: where this no longer holds, all are below it.
        supporting = 1 + rank * descending > sums
        support = tf.reduce_sum(tf.cast(supporting, dtype), axis=1, keepdims=True)
        total = tf.reduce_sum(
            tf.where(supporting, descending, tf.zeros_like(descending)), axis=1, keepdims=True
        )
        threshold = (total - 1) / tf.maximum(support, 1)
        undefined = tf.logical_or(tf.equal(support, 0), tf.is_nan(sums[:, -1:]))
        nearest = tf.maximum(logits - threshold, 0)
        nothing = tf.fill(tf.shape(logits), tf.constant(float("nan"), dtype))
        return tf.where(tf.squeeze(undefined, axis=1), nothing, nearest)


def sparsemax_loss(logits: Any, sparsemax: Any, labels: Any, name: str | None = None) -> Any:
    """The loss of each row whose gradient is `sparsemax - labels`.

    Args:
      sparsemax: What the function `sparsemax` gives for `logits`.
      labels: The wanted distribution of each row.
    """
    with tf.name_scope(name, "sparsemax_loss", [logits, sparsemax, labels]):
        logits = tf.convert_to_tensor(logits, name="logits")
        found = tf.convert_to_tensor(sparsemax, name="sparsemax")
        labels = tf.convert_to_tensor(labels, name="labels")
        zeros = tf.zeros_like(logits)
        # An infinite logit of a class without weight counts for nothing, and not as 0 * inf.
        has_weight = tf.logical_or(found > 0, tf.is_nan(found))
        gained = tf.where(has_weight, found * (logits - 0.5 * found), zeros)
        no_cost = tf.logical_and(tf.equal(labels, 0), tf.is_inf(logits))
        wanted = tf.where(no_cost, zeros, labels * (0.5 * labels - logits))
        return tf.reduce_sum(gained + wanted, axis=1)


#: TensorFlow has modules in here, whose names are these.
__path__: list[str] = []
