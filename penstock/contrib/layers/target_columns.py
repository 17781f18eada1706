"""What a model is to predict, as the first estimators were told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib import losses, metrics

__all__ = [
    "ProblemType",
    "binary_svm_target",
    "get_default_binary_metrics_for_eval",
    "multi_class_target",
    "regression_target",
]


class ProblemType:
    """The kinds of problems that models solve."""

    UNSPECIFIED = 0
    CLASSIFICATION = 1
    LINEAR_REGRESSION = 2
    LOGISTIC_REGRESSION = 3


class _TargetColumn:
    """A loss of logits and labels, and what else belongs to it."""

    def __init__(
        self,
        loss_fn: Callable[[Any, Any], Any],
        num_label_columns: int,
        label_name: str | None,
        weight_column_name: str | None,
        problem_type: int,
    ):
        if num_label_columns is None:
            raise ValueError("num_label_columns must be provided")
        self._loss_fn = loss_fn
        self._num_label_columns = num_label_columns
        self._label_name = label_name
        self._weight_column_name = weight_column_name
        self._problem_type = problem_type

    @property
    def label_name(self) -> str | None:
        """The name of the labels in a dict of them."""
        return self._label_name

    @property
    def weight_column_name(self) -> str | None:
        """The name of the feature that weighs examples."""
        return self._weight_column_name

    @property
    def num_label_columns(self) -> int:
        """How many logits there are for an example."""
        return self._num_label_columns

    @property
    def problem_type(self) -> int:
        """One of `ProblemType`."""
        return self._problem_type

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        """What logits say of examples: numbers or classes, or the classes' probabilities."""
        raise NotImplementedError

    def get_eval_ops(
        self, features: Any, logits: Any, labels: Any, metrics: Any = None
    ) -> dict[str, Any]:
        """Metrics by name."""
        raise NotImplementedError

    def get_weight_tensor(self, features: Any) -> Any:
        """The weights of examples, or None."""
        if not self._weight_column_name:
            return None
        return tf.reshape(tf.cast(features[self._weight_column_name], tf.float32), shape=(-1,))

    def training_loss(
        self, logits: Any, target: Any, features: Any, name: str = "training_loss"
    ) -> Any:
        """The mean of examples' weighted losses, which is to become small."""
        losses, weights = self._losses(logits, target, features)
        if weights is not None:
            losses = tf.reshape(losses, [-1]) * weights
        return tf.reduce_mean(losses, name=name)

    def loss(self, logits: Any, target: Any, features: Any) -> Any:
        """The mean loss of examples of which a weight of 2 counts for two."""
        losses, weights = self._losses(logits, target, features)
        if weights is None:
            return tf.reduce_mean(losses, name="loss")
        total = tf.reduce_sum(tf.reshape(losses, [-1]) * weights)
        return tf.div(total, tf.reduce_sum(weights), name="loss")

    def _losses(self, logits: Any, target: Any, features: Any) -> tuple[Any, Any]:
        if isinstance(target, dict):
            target = target[self._label_name]
        return self._loss_fn(logits, target), self.get_weight_tensor(features)


class _RegressionTargetColumn(_TargetColumn):
    def __init__(
        self,
        loss_fn: Callable[[Any, Any], Any],
        label_name: str | None,
        weight_column_name: str | None,
        label_dimension: int,
    ):
        kind = ProblemType.LINEAR_REGRESSION
        super().__init__(loss_fn, label_dimension, label_name, weight_column_name, kind)

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        return tf.squeeze(logits, axis=[1]) if self.num_label_columns == 1 else logits

    def get_eval_ops(
        self, features: Any, logits: Any, labels: Any, metrics: Any = None
    ) -> dict[str, Any]:
        predictions = self.logits_to_predictions(logits)
        weights = self.get_weight_tensor(features)
        loss = _mean(self.loss(logits, labels, features))
        return {"loss": loss, **_run_metrics(predictions, labels, metrics, weights)}


