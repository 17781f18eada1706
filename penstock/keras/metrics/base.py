"""Metrics: variables that gather values over batches."""

from __future__ import annotations

import abc
import functools
from typing import Any

import numpy as np

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.engine.layer import Layer
from penstock.keras.metrics.confusion_matrix import Reduction
from penstock.keras.utils.weighting import matched_weights

__all__ = [
    "Mean",
    "MeanMetricWrapper",
    "MeanRelativeError",
    "MeanTensor",
    "Metric",
    "Reduce",
    "Sum",
    "SumOverBatchSize",
    "SumOverBatchSizeMetricWrapper",
    "clone_metric",
    "clone_metrics",
]


class Metric(Layer, metaclass=abc.ABCMeta):
    """Gathers values over batches: `update_state` adds those of a batch, `result` is the metric.

    Calling a metric gives the result after an update.
    """

    _is_metric = True

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        # What a subclass writes is called through the instance alone, so that a class which calls
        # its base's `update_state` makes one update.
        made = super().__new__(cls)
        made.__dict__["update_state"] = functools.partial(_updated, made)
        made.__dict__["result"] = functools.partial(_result_of_all, made)
        return made

    def __init__(self, name: str | None = None, dtype: Any = None, **kwargs: Any):
        super().__init__(name=name, dtype=dtype or K.floatx(), **kwargs)
        self.stateful = True
        self.built = True

    def add_weight(  # type: ignore[override] # the order of arguments is Keras'
        self,
        name: str,
        shape: Any = (),
        aggregation: Any = tf.VariableAggregation.SUM,
        synchronization: Any = tf.VariableSynchronization.ON_READ,
        initializer: Any = None,
        dtype: Any = None,
    ) -> Any:
        """Makes a variable of the metric, which `reset_states` sets to zero."""
        return super().add_weight(
            name=name,
            shape=shape,
            dtype=dtype or self.dtype,
            trainable=False,
            initializer=initializer,
            synchronization=synchronization,
            aggregation=aggregation,
            collections=[],
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The metric after an update with these values; between replicas each makes its own."""
        if tf.distribute.has_strategy() and tf.distribute.in_cross_replica_context():
            extended = tf.distribute.get_strategy().extended
            result: Any = extended.call_for_each_replica(self._after_update, args, kwargs)
        else:
            result = self._after_update(*args, **kwargs)
        result._metric_obj = self
        return result

    def _after_update(self, *args: Any, **kwargs: Any) -> Any:
        update = self.update_state(*args, **kwargs)
        with tf.control_dependencies([] if update is None else tf.nest.flatten(update)):
            result = self.result()
            return result if tf.distribute.has_strategy() else tf.identity(result)

    @property
    def updates(self) -> list[Any]:
        return self._updates

    def reset_states(self) -> None:
        """Sets the variables to zero."""
        K.batch_set_value([(v, np.zeros(v.shape.as_list())) for v in self.variables])

    @abc.abstractmethod
    def update_state(self, *args: Any, **kwargs: Any) -> Any:
        """The operation that adds the values of a batch."""
        raise NotImplementedError("Must be implemented in subclasses.")

    @abc.abstractmethod
    def result(self) -> Any:
        """The tensor of the metric, from its variables."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def get_config(self) -> dict[str, Any]:
        config = {"name": self.name, "dtype": self.dtype}
        return config | {key: getattr(self, key) for key in self._CONFIG}


def _updated(metric: Metric, *args: Any, **kwargs: Any) -> Any:
    """The update that a metric's class makes, which becomes one of the metric's updates."""
    update = type(metric).update_state(metric, *args, **kwargs)
    if update is None or tf.executing_eagerly():
        return update
    operation: Any = update
    if not isinstance(update, tf.Operation):
        operation = tf.group(*[getattr(each, "op", each) for each in tf.nest.flatten(update)])
    operation._unconditional_update = False
    metric._updates.append(operation)
    return update


def _result_of_all(metric: Metric, *args: Any) -> Any:
    """What a metric's class computes; inside of a replica from the variables of all of them."""
    context = tf.distribute.get_replica_context() if tf.distribute.has_strategy() else None
    if context is None:
        return type(metric).result(metric, *args)

    def joined(strategy: Any, *each: Any) -> Any:
        return tf.identity(type(metric).result(metric, *each))

    return context.merge_call(joined, args=args)


class Reduce(Metric):
    """A sum of values, perhaps over their number or weight.

    Args:
      reduction: which of them, by `Reduction`.
    """

    def __init__(self, reduction: Reduction, name: str | None, dtype: Any = None):
        super().__init__(name=name, dtype=dtype)
        self.reduction = reduction
        self.total = self.add_weight("total", initializer="zeros")
        if reduction is not Reduction.SUM:
            self.count = self.add_weight("count", initializer="zeros")

    def update_state(self, values: Any, sample_weight: Any = None) -> Any:
        values = tf.cast(values, self.dtype)
        if sample_weight is not None:
            weights = matched_weights(values, tf.cast(sample_weight, self.dtype))
            rank, weight_rank = values.shape.ndims, weights.shape.ndims
            if rank is not None and weight_rank is not None and weight_rank > rank:
                values = tf.reduce_mean(values, axis=list(range(weight_rank, rank)))
            weights = tf.broadcast_to(weights, tf.shape(values))
            values = values * weights
        update = self.total.assign_add(tf.reduce_sum(values))
        if self.reduction is Reduction.SUM:
            return update
        count = tf.cast(tf.size(values), self.dtype)
        if sample_weight is not None and self.reduction is Reduction.WEIGHTED_MEAN:
            count = tf.reduce_sum(weights)
        with tf.control_dependencies([update]):
            return self.count.assign_add(count)

    def result(self) -> Any:
        if self.reduction is Reduction.SUM:
            return tf.identity(self.total)
        return tf.div_no_nan(self.total, self.count)


class Sum(Reduce):
    """The (weighted) sum of values."""

    def __init__(self, name: str | None = "sum", dtype: Any = None):
        super().__init__(Reduction.SUM, name=name, dtype=dtype)


class Mean(Reduce):
    """The (weighted) mean of values."""

    def __init__(self, name: str | None = "mean", dtype: Any = None):
        super().__init__(Reduction.WEIGHTED_MEAN, name=name, dtype=dtype)


class SumOverBatchSize(Reduce):
    """The (weighted) sum of values over their number."""

    def __init__(self, name: str | None = "sum_over_batch_size", dtype: Any = None):
        super().__init__(Reduction.SUM_OVER_BATCH_SIZE, name=name, dtype=dtype)


class MeanRelativeError(Mean):
    """The mean of `abs(y_pred - y_true) / normalizer`."""

    def __init__(self, normalizer: Any, name: str | None = None, dtype: Any = None):
        super().__init__(name=name, dtype=dtype)
        self.normalizer = tf.cast(normalizer, self.dtype)

    def update_state(  # type: ignore[override] # labels and predictions make the values
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> Any:
        y_true, y_pred = tf.cast(y_true, self.dtype), tf.cast(y_pred, self.dtype)
        errors = tf.div_no_nan(tf.abs(y_true - y_pred), self.normalizer)
        return super().update_state(errors, sample_weight=sample_weight)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "normalizer": K.eval(self.normalizer)}


class _OfFunction(Reduce):
    """Values that a function makes of labels and predictions; it gets the further arguments."""

    def __init__(self, fn: Any, name: str | None = None, dtype: Any = None, **kwargs: Any):
        super().__init__(name=name, dtype=dtype)  # type: ignore[call-arg] # the mixed-in class knows
        self._fn = fn
        self._fn_kwargs = kwargs

    def update_state(  # type: ignore[override] # labels and predictions make the values
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> Any:
        y_true, y_pred = tf.cast(y_true, self.dtype), tf.cast(y_pred, self.dtype)
        y_true, y_pred = squeezed(y_true, y_pred)
        values = self._fn(y_true, y_pred, **self._fn_kwargs)
        return super().update_state(values, sample_weight=sample_weight)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **self._fn_kwargs}


class MeanMetricWrapper(_OfFunction, Mean):
    """The mean of a function of labels and predictions; it gets the further arguments."""


class SumOverBatchSizeMetricWrapper(_OfFunction, SumOverBatchSize):
    """The sum of a function over the number of its values; it gets the further arguments."""


class MeanTensor(Metric):
    """The (weighted) mean of tensors of one shape, element by element."""

    def __init__(self, name: str | None = "mean_tensor", dtype: Any = None):
        super().__init__(name=name, dtype=dtype)
        self._total: Any = None
        self._count: Any = None

    @property
    def total(self) -> Any:
        return self._total

    @property
    def count(self) -> Any:
        return self._count

    def update_state(self, values: Any, sample_weight: Any = None) -> Any:
        values = tf.cast(values, self.dtype)
        if self._total is None:
            self._total = self.add_weight("total", shape=values.shape, initializer="zeros")
            self._count = self.add_weight("count", shape=values.shape, initializer="zeros")
        elif values.shape.as_list() != self._total.shape.as_list():
            raise ValueError(
                f"MeanTensor input values must always have the same shape. Expected shape (set "
                f"during the first call): {self._total.shape}. Got: {values.shape}"
            )
        counts = tf.ones_like(values)
        if sample_weight is not None:
            weights = matched_weights(values, tf.cast(sample_weight, self.dtype))
            counts = tf.broadcast_to(weights, tf.shape(values))
            values = values * counts
        update = self._total.assign_add(values)
        with tf.control_dependencies([update]):
            return self._count.assign_add(counts)

    def result(self) -> Any:
        if self._total is None:
            raise ValueError(
                "MeanTensor does not have any result yet. Please call the MeanTensor instance or "
                "use `.update_state(value)` before retrieving the result."
            )
        return tf.div_no_nan(self._total, self._count)


def squeezed(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Labels and predictions of one rank, where one has a last axis of size 1 more."""
    true_rank, pred_rank = y_true.shape.ndims, y_pred.shape.ndims
    if None not in (true_rank, pred_rank):
        if true_rank == pred_rank + 1 and y_true.shape.as_list()[-1] == 1:
            y_true = tf.squeeze(y_true, [-1])
        elif pred_rank == true_rank + 1 and y_pred.shape.as_list()[-1] == 1:
            y_pred = tf.squeeze(y_pred, [-1])
    return y_true, y_pred


def clone_metric(metric: Any) -> Any:
    """An equal metric with variables of its own; a function stays as it is."""
    return type(metric).from_config(metric.get_config()) if isinstance(metric, Metric) else metric


def clone_metrics(metrics: Any) -> Any:
    """Clones of the metrics of a list or dictionary."""
    if isinstance(metrics, dict):
        return {key: clone_metric(value) for key, value in metrics.items()}
    return None if metrics is None else [clone_metric(metric) for metric in metrics]
