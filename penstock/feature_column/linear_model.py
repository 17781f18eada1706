"""`tf.feature_column.linear_model` and `LinearModel`: a weighted sum of features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import penstock as tf
from penstock.feature_column.columns import (
    CategoricalColumn,
    DenseColumn,
    _CategoricalColumn,
    _DenseColumn,
    _FeatureColumn,
    by_name,
    check_batch_sizes,
    normalized,
)
from penstock.feature_column.feature_layers import LayerState, check_features, scope_of
from penstock.feature_column.input_layer import weight_collections_of
from penstock.feature_column.serialization import (
    deserialize_feature_columns,
    serialize_feature_columns,
)
from penstock.feature_column.transformation import FeatureTransformationCache, _LazyBuilder
from penstock.layers.base import Layer
from penstock.layers.core_layer import CoreLayer
from penstock.ops.partitioned_variables import PartitionedVariable


def _dense_weighted_sum(tensor: Any, elements: int, weights: Any) -> Any:
    flat = tf.reshape(tensor, shape=(tf.shape(tensor)[0], elements))
    return tf.matmul(flat, weights, name="weighted_sum")


def _categorical_weighted_sum(pair: Any, weights: Any, sparse_combiner: str) -> Any:
    def by_example(tensor: Any) -> Any:
        return tf.sparse_reshape(tensor, [tf.shape(tensor)[0], -1])

    ids = by_example(pair.id_tensor)
    of_ids = None if pair.weight_tensor is None else by_example(pair.weight_tensor)
    return tf.nn.safe_embedding_lookup_sparse(
        weights, ids, sparse_weights=of_ids, combiner=sparse_combiner, name="weighted_sum"
    )


# The newer protocol ------------------------------------------------------------------------------


class _LinearModelLayer(CoreLayer):
    def __init__(
        self,
        feature_columns: Any,
        units: int = 1,
        sparse_combiner: str = "sum",
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(name=name, trainable=trainable, **kwargs)
        self._feature_columns = by_name(normalized(feature_columns))
        for column in self._feature_columns:
            if not isinstance(column, DenseColumn | CategoricalColumn):
                raise ValueError(
                    "Items of feature_columns must be either a DenseColumn or CategoricalColumn. "
                    f"Given: {column}"
                )
        self._units = units
        self._sparse_combiner = sparse_combiner
        self._state_manager = LayerState(self, self.trainable)
        self.bias: Any = None

    def build(self, input_shape: Any) -> None:
        with scope_of(self.name):
            for column in self._feature_columns:
                with scope_of(column.name):
                    column.create_state(self._state_manager)
                    self._state_manager.create_variable(
                        column,
                        name="weights",
                        dtype=tf.float32,
                        shape=(_inputs_of(column), self._units),
                        initializer=tf.zeros_initializer(),
                        trainable=self.trainable,
                    )
            self.bias = self.add_weight(
                name="bias_weights",
                dtype=tf.float32,
                shape=[self._units],
                initializer=tf.zeros_initializer(),
                trainable=self.trainable,
                use_resource=True,
                getter=tf.get_variable,
            )
        super().build(None)

    def call(self, features: Any) -> Any:
        check_features(features)
        with tf.name_scope(self.name):
            cache = FeatureTransformationCache(features)
            sums = []
            for column in self._feature_columns:
                with tf.name_scope(column.name):
                    sums.append(self._weighted_sum(column, cache))
            check_batch_sizes(sums, self._feature_columns)
            without_bias = tf.add_n(sums, name="weighted_sum_no_bias")
            return tf.nn.bias_add(without_bias, self.bias, name="weighted_sum")

    def _weighted_sum(self, column: Any, cache: Any) -> Any:
        state = self._state_manager
        weights = state.get_variable(column, "weights")
        if isinstance(column, CategoricalColumn):
            pair = column.get_sparse_tensors(cache, state)
            return _categorical_weighted_sum(pair, weights, self._sparse_combiner)
        tensor = column.get_dense_tensor(cache, state)
        return _dense_weighted_sum(tensor, column.variable_shape.num_elements(), weights)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "feature_columns": serialize_feature_columns(self._feature_columns),
            "units": self._units,
            "sparse_combiner": self._sparse_combiner,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        columns = deserialize_feature_columns(config["feature_columns"], custom_objects)
        return cls(**{**config, "feature_columns": columns})


def _inputs_of(column: Any) -> int:
    if isinstance(column, CategoricalColumn):
        return column.num_buckets
    return int(column.variable_shape.num_elements())


class LinearModel(CoreLayer):
    """A weighted sum of features and a bias, as a layer.

    Args:
      feature_columns: dense or categorical columns.
      units: how many sums there are.
      sparse_combiner: how an example's several categories count: "mean", "sqrtn" or "sum".
      trainable: whether the weights are trained.
    """

    def __init__(
        self,
        feature_columns: Any,
        units: int = 1,
        sparse_combiner: str = "sum",
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(name=name, **kwargs)
        self.layer = _LinearModelLayer(
            feature_columns, units, sparse_combiner, trainable, name=self.name, **kwargs
        )
        self._layers.append(self.layer)

    def call(self, features: Any) -> Any:
        return self.layer(features)

    @property
    def bias(self) -> Any:
        """The bias of the sums, once the model was called."""
        return self.layer.bias


# The older protocol ------------------------------------------------------------------------------


def _add_to_collections(variable: Any, collections: list[str]) -> None:
    """Adds a variable, or its parts, to collections that it isn't in by itself."""
    for collection in collections:
        if collection != tf.GraphKeys.GLOBAL_VARIABLES:
            for part in _parts(variable):
                tf.add_to_collection(collection, part)


