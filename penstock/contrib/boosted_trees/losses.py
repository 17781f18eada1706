"""Losses of examples, one by one; each comes with an operation that updates nothing."""

from __future__ import annotations

from typing import Any

import penstock as tf

__all__ = [
    "per_example_exp_loss",
    "per_example_full_exp_loss",
    "per_example_logistic_loss",
    "per_example_maxent_loss",
    "per_example_quantile_regression_loss",
    "per_example_squared_hinge_loss",
    "per_example_squared_loss",
]

_Loss = tuple[Any, Any]


def _weighted(loss: Any, weights: Any) -> _Loss:
    return loss if weights is None else loss * weights, tf.no_op()


def per_example_squared_hinge_loss(labels: Any, weights: Any, predictions: Any) -> _Loss:
    """The square of the hinge loss of all examples."""
    loss = tf.losses.hinge_loss(labels=labels, logits=predictions, weights=weights)
    return tf.square(loss), tf.no_op()


def per_example_logistic_loss(labels: Any, weights: Any, predictions: Any) -> _Loss:
    """The cross entropy of two classes, whose logits are predicted."""
    labels = tf.cast(labels, tf.float32)
    loss = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=predictions)
    return loss * weights, tf.no_op()


def per_example_quantile_regression_loss(
    labels: Any, weights: Any, predictions: Any, quantile: float
) -> _Loss:
    """A loss whose minimum is a quantile of the labels; small errors count squared."""
    error = tf.cast(labels, tf.float32) - predictions

    def smoothed(slope: float) -> Any:
        return tf.where(error * slope < 1.0, tf.square(slope * error), slope * error)

    return _weighted(tf.where(error > 0, smoothed(quantile), smoothed(quantile - 1)), weights)


def per_example_maxent_loss(
    labels: Any, weights: Any, logits: Any, num_classes: int, eps: float = 1e-15
) -> _Loss:
    """The cross entropy of several classes, or of several labels of one example.

    Args:
      labels: classes, [batch] or [batch, labels].
      eps: how near to 0 and 1 probabilities may come.
    """
    labels = tf.cast(labels, tf.int64)
    if len(labels.get_shape()) != 2:
        labels = tf.expand_dims(labels, 1)
    counts = tf.reduce_sum(tf.one_hot(indices=labels, depth=num_classes), axis=[1])
    powers = tf.exp(logits)
    softmax = tf.divide(powers, tf.reduce_sum(powers, 1, keepdims=True) + eps)
    probability = tf.reduce_sum(tf.cast(counts, tf.float32) * softmax, 1)
    least = tf.zeros_like(probability) + eps
    most = tf.ones_like(probability) - eps
    probability = tf.where(probability >= eps, probability, least)
    probability = tf.where(probability <= 1 - eps, probability, most)
    return _weighted(tf.expand_dims(-tf.log(probability), 1), weights)


def per_example_squared_loss(labels: Any, weights: Any, predictions: Any) -> _Loss:
    """The squared errors of each example, added up."""
    squares = tf.squared_difference(predictions, labels)
    return tf.reduce_sum(squares, 1, keepdims=True) * weights, tf.no_op()


def _signs(labels: Any, predictions: Any, name: str | None) -> tuple[Any, Any]:
    """Labels as 1 and -1, and logits, both of one shape."""
    with tf.name_scope(name, "exp_loss", [predictions, labels]):
        logits = tf.convert_to_tensor(predictions, name="logits")
        labels = tf.convert_to_tensor(tf.cast(labels, tf.float32), name="labels")
        if not labels.get_shape().is_compatible_with(logits.get_shape()):
            raise ValueError(
                "logits and labels must have the same shape "
                f"({logits.get_shape()} vs {labels.get_shape()})"
            )
    ones = tf.ones_like(logits)
    return tf.where(labels > tf.zeros_like(logits), ones, -ones), logits


def per_example_exp_loss(
    labels: Any, weights: Any, predictions: Any, name: str | None = None, eps: float = 0.1
) -> _Loss:
    """The exponential loss of two classes; predictions are clipped probabilities.

    Args:
      eps: how far from 0.5 a probability is clipped, half of it on each side.
    """
    signs, logits = _signs(labels, predictions, name)
    margin = tf.sigmoid(logits) / eps - 0.5 / eps
    return tf.exp(-tf.clip_by_value(margin, -1.0, 1.0) * signs) * weights, tf.no_op()


def per_example_full_exp_loss(
    labels: Any, weights: Any, predictions: Any, name: str | None = None
) -> _Loss:
    """The exponential loss of two classes, of logits as they are."""
    signs, logits = _signs(labels, predictions, name)
    return tf.exp(-1.0 * logits * signs) * weights, tf.no_op()
