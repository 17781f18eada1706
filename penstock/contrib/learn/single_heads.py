"""What a model does with its logits, for one kind of labels."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import penstock as tf
from penstock import logging
from penstock.contrib.layers import linear
from penstock.contrib.learn import head_losses, head_metrics
from penstock.contrib.learn.head_metrics import MetricKey
from penstock.contrib.learn.model_fn import ModeKeys, ModelFnOps, PredictionKey, ProblemType
from penstock.ir.composite import SparseTensor
from penstock.ops.sparse_tensors import convert_to_tensor_or_sparse_tensor


class Head(abc.ABC):
    """What a model does with its logits: predictions, loss, training and metrics."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """How many logits there are for an example."""

    @abc.abstractmethod
    def create_model_fn_ops(
        self,
        features: Any,
        mode: str,
        labels: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        """What a model function returns.

        Args:
          train_op_fn: makes the training operation, of the loss.
          logits: the logits; or
          logits_input: the last layer before them.
          scope: a variable scope, instead of one with the head's name.
        """


def check_mode(mode: str) -> None:
    """ValueError unless a mode is one of `ModeKeys`."""
    if mode not in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.INFER):
        raise ValueError(f"mode={mode} unrecognized.")


def training_op(train_op_fn: Callable[[Any], Any] | None, loss: Any) -> Any:
    """What `train_op_fn` makes of the loss; it must be given."""
    if train_op_fn is None:
        raise ValueError("train_op_fn can not be None in TRAIN mode")
    with tf.name_scope(None, "train_op", (loss,)):
        return train_op_fn(loss)


def summarize_loss(loss: Any, key: str) -> None:
    """A summary of the loss, outside of the head's scope."""
    with tf.name_scope(""):
        tf.summary.scalar(key, tf.identity(loss))


