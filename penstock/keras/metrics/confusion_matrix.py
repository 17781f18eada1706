"""`keras.utils.metrics_utils`: counts of right and wrong predictions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

import penstock as tf
from penstock.losses.squeezing import squeeze_or_expand_dimensions
from penstock.losses.weights_broadcast import broadcast_weights
from penstock.ops.control import with_dependencies
from penstock.ragged.row_ranges import assert_splits_match
from penstock.ragged.tensor import RaggedTensor

#: What stands for "never among the predicted" where only the best predictions count.
NEG_INF = -1e10


class Reduction(Enum):
    """How a metric makes one number of many."""

    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"
    WEIGHTED_MEAN = "weighted_mean"


class ConfusionMatrix(Enum):
    """What a prediction at a threshold can be."""

    TRUE_POSITIVES = "tp"
    FALSE_POSITIVES = "fp"
    TRUE_NEGATIVES = "tn"
    FALSE_NEGATIVES = "fn"


class AUCCurve(Enum):
    """The curves whose area `AUC` measures."""

    ROC = "ROC"
    PR = "PR"

    @staticmethod
    def from_str(key: str) -> AUCCurve:
        """The curve of a name, in capitals or small letters."""
        if key not in ("ROC", "roc", "PR", "pr"):
            raise ValueError(f'Invalid AUC curve value "{key}".')
        return AUCCurve(key.upper())


class AUCSummationMethod(Enum):
    """How the area under a curve is summed between its points."""

    INTERPOLATION = "interpolation"
    MAJORING = "majoring"
    MINORING = "minoring"

    @staticmethod
    def from_str(key: str) -> AUCSummationMethod:
        """The method of a name, which may begin with a capital."""
        for method in AUCSummationMethod:
            if key in (method.value, method.value.capitalize()):
                return method
        raise ValueError(f'Invalid AUC summation method value "{key}".')


def assert_thresholds_range(thresholds: Sequence[Any] | None) -> None:
    """Refuses thresholds outside of [0, 1]."""
    wrong = [each for each in thresholds or () if each is None or not 0 <= each <= 1]
    if wrong:
        raise ValueError(f"Threshold values must be in [0, 1]. Invalid values: {wrong}")


def parse_init_thresholds(thresholds: Any, default_threshold: float = 0.5) -> list[Any]:
    """The thresholds of an argument: a number, several, or None for the default."""
    if thresholds is None:
        return [default_threshold]
    found = list(thresholds) if isinstance(thresholds, (list, tuple)) else [thresholds]
    assert_thresholds_range(found)
    return found


def update_confusion_matrix_variables(
    variables_to_update: Mapping[ConfusionMatrix, Any] | None,
    y_true: Any,
    y_pred: Any,
    thresholds: Any,
    top_k: int | None = None,
    class_id: int | None = None,
    sample_weight: Any = None,
) -> Any:
    """The operation that adds a batch's (weighted) counts to variables.

    Args:
      variables_to_update: a variable, of one count per threshold, for each wanted condition.
      thresholds: above which a prediction is positive.
      top_k: only so many of the highest predictions can be positive.
      class_id: the only class that counts.
    """
    if variables_to_update is None:
        return None
    y_true, y_pred = tf.cast(y_true, tf.float32), tf.cast(y_pred, tf.float32)
    (y_pred, y_true), _ = ragged_assert_compatible_and_get_flat_values(
        [y_pred, y_true], sample_weight
    )
    y_pred.shape.assert_is_compatible_with(y_true.shape)
    _check_conditions(variables_to_update)
    y_pred, y_true, sample_weight = _in_range(y_pred, y_true, sample_weight)
    if top_k is not None:
        y_pred = _filter_top_k(y_pred, top_k)
    if class_id is not None:
        y_true, y_pred = y_true[..., class_id], y_pred[..., class_id]
    limits = thresholds if isinstance(thresholds, (list, tuple)) else [thresholds]
    is_true = tf.reshape(tf.cast(y_true, tf.bool), [1, -1])
    is_positive = tf.reshape(y_pred, [1, -1]) > tf.reshape(tf.constant(list(limits)), [-1, 1])
    weights = None
    if sample_weight is not None:
        broadcast = broadcast_weights(tf.cast(sample_weight, tf.float32), y_pred)
        weights = tf.reshape(broadcast, [1, -1])
    updates = [
        variable.assign_add(_count(condition, is_true, is_positive, weights))
        for condition, variable in variables_to_update.items()
    ]
    return tf.group(*updates)


def _count(condition: ConfusionMatrix, is_true: Any, is_positive: Any, weights: Any) -> Any:
    """How many examples meet a condition, for each threshold."""
    of_true = condition in (ConfusionMatrix.TRUE_POSITIVES, ConfusionMatrix.FALSE_NEGATIVES)
    of_positive = condition in (ConfusionMatrix.TRUE_POSITIVES, ConfusionMatrix.FALSE_POSITIVES)
    label = is_true if of_true else tf.logical_not(is_true)
    prediction = is_positive if of_positive else tf.logical_not(is_positive)
    met = tf.cast(tf.logical_and(label, prediction), tf.float32)
    return tf.reduce_sum(met if weights is None else met * weights, 1)


def _check_conditions(variables: Mapping[Any, Any]) -> None:
    options = list(ConfusionMatrix)
    if not any(key in options for key in variables):
        raise ValueError(
            "Please provide at least one valid confusion matrix variable to update. Valid variable "
            f'key options are: "{options}". Received: "{variables.keys()}"'
        )
    wrong = [key for key in variables if key not in options]
    if wrong:
        raise ValueError(f'Invalid keys: {wrong}. Valid variable key options are: "{options}"')


def _in_range(y_pred: Any, y_true: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Predictions, labels and weights of fitting ranks, once predictions are found in [0, 1].

    In a graph only what is made to fit waits for that, as in TensorFlow.
    """
    checks = [
        tf.assert_greater_equal(y_pred, 0.0, message="predictions must be >= 0"),
        tf.assert_less_equal(y_pred, 1.0, message="predictions must be <= 1"),
    ]
    with tf.control_dependencies(checks):
        if sample_weight is None:
            return (*squeeze_or_expand_dimensions(y_pred, y_true)[:2], None)
        found = squeeze_or_expand_dimensions(y_pred, y_true, sample_weight=sample_weight)
        return found[0], found[1], found[2]


