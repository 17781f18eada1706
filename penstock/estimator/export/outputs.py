"""What a model gives to those who call it: `tf.estimator.export.PredictOutput` and others."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from typing import Any

import penstock as tf
from penstock.saved_model import signature_def_utils

_SEPARATOR = "/"


class ExportOutput(abc.ABC):
    """An output of a model, for a signature of a SavedModel."""

    _SEPARATOR_CHAR = _SEPARATOR

    @abc.abstractmethod
    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """The `SignatureDef` from these inputs to this output."""


def _checked_key(key: Any, what: str) -> str:
    if isinstance(key, tuple):
        key = _SEPARATOR.join(key)
    if not isinstance(key, str):
        raise ValueError(f"{what} output key must be a string; got {key}.")
    return key


def _named_tensors(outputs: Any, single_name: str, what: str) -> dict[str, Any]:
    """Tensors by name; a single one gets the name that is given."""
    if not isinstance(outputs, dict):
        outputs = {single_name: outputs}
    named = {}
    for given_key, tensor in outputs.items():
        key = _checked_key(given_key, what)
        if not isinstance(tensor, tf.Tensor):
            raise ValueError(f"{what} output value must be a Tensor; got {tensor}.")
        named[key] = tensor
    return named


def _only_examples(receiver_tensors: Mapping[str, Any], what: str) -> Any:
    """The one tensor of serialized Examples that classification and regression take."""
    tensors = list(receiver_tensors.values())
    if len(tensors) != 1 or tf.as_dtype(tensors[0].dtype) != tf.string:
        raise ValueError(f"{what} input must be a single string Tensor; got {receiver_tensors}")
    return tensors[0]


class ClassificationOutput(ExportOutput):
    """Scores and names of classes.

    Args:
      scores: floats, one for each class, or
      classes: strings; at least one of them.
    """

    def __init__(self, scores: Any = None, classes: Any = None):
        if scores is not None and not (isinstance(scores, tf.Tensor) and scores.dtype.is_floating):
            raise ValueError(f"Classification scores must be a float32 Tensor; got {scores}")
        if classes is not None and not (
            isinstance(classes, tf.Tensor) and classes.dtype == tf.string
        ):
            raise ValueError(f"Classification classes must be a string Tensor; got {classes}")
        if scores is None and classes is None:
            raise ValueError("At least one of scores and classes must be set.")
        self._scores = scores
        self._classes = classes

    @property
    def scores(self) -> Any:
        return self._scores

    @property
    def classes(self) -> Any:
        return self._classes

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        examples = _only_examples(receiver_tensors, "Classification")
        return signature_def_utils.classification_signature_def(examples, self.classes, self.scores)


class RegressionOutput(ExportOutput):
    """A predicted number for each example."""

    def __init__(self, value: Any):
        if not (isinstance(value, tf.Tensor) and value.dtype.is_floating):
            raise ValueError(f"Regression output value must be a float32 Tensor; got {value}")
        self._value = value

    @property
    def value(self) -> Any:
        return self._value

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        examples = _only_examples(receiver_tensors, "Regression")
        return signature_def_utils.regression_signature_def(examples, self.value)


class PredictOutput(ExportOutput):
    """Any tensors, by name; a single one is called "output"."""

    def __init__(self, outputs: Any):
        self._outputs = _named_tensors(outputs, "output", "Prediction")

    @property
    def outputs(self) -> dict[str, Any]:
        return self._outputs

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        return signature_def_utils.predict_signature_def(receiver_tensors, self.outputs)


class _SupervisedOutput(ExportOutput):
    """Loss, predictions and metrics, by names that begin with what they are."""

    LOSS_NAME = "loss"
    PREDICTIONS_NAME = "predictions"
    METRICS_NAME = "metrics"
    METRIC_VALUE_SUFFIX = "value"
    METRIC_UPDATE_SUFFIX = "update_op"

    _signature_def: Callable[..., Any]

    def __init__(self, loss: Any = None, predictions: Any = None, metrics: Any = None):
        self._loss = self._prefixed(loss, self.LOSS_NAME)
        self._predictions = self._prefixed(predictions, self.PREDICTIONS_NAME)
        self._metrics = None if metrics is None else self._metric_tensors(metrics)

    @staticmethod
    def _prefix(key: str, prefix: str) -> str:
        return key if key.startswith(prefix) else prefix + _SEPARATOR + key

    def _prefixed(self, outputs: Any, prefix: str) -> dict[str, Any] | None:
        if outputs is None:
            return None
        named = _named_tensors(outputs, prefix, prefix)
        return {self._prefix(key, prefix): tensor for key, tensor in named.items()}

    def _metric_tensors(self, metrics: Any) -> dict[str, Any]:
        if not isinstance(metrics, dict):
            metrics = {self.METRICS_NAME: metrics}
        tensors = {}
        for given_key, metric in metrics.items():
            pair = isinstance(metric, tuple)
            value, update = metric if pair else (metric.result(), metric.updates[0])
            key = self._prefix(_checked_key(given_key, self.METRICS_NAME), self.METRICS_NAME)
            if not isinstance(value, tf.Tensor):
                raise ValueError(f"{key} output value must be a Tensor; got {value}.")
            if not isinstance(update, tf.Tensor | tf.Operation):
                raise ValueError(f"{key} update_op must be a Tensor or Operation; got {update}.")
            if isinstance(update, tf.Operation):  # a signature holds tensors only
                with tf.control_dependencies([update]):
                    update = tf.constant([], name="metric_op_wrapper")
            tensors[key + _SEPARATOR + self.METRIC_VALUE_SUFFIX] = value
            tensors[key + _SEPARATOR + self.METRIC_UPDATE_SUFFIX] = update
        return tensors

    @property
    def loss(self) -> dict[str, Any] | None:
        return self._loss

    @property
    def predictions(self) -> dict[str, Any] | None:
        return self._predictions

    @property
    def metrics(self) -> dict[str, Any] | None:
        return self._metrics

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        return type(self)._signature_def(
            receiver_tensors, self.loss, self.predictions, self.metrics
        )


class TrainOutput(_SupervisedOutput):
    """What a step of training gives."""

    _signature_def = staticmethod(signature_def_utils.supervised_train_signature_def)


class EvalOutput(_SupervisedOutput):
    """What a step of evaluation gives."""

    _signature_def = staticmethod(signature_def_utils.supervised_eval_signature_def)