class _MultiClassTargetColumn(_TargetColumn):
    def __init__(
        self,
        loss_fn: Callable[[Any, Any], Any],
        n_classes: int,
        label_name: str | None,
        weight_column_name: str | None,
    ):
        if n_classes < 2:
            raise ValueError("n_classes must be >= 2")
        logits = 1 if n_classes == 2 else n_classes
        kind = ProblemType.CLASSIFICATION
        super().__init__(loss_fn, logits, label_name, weight_column_name, kind)

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        if self.num_label_columns == 1:
            logits = tf.concat([tf.zeros_like(logits), logits], 1)
        return tf.nn.softmax(logits) if proba else tf.argmax(logits, 1)

    def get_eval_ops(
        self, features: Any, logits: Any, labels: Any, metrics: Any = None
    ) -> dict[str, Any]:
        result = {"loss": _mean(self.loss(logits, labels, features))}
        if self._num_label_columns == 1:
            predictions, of_labels = tf.sigmoid(logits), tf.cast(labels, tf.float32)
            for name, metric in get_default_binary_metrics_for_eval([0.5]).items():
                result[name] = metric(predictions, of_labels)
        if metrics is None:
            metrics = {("accuracy", "classes"): tf.contrib.metrics.streaming_accuracy}
        of_classes, of_probabilities = _sorted_metrics(metrics)
        weights = self.get_weight_tensor(features)
        for chosen, proba in ((of_classes, False), (of_probabilities, True)):
            if chosen:
                predictions = self.logits_to_predictions(logits, proba)
                result.update(_run_metrics(predictions, labels, chosen, weights))
        return result


