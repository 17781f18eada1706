"""The losses of heads: a mean over examples for training, and one that is divided by weights."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import penstock as tf

#: A function of labels, logits and weights, that gives the loss to minimize and the one to report.
LossFn = Callable[..., tuple[Any, Any]]


def weighted_loss(losses: Any, weights: Any) -> tuple[Any, Any]:
    """The mean of weighted losses, and their sum divided by that of the weights."""
    with tf.name_scope("loss", values=(losses, weights)) as scope:
        if weights is None:
            loss = tf.reduce_mean(losses, name=scope)
            return loss, loss
        weights = weights * tf.ones_like(losses)
        with tf.name_scope(None, "weighted_loss", (losses, weights)) as name:
            weighted = tf.multiply(losses, weights, name=name)
        mean = tf.reduce_mean(weighted, name=scope)
        average = tf.div(
            tf.reduce_sum(weighted), tf.reduce_sum(weights), name="weighted_average_loss"
        )
        return mean, average


def _as_matrix(tensor: Any) -> Any:
    tensor = tf.convert_to_tensor(tensor)
    return tf.expand_dims(tensor, axis=1) if len(tensor.get_shape()) == 1 else tensor


def mean_squared_loss(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
    """Squared errors."""
    with tf.name_scope(None, "mean_squared_loss", (logits, labels)) as name:
        logits, labels = _as_matrix(logits), _as_matrix(labels)
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        errors = tf.squared_difference(logits, tf.cast(labels, tf.float32), name=name)
        return weighted_loss(errors, weights)


def poisson_loss(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
    """How unlikely counts are, of which logits are the logarithms of the means."""
    with tf.name_scope(None, "_poisson_loss", (logits, labels)) as name:
        logits, labels = _as_matrix(logits), _as_matrix(labels)
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        losses = tf.nn.log_poisson_loss(labels, logits, compute_full_loss=True, name=name)
        return weighted_loss(losses, weights)


def log_loss_with_two_classes(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
    """Cross entropy with one logit, of the second class."""
    with tf.name_scope(None, "log_loss_with_two_classes", (logits, labels)) as name:
        labels = _as_matrix(tf.cast(labels, tf.float32))
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name=name)
        return weighted_loss(losses, weights)


def softmax_cross_entropy_loss(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
    """Cross entropy with a logit for each class."""
    with tf.name_scope(None, "softmax_cross_entropy_loss", (logits, labels)) as name:
        labels = tf.convert_to_tensor(labels)
        if not labels.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer Instead got {labels.dtype}.")
        is_matrix = len(labels.get_shape()) == 2
        if is_matrix:
            labels = tf.squeeze(labels, axis=(1,))
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name=name
        )
        if is_matrix:
            losses = tf.expand_dims(losses, axis=1)
        return weighted_loss(losses, weights)


def sigmoid_cross_entropy_loss(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
    """Cross entropy of each class by itself."""
    with tf.name_scope(None, "sigmoid_cross_entropy_loss", (logits, labels)) as name:
        losses = tf.nn.sigmoid_cross_entropy_with_logits(
            labels=tf.cast(labels, tf.float32), logits=logits, name=name
        )
        return weighted_loss(losses, weights)


def hinge_loss(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
    """How far logits are from the right side of a margin."""
    with tf.name_scope(None, "hinge_loss", (logits, labels)) as name:
        message = "labels shape should be either [batch_size, 1] or [batch_size]"
        with tf.control_dependencies([tf.Assert(tf.less_equal(tf.rank(labels), 2), (message,))]):
            labels = tf.reshape(labels, shape=(-1, 1))
        losses = tf.losses.hinge_loss(
            labels=labels, logits=logits, scope=name, reduction=tf.losses.Reduction.NONE
        )
        return weighted_loss(losses, weights)


def checked_loss_fn(loss_fn: Callable[..., Any] | None) -> LossFn | None:
    """A user's function of labels, logits and weights that gives one loss, as a `LossFn`."""
    if loss_fn is None:
        return None
    names = inspect.signature(loss_fn).parameters
    for name in ("labels", "logits", "weights"):
        if name not in names:
            raise ValueError(f"Argument {name} not found in loss_fn.")

    def both(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
        given = (labels, logits) if weights is None else (labels, logits, weights)
        loss = loss_fn(*given)
        return loss, loss

    return both
