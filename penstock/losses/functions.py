"""The losses of `tf.losses`."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.collections import GraphKeys
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.losses.collected import add_loss
from penstock.losses.squeezing import remove_squeezable_dimensions
from penstock.losses.weighted import Reduction, compute_weighted_loss, num_present
from penstock.losses.weights_broadcast import assert_broadcastable
from penstock.ops.activations import relu
from penstock.ops.binary import (
    add,
    div_no_nan,
    maximum,
    minimum,
    multiply,
    squared_difference,
    subtract,
)
from penstock.ops.casts import cast
from penstock.ops.cross_entropy import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
)
from penstock.ops.elementwise import abs as absolute
from penstock.ops.elementwise import log, square
from penstock.ops.filling import ones_like, zeros_like
from penstock.ops.filling import range as range_of
from penstock.ops.identity import stop_gradient
from penstock.ops.masking import where
from penstock.ops.reductions import reduce_sum
from penstock.ops.shaping import rank, renamed_argument
from penstock.ops.shaping import shape as shape_of

__all__ = [
    "absolute_difference",
    "cosine_distance",
    "hinge_loss",
    "huber_loss",
    "log_loss",
    "mean_pairwise_squared_error",
    "mean_squared_error",
    "sigmoid_cross_entropy",
    "softmax_cross_entropy",
    "sparse_softmax_cross_entropy",
]

_BY_PRESENT = Reduction.SUM_BY_NONZERO_WEIGHTS


def _check_given(**arguments: Any) -> None:
    for name, value in arguments.items():
        if value is None:
            raise ValueError(f"Argument `{name}` must not be None. {name} must not be None.")


def _floats(predictions: Any, labels: Any) -> tuple[Tensor, Tensor]:
    """Predictions and labels as float32, of compatible shapes."""
    predictions = cast(predictions, dtypes.float32)
    labels = cast(labels, dtypes.float32)
    predictions.shape.assert_is_compatible_with(labels.shape)
    return predictions, labels


def absolute_difference(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _BY_PRESENT,
) -> Tensor:
    """The absolute differences of predictions and labels, weighted and reduced."""
    _check_given(labels=labels, predictions=predictions)
    with name_scope(scope, "absolute_difference", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        losses = absolute(subtract(predictions, labels))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def cosine_distance(
    labels: Any,
    predictions: Any,
    axis: int | None = None,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _BY_PRESENT,
    dim: int | None = None,
) -> Tensor:
    """1 less the cosine of the angle between unit vectors along `axis`, weighted and reduced."""
    axis = renamed_argument("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify argument `axis`: You must specify 'axis'.")
    _check_given(labels=labels, predictions=predictions)
    with name_scope(scope, "cosine_distance_loss", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        products = multiply(predictions, labels)
        losses = 1 - reduce_sum(products, axis=(axis,), keepdims=True)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def hinge_loss(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _BY_PRESENT,
) -> Tensor:
    """How far logits are from being at least 1 on the side of their label, which is 0 or 1."""
    _check_given(labels=labels, logits=logits)
    with name_scope(scope, "hinge_loss", [logits, labels, weights]) as scope:
        logits, labels = _floats(logits, labels)
        ones = ones_like(labels)
        signs = subtract(2 * labels, ones)
        losses = relu(subtract(ones, multiply(signs, logits)))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def huber_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    delta: float = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _BY_PRESENT,
) -> Tensor:
    """Half the squared error where it is at most `delta`, and linear beyond."""
    _check_given(labels=labels, predictions=predictions)
    with name_scope(scope, "huber_loss", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        error = absolute(subtract(predictions, labels))
        quadratic = minimum(error, delta)
        linear = subtract(error, quadratic)
        half = convert_to_tensor(0.5, dtype=quadratic.dtype)
        losses = add(multiply(half, multiply(quadratic, quadratic)), multiply(delta, linear))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def log_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _BY_PRESENT,
) -> Tensor:
    """The negative log likelihood of labels, 0 or 1, under predicted probabilities of 1.

    Args:
      epsilon: added to probabilities before their logarithm is taken.
    """
    _check_given(labels=labels, predictions=predictions)
    with name_scope(scope, "log_loss", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        ones = multiply(labels, log(predictions + epsilon))
        losses = -ones - multiply(1 - labels, log(1 - predictions + epsilon))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def mean_pairwise_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
) -> Tensor:
    """The squared errors of the differences between all pairs of one batch entry's elements."""
    _check_given(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]) as scope:
        weights = cast(weights, dtypes.float32)
        labels = cast(labels, dtypes.float32)
        check = assert_broadcastable(weights, labels)
        with get_default_graph().control_dependencies([check]):
            predictions = cast(predictions, dtypes.float32)
            predictions.shape.assert_is_compatible_with(labels.shape)
            loss = _pairwise(subtract(predictions, labels), weights)
            add_loss(loss, loss_collection)
            return loss


def _pairwise(differences: Tensor, weights: Tensor) -> Tensor:
    axes = range_of(1, rank(differences))
    squares = reduce_sum(square(differences), axis=axes, keepdims=True)
    count = num_present(differences, weights, per_batch=True)
    mean_square = 2.0 * div_no_nan(squares, maximum(count - 1, 0), name="value")
    total = reduce_sum(differences, axis=axes, keepdims=True)
    squared_total = square(total)
    pairs = maximum(multiply(count, count - 1), 0)
    square_mean = 2.0 * div_no_nan(squared_total, pairs, name="value")
    loss = reduce_sum(multiply(mean_square - square_mean, weights))
    return where(reduce_sum(count) > 0, loss, zeros_like(loss), name="value")


def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _BY_PRESENT,
) -> Tensor:
    """The squared differences of predictions and labels, weighted and reduced."""
    _check_given(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_squared_error", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        losses = squared_difference(predictions, labels)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def sigmoid_cross_entropy(
    multi_class_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _BY_PRESENT,
) -> Tensor:
    """The cross entropy of independent classes, by logits, weighted and reduced.

    Args:
      label_smoothing: how far to move labels towards 1/2.
    """
    _check_given(multi_class_labels=multi_class_labels, logits=logits)
    values = [logits, multi_class_labels, weights]
    with name_scope(scope, "sigmoid_cross_entropy_loss", values) as scope:
        logits = convert_to_tensor(logits)
        labels = cast(multi_class_labels, logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def softmax_cross_entropy(
    onehot_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _BY_PRESENT,
) -> Tensor:
    """The cross entropy of classes of which one is true, by logits, weighted and reduced.

    Args:
      label_smoothing: how far to move labels towards equal probabilities.
    """
    _check_given(onehot_labels=onehot_labels, logits=logits)
    values = [logits, onehot_labels, weights]
    with name_scope(scope, "softmax_cross_entropy_loss", values) as scope:
        logits = convert_to_tensor(logits)
        labels = cast(onehot_labels, logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            count = cast(shape_of(labels)[-1], logits.dtype)
            rest = label_smoothing / count
            labels = labels * (1.0 - label_smoothing) + rest
        labels = stop_gradient(labels, name="labels_stop_gradient")
        losses = softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def sparse_softmax_cross_entropy(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _BY_PRESENT,
) -> Tensor:
    """The cross entropy of classes of which one, `labels`, is true; weighted and reduced."""
    _check_given(labels=labels, logits=logits)
    values = [logits, labels, weights]
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", values) as scope:
        labels, logits, weights = remove_squeezable_dimensions(
            labels, logits, weights, expected_rank_diff=1
        )
        losses = sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)
