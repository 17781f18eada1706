"""`tf.contrib.eager.metrics`: metrics that are objects; in a graph they give update operations."""

from __future__ import annotations

import re
from typing import Any

import penstock as tf
from penstock.ir.trackable import Trackable

__all__ = [
    "Accuracy",
    "BinaryAccuracy",
    "CategoricalAccuracy",
    "Mean",
    "Metric",
    "SparseAccuracy",
]


class Metric(Trackable):
    """A value that is put together from many batches.

    A subclass makes variables in `build` with `add_variable`, changes them in `call`, and computes
    its value in `result`. Calling it gives tensors that run the updates of `call` in a session.

    Args:
      name: by default the class' name.
      use_global_variables: whether the variables are global ones, not local.
    """

    def __init__(self, name: str | None = None, use_global_variables: bool = False):
        self._built = False
        self._vars: list[Any] = []
        self._use_global_variables = use_global_variables
        name = name or type(self).__name__
        scope_name = re.sub("[^A-Za-z0-9.]", "_", name)
        with tf.variable_scope(scope_name, use_resource=True, reuse=False) as scope:
            end = scope.name.rfind(scope_name) + len(scope_name)
            self._name = name + scope.name[end:]
            self._scope = scope
        self._updating: Any = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The tensors that `call` returns, which wait for its updates."""
        if not self._built:
            with tf.variable_scope(self._scope):
                self.build(*args, **kwargs)
            self._built = True
        if tf.executing_eagerly():
            return self.call(*args, **kwargs)
        if self._updating is None:
            self._updating = tf.function(self.call)
        return self._updating(*args, **kwargs)

    @property
    def name(self) -> str:
        return self._name

    @property
    def variables(self) -> list[Any]:
        return self._vars

    def init_variables(self) -> Any:
        """An operation that sets the variables back; in eager mode they are set at once."""
        if tf.executing_eagerly():
            for variable in self._vars:
                variable.assign(tf.zeros_like(variable))
            return None
        return tf.group([variable.initializer for variable in self._vars])

    def build(self, *args: Any, **kwargs: Any) -> None:
        """Makes the variables; it gets the arguments of the first call."""
        raise NotImplementedError("Metrics must define a build() member function")

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Adds a batch to the variables; all of its operations run, in order."""
        raise NotImplementedError("Metrics must define a call() member function")

    def result(self) -> Any:
        """The value so far."""
        raise NotImplementedError("Metrics must define a result() member function")

    def value(self) -> Any:
        """The value so far, as a tensor; in eager mode a function that gives it."""
        return self.result if tf.executing_eagerly() else self.result()

    def aggregate(self, metrics: Any) -> Any:
        """An operation that adds the variables of other metrics of this kind."""
        for metric in metrics:
            if type(self) is not type(metric):
                raise TypeError(
                    f"All metrics must be the same type, '{type(self)}' != '{type(metric)}'."
                )
        updates = []
        for index, variable in enumerate(self._vars):
            others = [metric._vars[index] for metric in metrics]
            if any(other.name != variable.name for other in others):
                raise ValueError("All metrics must have variables in the same order.")
            updates.append(variable.assign_add(tf.add_n(others)))
        return tf.group(updates)

    def add_variable(
        self, name: str, shape: Any = None, dtype: Any = None, initializer: Any = None
    ) -> Any:
        """Makes a variable; for `build` alone."""
        if self._built:
            raise RuntimeError("Can't call add_variable() except in build().")
        keys = tf.GraphKeys
        kind = keys.GLOBAL_VARIABLES if self._use_global_variables else keys.LOCAL_VARIABLES
        variable = self._add_variable_with_custom_getter(
            name=name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            trainable=False,
            collections=[kind, keys.METRIC_VARIABLES],
            use_resource=True,
            getter=tf.get_variable,
            overwrite=True,
        )
        self._vars.append(variable)
        return variable


class Mean(Metric):
    """The weighted mean of values."""

    def __init__(
        self, name: str | None = None, dtype: Any = tf.float64, use_global_variables: bool = False
    ):
        super().__init__(name=name, use_global_variables=use_global_variables)
        self.dtype = dtype

    def build(self, *args: Any, **kwargs: Any) -> None:
        zeros = tf.zeros_initializer
        self.numer = self.add_variable("numer", shape=(), dtype=self.dtype, initializer=zeros)
        self.denom = self.add_variable("denom", shape=(), dtype=self.dtype, initializer=zeros)

    def call(self, values: Any, weights: Any = None) -> Any:
        added = self._add(values, weights)
        return added if weights is None else (added, weights)

    def _add(self, values: Any, weights: Any) -> Any:
        """Adds values; returns what was added of them: their sum, or each times its weight."""
        if weights is None:
            self.denom.assign_add(tf.cast(tf.size(values), self.dtype))
            values = tf.reduce_sum(values)
            self.numer.assign_add(tf.cast(values, self.dtype))
        else:
            weights = tf.cast(weights, self.dtype)
            self.denom.assign_add(tf.reduce_sum(weights))
            values = tf.cast(values, self.dtype) * weights
            self.numer.assign_add(tf.reduce_sum(values))
        return values

    def result(self, write_summary: Any = True) -> Any:
        """The mean.

        Args:
          write_summary: whether to write it to the default writer of `tf.contrib.summary`.
        """
        mean = self.numer / self.denom
        if write_summary is True:
            from penstock.contrib import summary

            summary.scalar(name=self.name, tensor=mean)
        return mean


class _Matches(Mean):
    """How often predictions match the labels."""

    def __init__(self, name: str | None = None, dtype: Any = tf.float64):
        super().__init__(name=name, dtype=dtype)

    def _matching(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        """Labels and predictions as they are compared."""
        raise NotImplementedError

    def call(  # type: ignore[override] # labels and predictions make the values
        self, labels: Any, predictions: Any, weights: Any = None
    ) -> Any:
        labels, predictions = self._matching(
            tf.convert_to_tensor(labels), tf.convert_to_tensor(predictions)
        )
        self._add(tf.cast(tf.equal(labels, predictions), self.dtype), weights)
        return (labels, predictions) if weights is None else (labels, predictions, weights)


def _require_equal_shapes(labels: Any, predictions: Any) -> None:
    tf.assert_equal(
        tf.shape(labels),
        tf.shape(predictions),
        message="Shapes of labels and predictions are unequal",
    )


class Accuracy(_Matches):
    """How often predictions are the labels."""

    def _matching(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        _require_equal_shapes(labels, predictions)
        return labels, predictions


class CategoricalAccuracy(_Matches):
    """How often the largest prediction is at the one of a one-hot label."""

    def _matching(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        _require_equal_shapes(labels, predictions)
        return tf.argmax(labels, axis=-1), tf.argmax(predictions, axis=-1)


class BinaryAccuracy(_Matches):
    """How often predictions are on the right side of a threshold."""

    def __init__(self, threshold: float, name: str | None = None, dtype: Any = tf.float64):
        super().__init__(name=name, dtype=dtype)
        self.threshold = threshold

    def _matching(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        _require_equal_shapes(labels, predictions)
        return tf.cast(labels, tf.bool), predictions > self.threshold


class SparseAccuracy(_Matches):
    """How often the largest prediction is at the label's number."""

    def _matching(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        tf.assert_equal(
            tf.shape(labels),
            tf.shape(predictions)[0],
            message="First axis of labels and predictions is unequal",
        )
        return labels, tf.cast(tf.argmax(predictions, axis=-1), labels.dtype)
