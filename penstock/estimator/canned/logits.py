"""The logits of linear models and of networks, as functions of features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock import nest
from penstock.estimator.mode_keys import ModeKeys
from penstock.feature_column.columns import is_feature_column_v2
from penstock.feature_column.feature_layers import DenseFeatures
from penstock.feature_column.input_layer import InputLayer
from penstock.feature_column.linear_model import LinearModel, _LinearModel
from penstock.ops.partitioned_variables import PartitionedVariable


def check_features(features: Any) -> None:
    """ValueError unless features are by name."""
    if not isinstance(features, dict):
        raise ValueError(
            f"features should be a dictionary of `Tensor`s. Given type: {type(features)}"
        )


def add_layer_summary(value: Any, tag: str) -> None:
    """How many of a layer's values are zero, and how they are distributed."""
    tf.summary.scalar(f"{tag}/fraction_of_zero_values", tf.nn.zero_fraction(value))
    tf.summary.histogram(f"{tag}/activation", value)


# Networks ----------------------------------------------------------------------------------------


def dnn_logit_fn_builder(
    units: int,
    hidden_units: Any,
    feature_columns: Any,
    activation_fn: Any,
    dropout: float | None,
    input_layer_partitioner: Any,
    batch_norm: bool,
) -> Callable[..., Any]:
    """A function of features and mode that gives the logits of a network of dense layers.

    Args:
      units: the size of the logits.
      hidden_units: the sizes of hidden layers.
      feature_columns: what the first layer takes.
      activation_fn: applied to hidden layers.
      dropout: the probability of dropping a value of a hidden layer; None for not dropping.
      input_layer_partitioner: how variables of the columns are divided.
      batch_norm: whether to normalize after each hidden layer.
    """
    if not isinstance(units, int):
        raise ValueError(f"units must be an int.  Given type: {type(units)}")

    def dnn_logit_fn(features: Any, mode: str) -> Any:
        inputs = _input_layer(feature_columns)
        hidden = [
            _HiddenLayer(number, size, activation_fn, dropout, batch_norm)
            for number, size in enumerate(hidden_units)
        ]
        with tf.variable_scope("logits") as scope:
            last = tf.layers.Dense(
                units,
                kernel_initializer=tf.glorot_uniform_initializer(),
                name=scope,
                _scope=scope,
            )
            last._use_resource_variables = True
        with tf.variable_scope("input_from_feature_columns", partitioner=input_layer_partitioner):
            net = inputs(features)
        for layer in hidden:
            net = layer(net, mode == ModeKeys.TRAIN)
        logits = last(net)
        add_layer_summary(logits, scope.name)
        return logits

    return dnn_logit_fn


def _input_layer(feature_columns: Any) -> Any:
    if is_feature_column_v2(feature_columns):
        return DenseFeatures(feature_columns, name="input_layer")
    return InputLayer(feature_columns, name="input_layer", create_scope_now=False)


class _HiddenLayer:
    """A dense layer, and what comes after it."""

    def __init__(self, number: int, size: int, activation_fn: Any, dropout: Any, batch_norm: bool):
        with tf.variable_scope(f"hiddenlayer_{number}") as scope:
            self._scope_name = scope.name
            self._dense = tf.layers.Dense(
                size,
                activation=activation_fn,
                kernel_initializer=tf.glorot_uniform_initializer(),
                name=scope,
                _scope=scope,
            )
            self._dropout = None if dropout is None else tf.layers.Dropout(rate=dropout)
            name = f"batchnorm_{number}"
            self._batch_norm = (
                tf.layers.BatchNormalization(momentum=0.999, trainable=True, name=name, _scope=name)
                if batch_norm
                else None
            )
        for layer in (self._dense, self._batch_norm):
            if layer is not None:
                layer._use_resource_variables = True

    def __call__(self, net: Any, is_training: bool) -> Any:
        net = self._dense(net)
        if self._dropout is not None and is_training:
            net = self._dropout(net, training=True)
        if self._batch_norm is not None:
            net = self._batch_norm(net, training=is_training)
        add_layer_summary(net, self._scope_name)
        return net


# Linear models -----------------------------------------------------------------------------------


def linear_logit_fn_builder(
    units: int, feature_columns: Any, sparse_combiner: str = "sum"
) -> Callable[..., Any]:
    """A function of features that gives the logits of a linear model.

    Args:
      units: the size of the logits.
      feature_columns: what is summed up.
      sparse_combiner: how an example's several categories count: "mean", "sqrtn" or "sum".
    """

    def linear_logit_fn(features: Any) -> Any:
        newer = is_feature_column_v2(feature_columns)
        make: Any = LinearModel if newer else _LinearModel
        model = make(
            feature_columns=feature_columns,
            units=units,
            sparse_combiner=sparse_combiner,
            name="linear_model",
        )
        logits = model(features)
        biases, weights = _parameters(model, newer)
        if units > 1:
            tf.summary.histogram("bias", biases)
        else:
            tf.summary.scalar("bias", biases[0][0])
        tf.summary.scalar("fraction_of_zero_weights", compute_fraction_of_zeros(weights))
        return logits

    return linear_logit_fn


def _parameters(model: Any, newer: bool) -> tuple[list[Any], list[Any]]:
    """The parts of the bias, and of all weights."""
    if newer:
        biases = parts_of([model.bias])
        known = {id(bias) for bias in biases}
        return biases, [part for part in parts_of(model.variables) if id(part) not in known]
    by_column = dict(model.cols_to_vars())
    biases = by_column.pop("bias")
    return biases, parts_of([variable for found in by_column.values() for variable in found])


def parts_of(variables: Any) -> list[Any]:
    """Variables, and of those that are partitioned their parts."""
    parts: list[Any] = []
    for variable in variables:
        parts += list(variable) if isinstance(variable, PartitionedVariable) else [variable]
    return parts


def compute_fraction_of_zeros(variables: Any) -> Any:
    """Which part of all values of variables, or of lists of them, is zero."""
    variables = nest.flatten(variables)
    with tf.name_scope("zero_fraction"):
        with tf.name_scope("total_size"):
            sizes = [tf.size(variable, out_type=tf.int64) for variable in variables]
            total = tf.add_n(sizes)
        with tf.name_scope("total_zero"):
            zeros = tf.add_n(
                [_zero_count(v, size) for v, size in zip(variables, sizes, strict=True)]
            )
        with tf.name_scope("compute"):
            fraction = zeros / tf.cast(total, tf.float32, name="float32_size")
        return tf.identity(fraction, name="zero_fraction_or_nan")


def _zero_count(variable: Any, size: Any) -> Any:
    return tf.cond(
        tf.equal(size, tf.constant(0, dtype=tf.int64)),
        true_fn=lambda: tf.constant(0, dtype=tf.float32),
        false_fn=lambda: tf.nn.zero_fraction(variable) * tf.cast(size, tf.float32),
        name="zero_count",
    )


def call_logit_fn(logit_fn: Any, features: Any, mode: str, params: Any, config: Any) -> Any:
    """Calls a function for logits with the arguments that it names; checks what it returns."""
    from penstock.estimator.argument_names import call_with_named

    found = call_with_named(logit_fn, features=features, mode=mode, params=params, config=config)
    by_name = isinstance(found, dict) and all(
        isinstance(key, str) and isinstance(value, tf.Tensor) for key, value in found.items()
    )
    if not by_name and not isinstance(found, tf.Tensor):
        raise ValueError(
            "logit_fn should return a Tensor or a dictionary mapping strings to Tensors.  "
            f"logit_fn returned: {found}"
        )
    return found
