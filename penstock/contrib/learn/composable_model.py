"""Linear models and networks as parts of a larger model, each with its own training step."""

from __future__ import annotations

import math
import re
from typing import Any

import penstock as tf
from penstock.contrib import layers
from penstock.contrib.layers.columns import check_feature_columns

__all__ = ["DNNComposableModel", "LinearComposableModel"]

_SLICE = 64 << 20


class _ComposableModel:
    """A part of a model: its variables are in the collection of its scope's name."""

    _default_optimizer: str

    def __init__(
        self,
        num_label_columns: int,
        optimizer: Any,
        gradient_clip_norm: float | None,
        num_ps_replicas: int,
        scope: str,
        trainable: bool = True,
    ):
        self._num_label_columns = num_label_columns
        self._optimizer = optimizer
        self._gradient_clip_norm = gradient_clip_norm
        self._num_ps_replicas = num_ps_replicas
        self._scope = scope
        self._trainable = trainable
        self._feature_columns: Any = None

    def get_scope_name(self) -> str:
        """The name of the scope, and of the collection of variables."""
        return self._scope

    def build_model(self, features: Any, feature_columns: Any, is_training: bool) -> Any:
        """The logits."""
        raise NotImplementedError

    def get_train_step(self, loss: Any) -> list[Any]:
        """The operations that train the variables of this part."""
        variables = self._get_vars()
        if not (self._get_feature_columns() or variables):
            return []
        gradients = tf.gradients(loss, variables)
        if self._gradient_clip_norm:
            gradients, _ = tf.clip_by_global_norm(gradients, self._gradient_clip_norm)
        return [self._get_optimizer().apply_gradients(zip(gradients, variables, strict=True))]

    def _get_feature_columns(self) -> list[Any] | None:
        if not self._feature_columns:
            return None
        check_feature_columns(self._feature_columns)
        return sorted(set(self._feature_columns), key=lambda column: column.key)

    def _get_vars(self) -> list[Any]:
        return tf.get_collection(self._scope) if self._get_feature_columns() else []

    def _get_optimizer(self) -> Any:
        if self._optimizer is None or isinstance(self._optimizer, str):
            name = self._optimizer or self._default_optimizer
            return layers.OPTIMIZER_CLS_NAMES[name](learning_rate=self._learning_rate())
        return self._optimizer() if callable(self._optimizer) else self._optimizer

    def _learning_rate(self) -> float:
        raise NotImplementedError

    def _partitioner(self, **sizes: int) -> Any:
        return tf.min_max_variable_partitioner(max_partitions=self._num_ps_replicas, **sizes)


class LinearComposableModel(_ComposableModel):
    """A linear model.

    Args:
      num_label_columns: how many logits there are.
      optimizer: an optimizer, its name, or a function that makes one; Ftrl by default.
      num_ps_replicas: how many parts large variables are cut into.
    """

    _default_optimizer = "Ftrl"

    def __init__(
        self,
        num_label_columns: int,
        optimizer: Any = None,
        _joint_weights: bool = False,
        gradient_clip_norm: float | None = None,
        num_ps_replicas: int = 0,
        scope: str | None = None,
        trainable: bool = True,
    ):
        super().__init__(
            num_label_columns,
            optimizer,
            gradient_clip_norm,
            num_ps_replicas,
            scope or "linear",
            trainable,
        )
        self._joint_weights = _joint_weights

    def get_weights(self, model_dir: Any) -> Any:
        """The weights in the latest checkpoint: by name, or the only one."""
        of_optimizer = re.compile(rf".*/{self._get_optimizer().get_name()}(_\d)?$")
        found = {
            name: tf.contrib.framework.load_variable(model_dir, name)
            for name, _ in tf.contrib.framework.list_variables(model_dir)
            if name.startswith(f"{self._scope}/")
            and name != f"{self._scope}/bias_weight"
            and not of_optimizer.match(name)
        }
        return next(iter(found.values())) if len(found) == 1 else found

    def get_bias(self, model_dir: Any) -> Any:
        """The bias in the latest checkpoint."""
        return tf.contrib.framework.load_variable(model_dir, f"{self._scope}/bias_weight")

    def build_model(self, features: Any, feature_columns: Any, is_training: bool) -> Any:
        """The logits: a weighted sum of the columns."""
        self._feature_columns = feature_columns
        model: Any = layers.weighted_sum_from_feature_columns
        if self._joint_weights:
            model = layers.joint_weighted_sum_from_feature_columns
        with tf.variable_scope(
            self._scope,
            values=features.values(),
            partitioner=self._partitioner(min_slice_size=_SLICE),
        ) as scope:
            logits, _, _ = model(
                columns_to_tensors=features,
                feature_columns=self._get_feature_columns(),
                num_outputs=self._num_label_columns,
                weight_collections=[self._scope],
                trainable=self._trainable,
                scope=scope,
            )
        return logits

    def _learning_rate(self) -> float:
        return min(0.2, 1.0 / math.sqrt(len(self._get_feature_columns() or ())))


