"""`tf.contrib.learn.head`: what models do with their logits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import penstock as tf
from penstock.contrib.learn import head_losses
from penstock.contrib.learn.head_metrics import MetricKey
from penstock.contrib.learn.model_fn import ModeKeys, ModelFnOps
from penstock.contrib.learn.single_heads import (
    Head,
    _BinaryLogisticHead,
    _BinarySvmHead,
    _MultiClassHead,
    _MultiLabelHead,
    _RegressionHead,
    check_mode,
    summarize_loss,
    training_op,
)

__all__ = [
    "Head",
    "binary_svm_head",
    "loss_only_head",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "no_op_train_fn",
    "poisson_regression_head",
    "regression_head",
]


def regression_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    link_fn: Callable[[Any], Any] | None = None,
) -> Head:
    """A head that predicts numbers, by their squared errors.

    Args:
      label_name: the name of the labels, if they are given in a dict.
      weight_column_name: the name of the feature that weighs examples.
      enable_centered_bias: whether a bias is fitted to the labels by itself.
      head_name: a name, which metrics get as a suffix.
      link_fn: what predictions are of logits; the same by default.
    """
    return _RegressionHead(
        label_dimension,
        head_losses.mean_squared_loss,
        link_fn or tf.identity,
        label_name=label_name,
        weight_column_name=weight_column_name,
        enable_centered_bias=enable_centered_bias,
        head_name=head_name,
    )


def poisson_regression_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
) -> Head:
    """A head that predicts counts, by their likelihood; see `regression_head`."""
    return _RegressionHead(
        label_dimension,
        head_losses.poisson_loss,
        tf.exp,
        label_name=label_name,
        weight_column_name=weight_column_name,
        enable_centered_bias=enable_centered_bias,
        head_name=head_name,
    )


def multi_class_head(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Any = None,
    metric_class_ids: Sequence[int] | None = None,
    loss_fn: Callable[..., Any] | None = None,
    label_keys: Any = None,
) -> Head:
    """A head that predicts one of several classes; see `regression_head`.

    Args:
      thresholds: probabilities at which precision and recall are measured, of two classes.
      metric_class_ids: classes that have metrics of their own.
      loss_fn: a function of labels, logits and weights; by default the cross entropy.
      label_keys: the classes' names, if labels are strings.
    """
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
    options: dict[str, Any] = {
        "loss_fn": head_losses.checked_loss_fn(loss_fn),
        "label_name": label_name,
        "weight_column_name": weight_column_name,
        "enable_centered_bias": enable_centered_bias,
        "head_name": head_name,
    }
    if n_classes > 2:
        return _MultiClassHead(
            n_classes, metric_class_ids=metric_class_ids, label_keys=label_keys, **options
        )
    if metric_class_ids:
        raise ValueError("metric_class_ids invalid for n_classes==2.")
    if label_keys:
        raise ValueError("label_keys is not supported for n_classes=2.")
    return _BinaryLogisticHead(thresholds=thresholds, **options)


def binary_svm_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Any = None,
) -> Head:
    """A head that predicts one of two classes, by the hinge loss; see `regression_head`."""
    return _BinarySvmHead(
        label_name=label_name,
        weight_column_name=weight_column_name,
        enable_centered_bias=enable_centered_bias,
        head_name=head_name,
    )


def multi_label_head(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Any = None,
    metric_class_ids: Sequence[int] | None = None,
    loss_fn: Callable[..., Any] | None = None,
) -> Head:
    """A head that predicts any number of classes; see `multi_class_head`."""
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    return _MultiLabelHead(
        n_classes,
        loss_fn=head_losses.checked_loss_fn(loss_fn),
        metric_class_ids=metric_class_ids,
        label_name=label_name,
        weight_column_name=weight_column_name,
        enable_centered_bias=enable_centered_bias,
        head_name=head_name,
    )


def loss_only_head(loss_fn: Callable[[], Any], head_name: str | None = None) -> Head:
    """A head that has no labels and logits: its loss is what a function gives."""
    return _LossOnlyHead(loss_fn, head_name)


def multi_head(heads: Sequence[Any], loss_weights: Sequence[float] | None = None) -> Head:
    """Several heads as one, whose loss is the sum of theirs.

    Args:
      heads: heads with different names.
      loss_weights: what their losses are multiplied with.
    """
    if loss_weights and len(loss_weights) != len(heads):
        raise ValueError("heads and loss_weights must have same size")
    return _MultiHead(heads, loss_weights)


def no_op_train_fn(loss: Any) -> Any:
    """A `train_op_fn` that makes an operation which does nothing."""
    return tf.no_op()


class _LossOnlyHead(Head):
    def __init__(self, loss_fn: Callable[[], Any], head_name: str | None = None):
        self._loss_fn = loss_fn
        self.head_name = head_name or "loss_only_head"

    @property
    def logits_dimension(self) -> int:
        return 0

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
        loss = train_op = None
        if mode != ModeKeys.INFER:
            with tf.variable_scope(scope, default_name=self.head_name):
                loss = self._loss_fn()
                if isinstance(loss, list):
                    loss = tf.add_n(loss)
                summarize_loss(loss, f"{MetricKey.LOSS}/{self.head_name}")
                if mode == ModeKeys.TRAIN:
                    train_op = training_op(train_op_fn, loss)
        return ModelFnOps(mode, predictions={}, loss=loss, train_op=train_op, eval_metric_ops={})


class _MultiHead(Head):
    def __init__(self, heads: Sequence[Any], loss_weights: Sequence[float] | None):
        if not all(head.head_name for head in heads):
            raise ValueError("Members of MultiHead must have names.")
        self._heads = list(heads)
        self._loss_weights = loss_weights

    @property
    def logits_dimension(self) -> int:
        return sum(head.logits_dimension for head in self._heads)

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
        made = []
        for head, of_head in zip(self._heads, self._logits_of_heads(logits), strict=True):
            given = {"logits_input": logits_input} if logits is None else {"logits": of_head}
            made.append(
                head.create_model_fn_ops(
                    features, mode, labels, no_op_train_fn, scope=scope, **given
                )
            )
        if mode == ModeKeys.INFER:
            return self._for_inference(made)
        loss = self._merged_loss([each.loss for each in made])
        metrics = {key: metric for each in made for key, metric in each.eval_metric_ops.items()}
        if mode == ModeKeys.EVAL:
            return ModelFnOps(mode, self._predictions(made), loss, eval_metric_ops=metrics)
        if train_op_fn is None:
            raise ValueError("train_op_fn can not be None in TRAIN mode.")
        train_op = tf.group(train_op_fn(loss), *[each.train_op for each in made])
        return ModelFnOps(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)

    def _logits_of_heads(self, logits: Any) -> list[Any]:
        if logits is None:
            return [None] * len(self._heads)
        if isinstance(logits, dict):
            return [logits.get(head.head_name) for head in self._heads]
        found, begin = [], 0
        for head in self._heads:
            found.append(tf.slice(logits, [0, begin], [-1, head.logits_dimension]))
            begin += head.logits_dimension
        return found

    def _merged_loss(self, losses: list[Any]) -> Any:
        if not self._loss_weights:
            return tf.add_n(losses)
        pairs = zip(losses, self._loss_weights, strict=True)
        return tf.add_n([tf.multiply(loss, weight) for loss, weight in pairs])

    def _predictions(self, made: list[ModelFnOps]) -> dict[Any, Any]:
        return {
            (head.head_name, key): value
            for head, each in zip(self._heads, made, strict=True)
            for key, value in each.predictions.items()
        }

    def _for_inference(self, made: list[ModelFnOps]) -> ModelFnOps:
        alternatives = {
            head.head_name: each.output_alternatives[head.head_name]
            for head, each in zip(self._heads, made, strict=True)
            if not isinstance(head, _LossOnlyHead)
        }
        return ModelFnOps(
            ModeKeys.INFER,
            predictions=self._predictions(made),
            output_alternatives=alternatives,
        )