class _SingleHead(Head):
    """A head for one kind of labels: a subclass says what predictions and metrics are."""

    _scope_name = "head"

    def __init__(
        self,
        problem_type: int,
        logits_dimension: int,
        loss_fn: head_losses.LossFn,
        label_name: str | None = None,
        weight_column_name: str | None = None,
        enable_centered_bias: bool = False,
        head_name: str | None = None,
    ):
        if logits_dimension is None or logits_dimension < 1:
            raise ValueError(f"Invalid logits_dimension {logits_dimension}.")
        self._problem_type = problem_type
        self._logits_dimension = logits_dimension
        self._loss_fn = loss_fn
        self._label_name = label_name
        self._weight_column_name = weight_column_name
        self._enable_centered_bias = enable_centered_bias
        self._head_name = head_name

    @property
    def logits_dimension(self) -> int:
        return self._logits_dimension

    @property
    def label_name(self) -> str | None:
        """The name of the labels in a dict of them."""
        return self._label_name

    @property
    def weight_column_name(self) -> str | None:
        """The name of the feature that weighs examples."""
        return self._weight_column_name

    @property
    def head_name(self) -> str | None:
        """The name of the head, which its metrics have as a suffix."""
        return self._head_name

    def create_model_fn_ops(
        self,
        features: Any,
        mode: str,
        labels: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        check_mode(mode)
        used = [*features.values(), logits, logits_input]
        with tf.variable_scope(scope, self._head_name or self._scope_name, used):
            is_labelled = mode != ModeKeys.INFER and labels is not None
            labels = self._transform_labels(labels) if is_labelled else None
            logits = self._checked_logits(logits, logits_input)
            bias = self._centered_bias() if self._enable_centered_bias else None
            if bias is not None:
                logits = tf.nn.bias_add(logits, bias)
            with tf.name_scope(None, "predictions", (logits,)):
                predictions = self._logits_to_predictions(logits)
            loss = train_op = metrics = None
            if is_labelled:
                weights = self._weights(features)
                loss, average = self._loss(labels, logits, weights)
                summarize_loss(average, self._key(MetricKey.LOSS))
                if mode == ModeKeys.TRAIN:
                    train_op = training_op(train_op_fn, loss)
                    if bias is not None:
                        step = self._centered_bias_step(bias, labels, logits, weights)
                        train_op = tf.group(train_op, step)
                with tf.name_scope("metrics"):
                    metrics = {MetricKey.LOSS: tf.metrics.mean(average)}
                    metrics.update(self._metrics(predictions, labels, weights))
                    metrics = {self._key(name): metric for name, metric in metrics.items()}
            return ModelFnOps(
                mode=mode,
                predictions=predictions,
                loss=loss,
                train_op=train_op,
                eval_metric_ops=metrics,
                output_alternatives={self._head_name: self._alternative(predictions)},
            )

    @abc.abstractmethod
    def _logits_to_predictions(self, logits: Any) -> dict[str, Any]: ...

    def _metrics(self, predictions: Any, labels: Any, weights: Any) -> dict[str, Any]:
        """Metrics besides the loss."""
        return {}

    def _alternative(self, predictions: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        return self._problem_type, predictions

    def _loss(self, labels: Any, logits: Any, weights: Any) -> tuple[Any, Any]:
        return self._loss_fn(labels, logits, weights)

    def _transform_labels(self, labels: Any) -> Any:
        found = self._given_labels(labels)
        if isinstance(found, SparseTensor):
            raise ValueError("SparseTensor is not supported.")
        return found

    def _given_labels(self, labels: Any) -> Any:
        if isinstance(labels, dict):
            labels = labels[self._label_name]
        return convert_to_tensor_or_sparse_tensor(labels)

    def _key(self, name: str) -> str:
        return f"{name}/{self._head_name}" if self._head_name else name

    def _checked_logits(self, logits: Any, logits_input: Any) -> Any:
        if logits is None:
            if logits_input is None:
                raise ValueError("Neither logits nor logits_input supplied.")
            return linear(logits_input, self._logits_dimension, scope="logits")
        if logits_input is not None:
            raise ValueError("Both logits and logits_input supplied.")
        logits = tf.convert_to_tensor(logits, name="logits")
        sizes = logits.get_shape().dims
        if sizes is not None:
            sizes[-1].assert_is_compatible_with(self._logits_dimension)
        return logits

    def _weights(self, features: Any) -> Any:
        name = self._weight_column_name
        if not name:
            return None
        if name not in features:
            raise ValueError(f"Weights {name} missing from features.")
        weights = tf.cast(features[name], tf.float32)
        if weights.get_shape().ndims != 1:
            return weights
        logging.warning(f"Weights {name} has shape {weights.get_shape()}, expanding to make it 2d.")
        return tf.reshape(weights, (-1, 1))

    def _centered_bias(self) -> Any:
        start = tf.zeros(shape=(self._logits_dimension,))
        bias = tf.Variable(start, trainable=True, name="centered_bias_weight")
        for place in range(self._logits_dimension):
            suffix = f"/{self._head_name}" if self._head_name else ""
            tf.summary.scalar(f"centered_bias/bias_{place}{suffix}", bias[place])
        return bias

    def _centered_bias_step(self, bias: Any, labels: Any, logits: Any, weights: Any) -> Any:
        """A step that fits the bias to the labels by itself, whatever the features are."""
        with tf.name_scope(None, "centered_bias_step") as name:
            batch_size = tf.shape(logits)[0]
            alone = tf.reshape(tf.tile(bias, (batch_size,)), (batch_size, tf.shape(bias)[0]))
            with tf.name_scope(None, "centered_bias"):
                loss = tf.reduce_mean(self._loss(labels, alone, weights), name="training_loss")
        return tf.train.AdagradOptimizer(0.1).minimize(loss, var_list=(bias,), name=name)


class _RegressionHead(_SingleHead):
    _scope_name = "regression_head"

    def __init__(
        self,
        label_dimension: int,
        loss_fn: head_losses.LossFn,
        link_fn: Callable[[Any], Any],
        logits_dimension: int | None = None,
        **options: Any,
    ):
        size = label_dimension if logits_dimension is None else logits_dimension
        super().__init__(ProblemType.LINEAR_REGRESSION, size, loss_fn, **options)
        self._link_fn = link_fn

    def _logits_to_predictions(self, logits: Any) -> dict[str, Any]:
        if self._logits_dimension == 1:
            logits = tf.squeeze(logits, axis=(1,), name=PredictionKey.SCORES)
        return {PredictionKey.SCORES: self._link_fn(logits)}


def _two_logits(logits: Any) -> Any:
    return tf.concat((tf.zeros_like(logits), logits), 1)


def _alternative_of_classes(
    problem_type: int, predictions: dict[str, Any], label_keys: Any = None
) -> tuple[int, dict[str, Any]]:
    """Predictions to export: the probabilities of all classes, and their names."""
    probabilities = predictions[PredictionKey.PROBABILITIES]
    with tf.name_scope(None, "_classification_output_alternatives", (probabilities,)):
        size = tf.shape(probabilities)
        names = label_keys or tf.as_string(tf.range(size[1]))
        classes = tf.tile(tf.expand_dims(names, 0), [size[0], 1], name="classes_tensor")
    exported = {PredictionKey.PROBABILITIES: probabilities, PredictionKey.CLASSES: classes}
    return problem_type, exported


class _BinaryLogisticHead(_SingleHead):
    _scope_name = "binary_logistic_head"

    def __init__(self, loss_fn: Any = None, thresholds: Any = None, **options: Any):
        loss_fn = loss_fn or head_losses.log_loss_with_two_classes
        super().__init__(ProblemType.LOGISTIC_REGRESSION, 1, loss_fn, **options)
        self._thresholds = thresholds or (0.5,)

    def _logits_to_predictions(self, logits: Any) -> dict[str, Any]:
        two = _two_logits(logits)
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.LOGISTIC: tf.sigmoid(logits, name=PredictionKey.LOGISTIC),
            PredictionKey.PROBABILITIES: tf.nn.softmax(two, name=PredictionKey.PROBABILITIES),
            PredictionKey.CLASSES: tf.argmax(two, 1, name=PredictionKey.CLASSES),
        }

    def _alternative(self, predictions: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        return _alternative_of_classes(self._problem_type, predictions)

    def _metrics(self, predictions: Any, labels: Any, weights: Any) -> dict[str, Any]:
        classes = predictions[PredictionKey.CLASSES]
        logistic = predictions[PredictionKey.LOGISTIC]
        precision, recall = tf.metrics.precision_at_thresholds, tf.metrics.recall_at_thresholds
        given = (logistic, labels, weights)
        found = {
            MetricKey.ACCURACY: tf.metrics.accuracy(labels, classes, weights),
            MetricKey.PREDICTION_MEAN: head_metrics.mean(logistic, weights),
            MetricKey.LABEL_MEAN: head_metrics.mean(labels, weights),
            MetricKey.ACCURACY_BASELINE: head_metrics.mean(labels, weights),
            MetricKey.AUC: head_metrics.auc(*given),
            MetricKey.AUC_PR: head_metrics.auc(*given, curve="PR"),
        }
        for at in self._thresholds:
            found[MetricKey.ACCURACY_MEAN % at] = head_metrics.accuracy_at(*given, at)
            found[MetricKey.PRECISION_MEAN % at] = head_metrics.at_threshold(precision, *given, at)
            found[MetricKey.RECALL_MEAN % at] = head_metrics.at_threshold(recall, *given, at)
        return found


class _BinarySvmHead(_SingleHead):
    _scope_name = "binary_svm_head"

    def __init__(self, **options: Any):
        super().__init__(ProblemType.LOGISTIC_REGRESSION, 1, head_losses.hinge_loss, **options)

    def _logits_to_predictions(self, logits: Any) -> dict[str, Any]:
        classes = tf.argmax(_two_logits(logits), 1, name=PredictionKey.CLASSES)
        return {PredictionKey.LOGITS: logits, PredictionKey.CLASSES: classes}

    def _metrics(self, predictions: Any, labels: Any, weights: Any) -> dict[str, Any]:
        classes = predictions[PredictionKey.CLASSES]
        return {MetricKey.ACCURACY: tf.metrics.accuracy(labels, classes, weights)}


def _checked_classes(class_ids: Sequence[int] | None, n_classes: int) -> tuple[int, ...]:
    found = tuple(class_ids or ())
    for class_id in found:
        if not 0 <= class_id < n_classes:
            raise ValueError(f"Class ID {class_id} not in [0, {n_classes}).")
    return found


class _ClassLabels(NamedTuple):
    """Labels as they were given, and the numbers of the classes that they name."""

    labels: Any
    ids: Any


class _MultiClassHead(_SingleHead):
    _scope_name = "multi_class_head"

    def __init__(
        self,
        n_classes: int,
        loss_fn: Any = None,
        metric_class_ids: Sequence[int] | None = None,
        label_keys: Any = None,
        **options: Any,
    ):
        loss_fn = loss_fn or head_losses.softmax_cross_entropy_loss
        super().__init__(ProblemType.CLASSIFICATION, n_classes, loss_fn, **options)
        if n_classes is None or n_classes <= 2:
            raise ValueError(f"n_classes must be > 2: {n_classes}.")
        self._metric_class_ids = _checked_classes(metric_class_ids, n_classes)
        if label_keys and len(label_keys) != n_classes:
            raise ValueError("Length of label_keys must equal n_classes.")
        self._label_keys = label_keys

    def _transform_labels(self, labels: Any) -> Any:
        given = super()._transform_labels(labels)
        if not self._label_keys:
            return _ClassLabels(given, given)
        table = tf.contrib.lookup.index_table_from_tensor(self._label_keys, name="label_id_lookup")
        return _ClassLabels(given, table.lookup(given))

    def _loss(self, labels: Any, logits: Any, weights: Any) -> tuple[Any, Any]:
        return self._loss_fn(labels.ids, logits, weights)

    def _logits_to_predictions(self, logits: Any) -> dict[str, Any]:
        classes = tf.argmax(logits, 1, name=PredictionKey.CLASSES)
        if self._label_keys:
            table = tf.contrib.lookup.index_to_string_table_from_tensor(
                self._label_keys, name="class_string_lookup"
            )
            classes = table.lookup(classes)
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.PROBABILITIES: tf.nn.softmax(logits, name=PredictionKey.PROBABILITIES),
            PredictionKey.CLASSES: classes,
        }

    def _alternative(self, predictions: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        return _alternative_of_classes(self._problem_type, predictions, self._label_keys)

    def _metrics(self, predictions: Any, labels: Any, weights: Any) -> dict[str, Any]:
        classes = predictions[PredictionKey.CLASSES]
        found = {MetricKey.ACCURACY: tf.metrics.accuracy(labels.labels, classes, weights)}
        for each in () if self._label_keys else self._metric_class_ids:
            probabilities = predictions[PredictionKey.PROBABILITIES]
            logits = predictions[PredictionKey.LOGITS]
            found[MetricKey.CLASS_PREDICTION_MEAN % each] = head_metrics.share(
                classes, weights, each
            )
            found[MetricKey.CLASS_LABEL_MEAN % each] = head_metrics.share(labels.ids, weights, each)
            found[MetricKey.CLASS_PROBABILITY_MEAN % each] = head_metrics.mean(
                probabilities, weights, each
            )
            found[MetricKey.CLASS_LOGITS_MEAN % each] = head_metrics.mean(logits, weights, each)
        return found


class _MultiLabelHead(_SingleHead):
    _scope_name = "multi_label_head"

    def __init__(
        self,
        n_classes: int,
        loss_fn: Any = None,
        metric_class_ids: Sequence[int] | None = None,
        **options: Any,
    ):
        loss_fn = loss_fn or head_losses.sigmoid_cross_entropy_loss
        super().__init__(ProblemType.CLASSIFICATION, n_classes, loss_fn, **options)
        self._metric_class_ids = _checked_classes(metric_class_ids, n_classes)

    def _transform_labels(self, labels: Any) -> Any:
        found = self._given_labels(labels)
        if isinstance(found, SparseTensor):
            if self._logits_dimension < 2:
                raise ValueError("Must set num_classes >= 2 when passing labels as a SparseTensor.")
            found = tf.cast(tf.sparse_to_indicator(found, self._logits_dimension), tf.int64)
        return found

    def _logits_to_predictions(self, logits: Any) -> dict[str, Any]:
        is_above = tf.greater(logits, 0)
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.PROBABILITIES: tf.sigmoid(logits, name=PredictionKey.PROBABILITIES),
            PredictionKey.CLASSES: tf.cast(is_above, tf.int64, name=PredictionKey.CLASSES),
        }

    def _alternative(self, predictions: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        return _alternative_of_classes(self._problem_type, predictions)

    def _metrics(self, predictions: Any, labels: Any, weights: Any) -> dict[str, Any]:
        classes = predictions[PredictionKey.CLASSES]
        given = (predictions[PredictionKey.PROBABILITIES], labels, weights)
        found = {
            MetricKey.ACCURACY: tf.metrics.accuracy(labels, classes, weights),
            MetricKey.AUC: head_metrics.auc(*given),
            MetricKey.AUC_PR: head_metrics.auc(*given, curve="PR"),
        }
        for each in self._metric_class_ids:
            for key, values in (
                (MetricKey.CLASS_PREDICTION_MEAN, classes),
                (MetricKey.CLASS_LABEL_MEAN, labels),
                (MetricKey.CLASS_PROBABILITY_MEAN, given[0]),
                (MetricKey.CLASS_LOGITS_MEAN, predictions[PredictionKey.LOGITS]),
            ):
                found[key % each] = head_metrics.mean(values, weights, each)
            found[MetricKey.CLASS_AUC % each] = head_metrics.auc(*given, each)
            found[MetricKey.CLASS_AUC_PR % each] = head_metrics.auc(*given, each, curve="PR")
        return found
