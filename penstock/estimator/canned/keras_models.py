"""Linear models and networks as Keras builds them: variables are named by the scopes of names."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import penstock as tf
from penstock.estimator.canned.logits import add_layer_summary, compute_fraction_of_zeros
from penstock.estimator.mode_keys import ModeKeys
from penstock.feature_column.columns import is_feature_column_v2
from penstock.feature_column.linear_model import LinearModel
from penstock.feature_column.scoped_features import DenseFeatures


def _check_columns(feature_columns: Any) -> None:
    if not is_feature_column_v2(feature_columns):
        raise ValueError(
            "Received a feature column from TensorFlow v1, but this is a TensorFlow v2 Estimator. "
            "Please either use v2 feature columns (accessible via tf.feature_column.* in TF 2.x) "
            "with this Estimator, or switch to a v1 Estimator for use with v1 feature columns "
            "(accessible via tf.compat.v1.estimator.* and tf.compat.v1.feature_column.*, "
            "respectively."
        )


def _scope_name(scope: str) -> str:
    """A scope's name, unlike others', as the name of a layer."""
    with tf.name_scope(scope) as opened:
        name: str = opened
    return name.removesuffix("/")


@cache
def _network_class() -> type[Any]:
    """The class of networks; Keras is imported when the first one is made."""

    class Network(tf.keras.Model):
        """Dense layers on feature columns, with logits at the end."""

        def __init__(
            self,
            units: int,
            hidden_units: Any,
            feature_columns: Any,
            activation_fn: Any,
            dropout: float | None,
            batch_norm: bool,
            name: str | None = None,
            **kwargs: Any,
        ):
            super().__init__(name=name, **kwargs)
            _check_columns(feature_columns)
            name = _scope_name("input_from_feature_columns")
            self._input_layer = DenseFeatures(feature_columns, name=f"{name}/input_layer")
            self._hidden_layers: list[Any] = []
            self._dropout_layers: list[Any] = []
            self._batch_norm_layers: list[Any] = []
            layers = tf.keras.layers
            for number, size in enumerate(hidden_units):
                name = _scope_name(f"hiddenlayer_{number}")
                self._hidden_layers.append(_dense(size, activation_fn, name))
                if dropout is not None:
                    self._dropout_layers.append(layers.Dropout(rate=dropout))
                if batch_norm:
                    name = f"{name}/batchnorm_{number}"
                    made = layers.BatchNormalization(momentum=0.999, trainable=True, name=name)
                    self._batch_norm_layers.append(made)
            self._logits_layer = _dense(units, None, _scope_name("logits"))

        def call(self, features: Any, mode: str) -> Any:  # type: ignore[override] # as TensorFlow
            is_training = mode == ModeKeys.TRAIN
            net = self._input_layer(features)
            for number, hidden in enumerate(self._hidden_layers):
                net = hidden(net)
                if self._dropout_layers and is_training:
                    net = self._dropout_layers[number](net, training=True)
                if self._batch_norm_layers:
                    net = self._batch_norm_layers[number](net, training=is_training)
                add_layer_summary(net, hidden.name)
            logits = self._logits_layer(net)
            add_layer_summary(logits, self._logits_layer.name)
            return logits

    return Network


def _dense(units: int, activation: Any, name: str) -> Any:
    return tf.keras.layers.Dense(
        units=units,
        activation=activation,
        kernel_initializer=tf.glorot_uniform_initializer(),
        name=name,
    )


def network(
    units: int,
    hidden_units: Any,
    feature_columns: Any,
    activation_fn: Any,
    dropout: float | None,
    batch_norm: bool,
    name: str | None = None,
    **kwargs: Any,
) -> Any:
    """Dense layers on feature columns, with logits at the end, as a Keras model of name and mode.

    Args:
      units: the size of the logits.
      hidden_units: the sizes of hidden layers.
      feature_columns: what the first layer takes.
      activation_fn: applied to hidden layers.
      dropout: the probability of dropping a value of a hidden layer; None for not dropping.
      batch_norm: whether to normalize after each hidden layer.
    """
    return _network_class()(
        units,
        hidden_units,
        feature_columns,
        activation_fn,
        dropout,
        batch_norm,
        name=name,
        **kwargs,
    )


def _check_units(units: Any) -> None:
    if not isinstance(units, int):
        raise ValueError(f"units must be an int.  Given type: {type(units)}")


def dnn_logit_fn_builder_v2(
    units: int,
    hidden_units: Any,
    feature_columns: Any,
    activation_fn: Any,
    dropout: float | None,
    batch_norm: bool,
) -> Callable[..., Any]:
    """A function of features and mode that gives the logits of a network; see `network`."""
    _check_units(units)

    def dnn_logit_fn(features: Any, mode: str) -> Any:
        model = network(
            units, hidden_units, feature_columns, activation_fn, dropout, batch_norm, name="dnn"
        )
        return model(features, mode)

    return dnn_logit_fn


def dnn_logits(
    units: int,
    hidden_units: Any,
    feature_columns: Any,
    activation_fn: Any,
    dropout: float | None,
    batch_norm: bool,
    features: Any,
    mode: str,
) -> tuple[Any, list[Any], list[Any]]:
    """The logits of a network, its trainable variables, and what to run with a training step."""
    _check_units(units)
    model = network(
        units, hidden_units, feature_columns, activation_fn, dropout, batch_norm, name="dnn"
    )
    return model(features, mode), model.trainable_variables, model.updates


def linear_logit_fn_builder_v2(
    units: int, feature_columns: Any, sparse_combiner: str = "sum"
) -> Callable[..., Any]:
    """A function of features that gives the logits of a linear model."""

    def linear_logit_fn(features: Any) -> Any:
        return _linear(units, feature_columns, sparse_combiner, features, "linear_model")[0]

    return linear_logit_fn


def linear_logits(
    units: int, feature_columns: Any, sparse_combiner: str = "sum", features: Any = None
) -> tuple[Any, list[Any]]:
    """The logits of a linear model, and its variables."""
    logits, model = _linear(
        units, feature_columns, sparse_combiner, features, "linear/linear_model"
    )
    return logits, model.variables


def _linear(
    units: int, feature_columns: Any, sparse_combiner: str, features: Any, name: str
) -> tuple[Any, Any]:
    _check_columns(feature_columns)
    model = LinearModel(
        feature_columns=feature_columns, units=units, sparse_combiner=sparse_combiner, name=name
    )
    logits = model(features)
    weights = [variable for variable in model.variables if variable is not model.bias]
    if units > 1:
        tf.summary.histogram("bias", model.bias)
    else:
        tf.summary.scalar("bias", model.bias[0])
    tf.summary.scalar("fraction_of_zero_weights", compute_fraction_of_zeros(weights))
    return logits, model