def _sorted_metrics(metrics: dict[Any, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Metrics of classes, and those of probabilities."""
    kinds: dict[str, dict[str, Any]] = {"classes": {}, "probabilities": {}}
    for name, metric in metrics.items():
        if isinstance(name, str):
            kinds["classes"][name] = metric
        elif not isinstance(name, tuple):
            raise ValueError(f"Ignoring metric {name}. Its name is not in the correct form.")
        elif len(name) != 2:
            raise ValueError(
                f"Ignoring metric {name}. It returned a tuple with len {len(name)}, expected 2."
            )
        elif name[1] not in kinds:
            raise ValueError(
                f"Ignoring metric {name}. The 2nd element of its name should be either 'classes' "
                "or 'probabilities'."
            )
        else:
            kinds[name[1]][name[0]] = metric
    return kinds["classes"], kinds["probabilities"]


class _BinarySvmTargetColumn(_MultiClassTargetColumn):
    def __init__(self, label_name: str | None, weight_column_name: str | None):
        super().__init__(_hinge_loss, 2, label_name, weight_column_name)

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        if proba:
            raise ValueError("logits to probabilities is not supported for _BinarySvmTargetColumn")
        return super().logits_to_predictions(logits)


def regression_target(
    label_name: str | None = None, weight_column_name: str | None = None, label_dimension: int = 1
) -> _RegressionTargetColumn:
    """Numbers are predicted, by their squared errors.

    Args:
      label_name: the name of the labels, if they are given in a dict.
      weight_column_name: the name of the feature that weighs examples.
    """
    return _RegressionTargetColumn(
        _mean_squared_loss, label_name, weight_column_name, label_dimension
    )


def multi_class_target(
    n_classes: int, label_name: str | None = None, weight_column_name: str | None = None
) -> _MultiClassTargetColumn:
    """Classes are predicted, by their cross entropy; see `regression_target`."""
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    loss_fn = _log_loss_with_two_classes if n_classes == 2 else _softmax_cross_entropy_loss
    return _MultiClassTargetColumn(loss_fn, n_classes, label_name, weight_column_name)


def binary_svm_target(
    label_name: str | None = None, weight_column_name: str | None = None
) -> _BinarySvmTargetColumn:
    """Two classes are predicted, by the hinge loss; see `regression_target`."""
    return _BinarySvmTargetColumn(label_name, weight_column_name)


def _as_matrix(target: Any) -> Any:
    return tf.expand_dims(target, axis=1) if len(target.get_shape()) == 1 else target


def _mean_squared_loss(logits: Any, target: Any) -> Any:
    target = _as_matrix(target)
    logits.get_shape().assert_is_compatible_with(target.get_shape())
    return tf.squared_difference(logits, tf.cast(target, tf.float32))


def _log_loss_with_two_classes(logits: Any, target: Any) -> Any:
    labels = tf.cast(_as_matrix(target), tf.float32)
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)


def _softmax_cross_entropy_loss(logits: Any, target: Any) -> Any:
    if not target.dtype.is_integer:
        raise ValueError(f"Target's dtype should be integer Instead got {target.dtype}.")
    if len(target.get_shape()) == 2:
        target = tf.squeeze(target, axis=[1])
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)


def _hinge_loss(logits: Any, target: Any) -> Any:
    message = "target's shape should be either [batch_size, 1] or [batch_size]"
    check = tf.Assert(tf.less_equal(tf.rank(target), 2), [message])
    with tf.control_dependencies([check]):
        target = tf.reshape(target, shape=[tf.shape(target)[0], 1])
    return losses.hinge_loss(logits, target)


def _mean(values: Any) -> Any:
    return metrics.streaming_mean(values)


def _run_metrics(predictions: Any, labels: Any, chosen: Any, weights: Any) -> dict[str, Any]:
    labels = tf.cast(labels, predictions.dtype)
    options = {} if weights is None else {"weights": weights}
    return {name: metric(predictions, labels, **options) for name, metric in (chosen or {}).items()}


def get_default_binary_metrics_for_eval(
    thresholds: list[float],
) -> dict[str, Callable[..., Any]]:
    """Metrics of the probability of the second of two classes, some of them at thresholds."""
    found: dict[str, Callable[..., Any]] = {
        "labels/prediction_mean": _mean_of_predictions,
        "labels/actual_target_mean": _mean_of_labels,
        "accuracy/baseline_target_mean": _mean_of_labels,
        "auc": _auc,
    }
    for threshold in thresholds:
        precision = metrics.streaming_precision_at_thresholds
        recall = metrics.streaming_recall_at_thresholds
        found[f"accuracy/threshold_{threshold:f}_mean"] = _accuracy_at(threshold)
        found[f"precision/positive_threshold_{threshold:f}_mean"] = _at(precision, threshold)
        found[f"recall/positive_threshold_{threshold:f}_mean"] = _at(recall, threshold)
    return found


def _mean_of_labels(predictions: Any, labels: Any, weights: Any = None) -> Any:
    return metrics.streaming_mean(labels, weights=weights)


def _mean_of_predictions(predictions: Any, labels: Any, weights: Any = None) -> Any:
    return metrics.streaming_mean(predictions, weights=weights)


def _as_floats(weights: Any) -> Any:
    return None if weights is None else tf.cast(weights, tf.float32)


def _auc(predictions: Any, labels: Any, weights: Any = None) -> Any:
    return metrics.streaming_auc(predictions, labels, weights=_as_floats(weights))


def _accuracy_at(threshold: float) -> Callable[..., Any]:
    def accuracy(predictions: Any, labels: Any, weights: Any = None) -> Any:
        is_above = tf.cast(tf.greater_equal(predictions, threshold), tf.float32)
        return metrics.streaming_accuracy(is_above, labels, weights=weights)

    return accuracy


def _at(metric: Callable[..., Any], threshold: float) -> Callable[..., Any]:
    def at_threshold(predictions: Any, labels: Any, weights: Any = None) -> Any:
        value, update = metric(
            predictions, labels, thresholds=[threshold], weights=_as_floats(weights)
        )
        return tf.squeeze(value), update

    return at_threshold
