"""`tf.contrib.losses`: losses with predictions first, and weights by example.

Weights here belong to the leading dimensions of the losses: a vector has one for each example,
whatever dimensions follow. `tf.losses` broadcasts them instead.
"""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib import lazy_paths
from penstock.contrib.framework.arg_scope import add_arg_scope

__all__ = [
    "absolute_difference",
    "add_loss",
    "compute_weighted_loss",
    "cosine_distance",
    "get_losses",
    "get_regularization_losses",
    "get_total_loss",
    "hinge_loss",
    "log_loss",
    "mean_pairwise_squared_error",
    "mean_squared_error",
    "sigmoid_cross_entropy",
    "softmax_cross_entropy",
    "sparse_softmax_cross_entropy",
]


@add_arg_scope
def add_loss(loss: Any, loss_collection: str | None = tf.GraphKeys.LOSSES) -> None:
    """Adds a loss to the collection of losses."""
    if loss_collection:
        tf.add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = tf.GraphKeys.LOSSES) -> list[Any]:
    """The losses that were added."""
    return list(tf.get_collection(loss_collection, scope))


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """The losses of regularizers."""
    return list(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES, scope))


def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss") -> Any:
    """The sum of all losses, with or without those of regularizers."""
    losses = get_losses()
    if add_regularization_losses:
        losses += get_regularization_losses()
    return tf.add_n(losses, name=name)


def _scaled_sum(losses: Any, weights: Any) -> Any:
    """The sum of losses, each times the weight of its leading dimensions."""
    axes = list(range(weights.get_shape().ndims, losses.get_shape().ndims))
    return tf.reduce_sum(tf.multiply(tf.reduce_sum(losses, axis=axes), weights))


def _present_by_example(losses: Any, weights: Any) -> Any:
    """How many losses of each example have a weight other than zero."""
    rank = weights.get_shape().ndims
    if rank == 0:
        batch = tf.reshape(tf.slice(tf.shape(losses), [0], [1]), [])
        each = tf.div(tf.cast(tf.size(losses), tf.float32), tf.cast(batch, tf.float32))
        each = tf.where(tf.equal(weights, 0), 0.0, each)
        return tf.multiply(tf.ones(tf.reshape(batch, [1])), each)
    nonzero = tf.cast(tf.not_equal(weights, 0), tf.float32)
    counted = tf.reduce_sum(nonzero, axis=list(range(1, rank)))
    inner = tf.reduce_prod(tf.slice(tf.shape(losses), [rank], [-1]))
    return tf.multiply(counted, tf.cast(inner, tf.float32))


def _require_rank(name: str, tensor: Any) -> None:
    if tensor.get_shape().ndims is None:
        raise ValueError(f"{name}.get_shape().ndims cannot be None")


def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: str | None = None) -> Any:
    """The mean of losses over those with a weight other than zero, added to the losses."""
    with tf.name_scope(scope, "weighted_loss", [losses, weights]):
        losses = tf.convert_to_tensor(losses)
        input_dtype = losses.dtype
        losses = tf.cast(losses, tf.float32)
        weights = tf.cast(tf.convert_to_tensor(weights), tf.float32)
        _require_rank("losses", losses)
        _require_rank("weights", weights)
        shape = weights.get_shape()
        if shape.ndims > 1 and shape[-1:].is_compatible_with([1]):
            weights = tf.squeeze(weights, [-1])
        total = tf.reduce_sum(_scaled_sum(losses, weights))
        present = tf.reduce_sum(_present_by_example(losses, weights))
        mean = tf.cast(tf.div_no_nan(total, present, name="value"), input_dtype)
        add_loss(mean)
        return mean


def _compatible_floats(predictions: Any, labels: Any) -> tuple[Any, Any]:
    predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    return tf.cast(predictions, tf.float32), tf.cast(labels, tf.float32)


