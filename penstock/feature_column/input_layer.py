"""`tf.feature_column.input_layer`: one dense tensor of features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import penstock as tf
from penstock.feature_column.columns import (
    _DenseColumn,
    _FeatureColumn,
    by_name,
    check_batch_sizes,
    normalized,
)
from penstock.feature_column.transformation import _LazyBuilder


def weight_collections_of(given: Any) -> list[str]:
    """The collections of a model's weights: those that are given, and the usual two."""
    collections = list(given or ())
    for usual in (tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.MODEL_VARIABLES):
        if usual not in collections:
            collections.append(usual)
    return collections


def _internal_input_layer(
    features: Mapping[str, Any],
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
    scope: Any = None,
    cols_to_output_tensors: dict[Any, Any] | None = None,
    from_template: bool = False,
) -> Any:
    columns = by_name(normalized(feature_columns, _FeatureColumn))
    for column in columns:
        if not isinstance(column, _DenseColumn):
            raise ValueError(
                "Items of feature_columns must be a _DenseColumn. You can wrap a categorical "
                f"column with an embedding_column or indicator_column. Given: {column}"
            )
    collections = weight_collections_of(weight_collections)

    def side_by_side() -> Any:
        builder = _LazyBuilder(features)
        outputs = []
        for column in columns:
            with tf.variable_scope(None, default_name=column._var_scope_name) as opened:
                tensor = column._get_dense_tensor(
                    builder, weight_collections=collections, trainable=trainable
                )
                elements = column._variable_shape.num_elements()
                outputs.append(tf.reshape(tensor, shape=(tf.shape(tensor)[0], elements)))
                if cols_to_vars is not None:
                    cols_to_vars[column] = tf.get_collection(
                        tf.GraphKeys.GLOBAL_VARIABLES, scope=opened.name
                    )
        if cols_to_output_tensors is not None:
            cols_to_output_tensors.update(zip(columns, outputs, strict=True))
        check_batch_sizes(outputs, columns)
        return tf.concat(outputs, 1)

    if from_template:
        return side_by_side()
    with tf.variable_scope(scope, default_name="input_layer", values=features.values()):
        return side_by_side()


def input_layer(
    features: Mapping[str, Any],
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
    cols_to_output_tensors: dict[Any, Any] | None = None,
) -> Any:
    """A dense tensor [batch, elements] of what columns make of features.

    Args:
      features: tensors by the keys that columns know them by.
      feature_columns: dense columns; they are put side by side in the order of their names.
      weight_collections: more collections for the variables.
      trainable: whether variables are trained.
      cols_to_vars: filled with the variables of each column.
      cols_to_output_tensors: filled with each column's part of the tensor.
    """
    return _internal_input_layer(
        features,
        feature_columns,
        weight_collections=weight_collections,
        trainable=trainable,
        cols_to_vars=cols_to_vars,
        cols_to_output_tensors=cols_to_output_tensors,
    )


class InputLayer:
    """`input_layer` as an object that makes its variables once."""

    _build = staticmethod(_internal_input_layer)

    def __init__(
        self,
        feature_columns: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        cols_to_vars: dict[Any, Any] | None = None,
        name: str = "feature_column_input_layer",
        create_scope_now: bool = True,
    ):
        self._feature_columns = feature_columns
        self._weight_collections = weight_collections
        self._trainable = trainable
        self._cols_to_vars = cols_to_vars
        self._name = name
        self._template = tf.make_template(name, self._build, create_scope_now_=create_scope_now)
        self._scope = self._template.variable_scope

    def __call__(self, features: Mapping[str, Any]) -> Any:
        return self._template(
            features=features,
            feature_columns=self._feature_columns,
            weight_collections=self._weight_collections,
            trainable=self._trainable,
            cols_to_vars=None,
            from_template=True,
        )

    @property
    def name(self) -> str:
        return self._name

    @property
    def variables(self) -> list[Any]:
        return list(self._template.variables)

    @property
    def trainable_variables(self) -> list[Any]:
        return list(self._template.trainable_variables)

    @property
    def non_trainable_variables(self) -> list[Any]:
        return list(self._template.non_trainable_variables)

    weights = variables
    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables


def make_parse_example_spec(feature_columns: Any) -> dict[str, Any]:
    """The features that columns parse out of Examples, for `tf.parse_example`."""
    return merged_specs(feature_columns, _FeatureColumn, "_parse_example_spec")


def merged_specs(feature_columns: Any, protocol: type, attribute: str) -> dict[str, Any]:
    """The features of all columns together: columns that share a feature must agree on it."""
    merged: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, protocol):
            raise ValueError(
                f"All feature_columns must be {protocol.__name__} instances. Given: {column}"
            )
        spec = getattr(column, attribute)
        for key, feature in spec.items():
            if merged.setdefault(key, feature) != feature:
                raise ValueError(
                    f"feature_columns contain different parse_spec for key {key}. "
                    f"Given {feature} and {merged[key]}"
                )
    return merged