def _parts(variable: Any) -> list[Any]:
    return list(variable) if isinstance(variable, PartitionedVariable) else [variable]


class _ColumnLayer(Layer):
    """The weighted sum of one column."""

    def __init__(
        self,
        feature_column: Any,
        units: int,
        sparse_combiner: str,
        weight_collections: list[str],
        trainable: bool,
        name: str,
    ):
        super().__init__(trainable=trainable, name=name)
        self._feature_column = feature_column
        self._units = units
        self._sparse_combiner = sparse_combiner
        self._weight_collections = weight_collections

    def build(self, input_shape: Any) -> None:
        column = self._feature_column
        is_categorical = isinstance(column, _CategoricalColumn)
        rows = column._num_buckets if is_categorical else column._variable_shape.num_elements()
        self._weights = self.add_weight(
            name="weights",
            shape=[rows, self._units],
            initializer=tf.zeros_initializer(),
            trainable=self.trainable,
            use_resource=True,
        )
        _add_to_collections(self._weights, self._weight_collections)
        self.built = True

    def call(self, builder: Any) -> Any:
        column = self._feature_column
        arguments = {"weight_collections": self._weight_collections, "trainable": self.trainable}
        if isinstance(column, _CategoricalColumn):
            pair = column._get_sparse_tensors(builder, **arguments)
            return _categorical_weighted_sum(pair, self._weights, self._sparse_combiner)
        tensor = column._get_dense_tensor(builder, **arguments)
        return _dense_weighted_sum(tensor, column._variable_shape.num_elements(), self._weights)


class _BiasLayer(Layer):
    def __init__(self, units: int, trainable: bool, weight_collections: list[str], name: str):
        super().__init__(trainable=trainable, name=name)
        self._units = units
        self._weight_collections = weight_collections

    def build(self, input_shape: Any) -> None:
        self._bias = self.add_weight(
            "bias_weights",
            shape=[self._units],
            initializer=tf.zeros_initializer(),
            trainable=self.trainable,
            use_resource=True,
        )
        _add_to_collections(self._bias, self._weight_collections)
        self.built = True

    def call(self, inputs: Any) -> Any:
        return self._bias


class _LinearModel(CoreLayer):
    """`linear_model` as an object that makes its variables once."""

    def __init__(
        self,
        feature_columns: Any,
        units: int = 1,
        sparse_combiner: str = "sum",
        weight_collections: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(name=name, **kwargs)
        self._feature_columns = normalized(feature_columns, _FeatureColumn)
        collections = weight_collections_of(weight_collections)
        for column in by_name(self._feature_columns):
            with tf.variable_scope(None, default_name=column._var_scope_name) as opened:
                name = _last_part(opened.name)
            self._layers.append(
                _ColumnLayer(column, units, sparse_combiner, collections, trainable, name)
            )
        self._bias_layer = _BiasLayer(units, trainable, collections, "bias_layer")
        self._layers.append(self._bias_layer)
        self._cols_to_vars: dict[Any, list[Any]] = {}

    def cols_to_vars(self) -> dict[Any, list[Any]]:
        """The variables of each column, and under "bias" that of the bias."""
        return self._cols_to_vars

    def call(self, features: Any) -> Any:
        with tf.variable_scope(self.name) as scope:
            for column in self._feature_columns:
                if not isinstance(column, _DenseColumn | _CategoricalColumn):
                    raise ValueError(
                        "Items of feature_columns must be either a _DenseColumn or "
                        f"_CategoricalColumn. Given: {column}"
                    )
            builder = _LazyBuilder(features)
            layers = by_name(layer for layer in self._layers if layer is not self._bias_layer)
            sums = []
            for layer in layers:
                sums.append(layer(builder))
                self._cols_to_vars[layer._feature_column] = tf.get_collection(
                    tf.GraphKeys.GLOBAL_VARIABLES, scope=layer.scope_name
                )
            check_batch_sizes(sums, [layer._feature_column for layer in layers])
            without_bias = tf.add_n(sums, name="weighted_sum_no_bias")
            bias = self._bias_layer(builder, scope=scope)
            predictions = tf.nn.bias_add(without_bias, bias, name="weighted_sum")
            self._cols_to_vars["bias"] = _parts(self._bias_layer.variables[0])
        return predictions


def _last_part(scope_name: str) -> str:
    return scope_name.rsplit("/", 1)[-1]


def linear_model(
    features: Mapping[str, Any],
    feature_columns: Any,
    units: int = 1,
    sparse_combiner: str = "sum",
    weight_collections: Any = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
) -> Any:
    """A weighted sum of features and a bias: [batch, units].

    Args:
      features: tensors by the keys that columns know them by.
      feature_columns: dense or categorical columns.
      units: how many sums there are.
      sparse_combiner: how an example's several categories count: "mean", "sqrtn" or "sum".
      weight_collections: more collections for the variables.
      trainable: whether the weights are trained.
      cols_to_vars: filled with the variables of each column, and of "bias".
    """
    with tf.variable_scope(None, "linear_model") as opened:
        name = _last_part(opened.name)
    model = _LinearModel(
        feature_columns,
        units=units,
        sparse_combiner=sparse_combiner,
        weight_collections=weight_collections,
        trainable=trainable,
        name=name,
    )
    sums = model(features)
    if cols_to_vars is not None:
        cols_to_vars.update(model.cols_to_vars())
    return sums