def absolute_difference(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Any:
    """The mean of absolute differences."""
    with tf.name_scope(scope, "absolute_difference", [predictions, labels, weights]) as scope:
        predictions, labels = _compatible_floats(predictions, labels)
        losses = tf.abs(tf.subtract(predictions, labels))
        return compute_weighted_loss(losses, weights, scope=scope)


def mean_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Any:
    """The mean of squared differences."""
    with tf.name_scope(scope, "mean_squared_error", [predictions, labels, weights]) as scope:
        predictions, labels = _compatible_floats(predictions, labels)
        losses = tf.squared_difference(predictions, labels)
        return compute_weighted_loss(losses, weights, scope=scope)


def log_loss(
    predictions: Any,
    labels: Any = None,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
) -> Any:
    """The cross entropy of predicted probabilities."""
    with tf.name_scope(scope, "log_loss", [predictions, labels, weights]) as scope:
        predictions, labels = _compatible_floats(predictions, labels)
        losses = -tf.multiply(labels, tf.log(predictions + epsilon)) - tf.multiply(
            1 - labels, tf.log(1 - predictions + epsilon)
        )
        return compute_weighted_loss(losses, weights, scope=scope)


def hinge_loss(logits: Any, labels: Any = None, scope: str | None = None) -> Any:
    """The hinge loss of each element, for labels 0 and 1; it is not added to the losses."""
    with tf.name_scope(scope, "hinge_loss", [logits, labels]):
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        labels = tf.cast(labels, tf.float32)
        ones = tf.ones_like(labels)
        signs = tf.subtract(2 * labels, ones)
        return tf.nn.relu(tf.subtract(ones, tf.multiply(signs, logits)))


def sigmoid_cross_entropy(
    logits: Any,
    multi_class_labels: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Any:
    """The cross entropy of independent classes.

    Args:
      label_smoothing: how far labels are moved towards one half.
    """
    with tf.name_scope(
        scope, "sigmoid_cross_entropy_loss", [logits, multi_class_labels, weights]
    ) as scope:
        logits.get_shape().assert_is_compatible_with(multi_class_labels.get_shape())
        labels = tf.cast(multi_class_labels, logits.dtype)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = tf.nn.sigmoid_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope=scope)


def softmax_cross_entropy(
    logits: Any,
    onehot_labels: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Any:
    """The cross entropy of classes of which each example has one.

    Args:
      label_smoothing: how far labels are moved towards equal probabilities.
    """
    with tf.name_scope(
        scope, "softmax_cross_entropy_loss", [logits, onehot_labels, weights]
    ) as scope:
        logits.get_shape().assert_is_compatible_with(onehot_labels.get_shape())
        labels = tf.cast(onehot_labels, logits.dtype)
        if label_smoothing > 0:
            classes = tf.cast(tf.shape(labels)[1], logits.dtype)
            labels = labels * (1.0 - label_smoothing) + label_smoothing / classes
        losses = tf.nn.softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope=scope)


def sparse_softmax_cross_entropy(
    logits: Any, labels: Any, weights: Any = 1.0, scope: str | None = None
) -> Any:
    """The cross entropy of classes, with labels as numbers."""
    with tf.name_scope(
        scope, "sparse_softmax_cross_entropy_loss", [logits, labels, weights]
    ) as scope:
        labels = tf.reshape(labels, shape=[tf.shape(labels)[0]])
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope=scope)


def mean_pairwise_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Any:
    """The mean over pairs of elements of an example of the squared error of their difference."""
    with tf.name_scope(
        scope, "mean_pairwise_squared_error", [predictions, labels, weights]
    ) as scope:
        predictions, labels = _compatible_floats(predictions, labels)
        weights = tf.cast(tf.convert_to_tensor(weights), tf.float32)
        differences = tf.subtract(predictions, labels)
        _require_rank("diffs", differences)
        _require_rank("weights", weights)
        axes = list(range(1, len(differences.get_shape())))
        present = _present_by_example(differences, weights)
        squares = tf.reduce_sum(tf.square(differences), axis=axes)
        square_of_sum = tf.square(tf.reduce_sum(differences, axis=axes))
        losses = 2.0 * tf.div_no_nan(squares, present, name="value") - 2.0 * tf.div_no_nan(
            square_of_sum, tf.square(present), name="value"
        )
        loss = _scaled_sum(losses, weights)
        mean = tf.where(tf.reduce_sum(present) > 0, loss, tf.zeros_like(loss), name="value")
        add_loss(mean)
        return mean


def cosine_distance(
    predictions: Any,
    labels: Any = None,
    axis: int | None = None,
    weights: Any = 1.0,
    scope: str | None = None,
    dim: int | None = None,
) -> Any:
    """One minus the inner product of vectors along an axis, which are assumed to be of length 1.

    Args:
      dim: old name of `axis`.
    """
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    with tf.name_scope(scope, "cosine_distance_loss", [predictions, labels, weights]) as scope:
        predictions, labels = _compatible_floats(predictions, labels)
        losses = 1 - tf.reduce_sum(tf.multiply(predictions, labels), axis=[axis])
        return compute_weighted_loss(losses, weights, scope=scope)


__getattr__ = lazy_paths.resolver(__name__)