class DNNComposableModel(_ComposableModel):
    """A network of dense layers; see `LinearComposableModel`.

    Args:
      hidden_units: the sizes of the layers.
      dropout: the share of units that are left out in training.
    """

    _default_optimizer = "Adagrad"

    def __init__(
        self,
        num_label_columns: int,
        hidden_units: Any,
        optimizer: Any = None,
        activation_fn: Any = tf.nn.relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        num_ps_replicas: int = 0,
        scope: str | None = None,
        trainable: bool = True,
    ):
        super().__init__(
            num_label_columns,
            optimizer,
            gradient_clip_norm,
            num_ps_replicas,
            scope or "dnn",
            trainable,
        )
        self._hidden_units = hidden_units
        self._activation_fn = activation_fn
        self._dropout = dropout

    def get_weights(self, model_dir: Any) -> list[Any]:
        """The weights of the layers in the latest checkpoint."""
        return self._of_layers(model_dir, "weights")

    def get_bias(self, model_dir: Any) -> list[Any]:
        """The biases of the layers in the latest checkpoint."""
        return self._of_layers(model_dir, "biases")

    def _of_layers(self, model_dir: Any, kind: str) -> list[Any]:
        names = [*(f"hiddenlayer_{i}" for i in range(len(self._hidden_units))), "logits"]
        return [
            tf.contrib.framework.load_variable(model_dir, f"{self._scope}/{name}/{kind}")
            for name in names
        ]

    def build_model(self, features: Any, feature_columns: Any, is_training: bool) -> Any:
        """The logits: what the layers make of the columns."""
        self._feature_columns = feature_columns
        with tf.variable_scope(
            f"{self._scope}/input_from_feature_columns",
            values=features.values(),
            partitioner=self._partitioner(min_slice_size=_SLICE),
        ) as scope:
            net = layers.input_from_feature_columns(
                features,
                self._get_feature_columns(),
                weight_collections=[self._scope],
                trainable=self._trainable,
                scope=scope,
            )
        for place, units in enumerate(self._hidden_units):
            with self._layer(f"hiddenlayer_{place}", net) as scope:
                net = self._dense(net, units, self._activation_fn, scope)
                if self._dropout is not None and is_training:
                    net = layers.dropout(net, keep_prob=1.0 - self._dropout)
            _summarize(net, scope.name)
        with self._layer("logits", net) as scope:
            logits = self._dense(net, self._num_label_columns, None, scope)
        _summarize(logits, "logits")
        return logits

    def _layer(self, name: str, net: Any) -> Any:
        return tf.variable_scope(
            f"{self._scope}/{name}", values=[net], partitioner=self._partitioner()
        )

    def _dense(self, net: Any, units: int, activation_fn: Any, scope: Any) -> Any:
        return layers.fully_connected(
            net,
            units,
            activation_fn=activation_fn,
            variables_collections=[self._scope],
            trainable=self._trainable,
            scope=scope,
        )

    def _learning_rate(self) -> float:
        return 0.05


def _summarize(value: Any, tag: str) -> None:
    tf.summary.scalar(f"{tag}/fraction_of_zero_values", tf.nn.zero_fraction(value))
    tf.summary.histogram(f"{tag}/activation", value)
