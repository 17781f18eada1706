"""What a model is trained for: an output with its labels, loss, weights and metrics."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras import losses, metrics
from penstock.keras.utils.weighting import Reduction, matched_weights, weighted_loss
from penstock.platform import tf2


class Endpoint:
    """One output of a model.

    Args:
      output: its tensor.
      loss: name, function or object; None for an output without labels.
      loss_weight: its part in the total loss.
    """

    def __init__(self, name: str, output: Any, loss: Any, loss_weight: float):
        self.name = name
        self.output = output
        self.loss = _loss_object(loss)
        self.loss_weight = loss_weight
        self.target: Any = None
        self.sample_weight: Any = None
        self.sample_weight_mode: str | None = None
        self.metrics: list[Any] = []
        self.weighted_metrics: list[Any] = []

    @property
    def is_trained(self) -> bool:
        return self.loss is not None

    @property
    def loss_name(self) -> str:
        return f"{self.name}_loss"

    @property
    def _loss_function(self) -> Any:
        return getattr(self.loss, "fn", self.loss)

    @property
    def is_sparse(self) -> bool:
        """Whether labels are classes."""
        return self._loss_function in losses.SPARSE_LOSSES

    @property
    def shape(self) -> tuple[Any, ...]:
        """The output's static shape; that of a dynamic model may not be known before it runs."""
        return (None,) if self.output is None else K.int_shape(self.output)

    def with_values(self, target: Any, output: Any, sample_weight: Any) -> Endpoint:
        """The same output with the tensors of a batch, for a model that runs eagerly."""
        live = copy.copy(self)
        live.target, live.output, live.sample_weight = target, output, sample_weight
        return live

    def check_labels(self, labels: Any) -> None:
        """Refuses labels that the loss would broadcast, which is never what was meant."""
        if labels is None or not self.is_trained or isinstance(labels, tf.Tensor):
            return
        if self.output is None:
            return
        given = tuple(labels.shape)
        if self._loss_function is losses.categorical_crossentropy and given[-1] == 1:
            raise ValueError(
                f"You are passing a target array of shape {given} while using as loss "
                "`categorical_crossentropy`. `categorical_crossentropy` expects targets to be "
                "binary matrices (1s and 0s) of shape (samples, classes): make them of integer "
                "classes with `to_categorical`, or use `sparse_categorical_crossentropy`."
            )
        if self._loss_function in losses.LOSSES_OF_EQUAL_SHAPES and any(
            wanted is not None and size != wanted
            for size, wanted in zip(given[1:], self.shape[1:], strict=False)
        ):
            raise ValueError(
                f"A target array with shape {given} was passed for an output of shape "
                f"{self.shape} while using as loss `{self.loss.name}`. This loss expects targets "
                "to have the same shape as the output."
            )

    def add_target(self, target: Any = None) -> None:
        """Makes the placeholder of the labels, or takes the tensor given."""
        if not self.is_trained:
            return
        if target is not None:
            self.target = target
            return
        if self.output is None:
            self.target = K.placeholder(shape=tf.TensorShape(None), name=f"{self.name}_target")
            return
        self.target = K.placeholder(
            ndim=len(self.shape), name=f"{self.name}_target", dtype=K.dtype(self.output)
        )

    def add_sample_weight(self) -> None:
        """Makes the placeholder of the samples' weights."""
        if self.is_trained and self.sample_weight is None:
            shape = (None, None) if self.sample_weight_mode == "temporal" else (None,)
            self.sample_weight = K.placeholder(shape=shape, name=f"{self.name}_sample_weights")

    def set_sample_weight(self, weight: Any) -> None:
        """Takes a tensor of weights, or a placeholder for them if there is a mode of weights."""
        self.sample_weight = None
        if weight is None:
            if self.sample_weight_mode is not None:
                self.add_sample_weight()
            return
        assert self.sample_weight_mode in ("temporal", "samplewise"), self.sample_weight_mode
        shape = [None, None] if self.sample_weight_mode == "temporal" else [None]
        if not weight.shape.is_compatible_with(shape):
            raise ValueError(
                f"Received sample weight with shape {weight.shape}. Expected shape {shape}."
            )
        self.sample_weight = weight

    @property
    def is_mean(self) -> bool:
        """Whether the loss is taken for a mean over the batch, as one without a rule is."""
        reduction = getattr(self.loss, "reduction", Reduction.AUTO)
        return reduction in (Reduction.AUTO, Reduction.SUM_OVER_BATCH_SIZE)

    @property
    def feeds_weight(self) -> bool:
        """Whether arrays are given for the samples' weights."""
        return self.sample_weight is not None and K.is_placeholder(self.sample_weight)

    def total(self) -> Any:
        """The loss of a batch."""
        with tf.name_scope(self.loss_name):
            weight = self._weight_with_mask()
            reduction = getattr(self.loss, "reduction", Reduction.AUTO)
            if hasattr(self.loss, "call"):
                per_sample = self.loss.call(self.target, self.output)
                if reduction == Reduction.NONE:
                    return tf.reduce_mean(weighted_loss(per_sample, weight, Reduction.NONE))
                return weighted_loss(per_sample, weight, reduction)
            return self.loss(self.target, self.output, sample_weight=weight)

    def _weight_with_mask(self) -> Any:
        mask = getattr(self.output, "_keras_mask", None)
        if mask is None:
            return self.sample_weight
        mask = tf.cast(mask, self.output.dtype)
        if self.sample_weight is None:
            return mask
        return mask * matched_weights(mask, self.sample_weight)

    def add_metrics(self, wanted: Any, is_weighted: bool, prefix: bool, taken: set[str]) -> None:
        """Makes the metrics that `compile` was told, with names as they are reported.

        Args:
          taken: names that others have; those of the new metrics are added.
        """
        several = wanted if isinstance(wanted, (list, tuple)) else [wanted]
        made = [self._metric_object(each, is_weighted) for each in several if each is not None]
        # Of metrics with one name the last is kept.
        for metric in {metric.name: metric for metric in made}.values():
            name = f"{self.name}_{metric.name}" if prefix else metric.name
            metric._name = _unique(name, taken)
            taken.add(metric.name)
            (self.weighted_metrics if is_weighted else self.metrics).append(metric)

    def _metric_object(self, metric: Any, is_weighted: bool) -> Any:
        short = {"accuracy": "acc", "acc": "acc", "crossentropy": "ce", "ce": "ce"}
        keeps_name = tf2.enabled()  # version 2 shows metrics under the names that were given
        start = "weighted_" if is_weighted and not keeps_name else ""
        if isinstance(metric, str) and metric in short:
            function = self._accuracy() if short[metric] == "acc" else self._crossentropy()
            name: Any = metric if keeps_name else short[metric]
            return metrics.MeanMetricWrapper(function, name=start + name)
        found = metrics.get(metric)
        if isinstance(found, metrics.Metric):
            found._name = start + found.name
            return found
        given = metric if keeps_name and isinstance(metric, str) else None
        name = given or getattr(found, "name", None) or getattr(found, "__name__", "metric")
        return metrics.MeanMetricWrapper(found, name=start + name)

    def _is_binary(self) -> bool:
        is_binary_loss = self._loss_function is losses.binary_crossentropy
        return is_binary_loss or (self.shape[-1] == 1 and not self.is_sparse)

    def _accuracy(self) -> Any:
        if self._is_binary():
            return metrics.binary_accuracy
        if self.is_sparse:
            return metrics.sparse_categorical_accuracy
        return metrics.categorical_accuracy

    def _crossentropy(self) -> Any:
        if self._is_binary():
            return metrics.binary_crossentropy
        if self.is_sparse:
            return metrics.sparse_categorical_crossentropy
        return metrics.categorical_crossentropy

    def metric_results(self) -> list[tuple[Any, Any]]:
        """(metric, tensor of its value after this batch) of each metric."""
        found = []
        mask = getattr(self.output, "_keras_mask", None)
        for metric in [*self.metrics, *self.weighted_metrics]:
            weight = self.sample_weight if metric in self.weighted_metrics else None
            with tf.name_scope("metrics"), tf.name_scope(metric.name):
                if mask is not None:
                    as_weight = tf.cast(mask, self.output.dtype)
                    weight = (
                        as_weight
                        if weight is None
                        else as_weight * matched_weights(as_weight, weight)
                    )
                found.append((metric, metric(self.target, self.output, sample_weight=weight)))
        return found


def _unique(name: str, taken: set[str]) -> str:
    numbered = (f"{name}_{number}" for number in itertools.count(1))
    return next(each for each in itertools.chain([name], numbered) if each not in taken)


def _loss_object(loss: Any) -> Any:
    if loss is None or isinstance(loss, losses.Loss):
        return loss
    found = losses.get(loss)
    if isinstance(found, losses.Loss):
        return found
    name = getattr(found, "__name__", type(found).__name__)
    return losses.LossFunctionWrapper(found, name=name)