def _filter_top_k(x: Any, k: int) -> Any:
    """The `k` highest values of the last axis; the others become `NEG_INF`."""
    _, indices = tf.nn.top_k(x, k, sorted=False)
    is_top = tf.reduce_sum(tf.one_hot(indices, x.shape.as_list()[-1], axis=-1), axis=-2)
    return x * is_top + NEG_INF * (1 - is_top)


def ragged_assert_compatible_and_get_flat_values(values: Any, mask: Any = None) -> tuple[Any, Any]:
    """Ragged tensors, which must be ragged alike, and a mask as columns; others as they are."""
    several = values if isinstance(values, list) else [values]
    are_ragged = [isinstance(each, RaggedTensor) for each in several]
    has_ragged_mask = isinstance(mask, RaggedTensor)
    if not any(are_ragged):
        if has_ragged_mask:
            raise TypeError("Ragged mask is not allowed with non-ragged inputs.")
        return values, mask
    if not all(are_ragged) or (mask is not None and not has_ragged_mask):
        raise TypeError("One of the inputs does not have acceptable types.")
    splits = [each.nested_row_splits for each in several]
    if has_ragged_mask:
        agree = assert_splits_match([splits[0], mask.nested_row_splits])
        mask = tf.expand_dims(with_dependencies(agree, mask.flat_values), -1)
    agree = assert_splits_match(splits)
    columns = [tf.expand_dims(with_dependencies(agree, each.flat_values), -1) for each in several]
    return (columns if isinstance(values, list) else columns[0]), mask


def update_state_wrapper(update_state_fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function that updates a metric and adds the operation to its updates."""

    @functools.wraps(update_state_fn)
    def updated(metric: Any, *args: Any, **kwargs: Any) -> Any:
        update = update_state_fn(*args, **kwargs)
        if update is not None:
            metric.add_update(update)
        return update

    return updated


def result_wrapper(result_fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives a metric's result, in which replicas are joined."""

    @functools.wraps(result_fn)
    def result(metric: Any, *args: Any) -> Any:
        context = tf.distribute.get_replica_context()
        if not tf.distribute.has_strategy() or context is None:
            value = tf.identity(result_fn(*args))
        else:
            value = context.merge_call(lambda strategy, *a: tf.identity(result_fn(*a)), args=args)
        metric._call_result = value
        return value

    return result
