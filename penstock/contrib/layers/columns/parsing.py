"""Features of columns out of Examples, and placeholders for them."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock import logging
from penstock.contrib.layers.columns.protocol import feature_config
from penstock.contrib.layers.columns.transformation import (
    _Transformer,
    check_feature_columns,
    in_order,
)

__all__ = [
    "create_feature_spec_for_parsing",
    "make_place_holder_tensors_for_base_features",
    "parse_feature_columns_from_examples",
    "parse_feature_columns_from_sequence_examples",
]


def create_feature_spec_for_parsing(feature_columns: Any) -> dict[str, Any]:
    """The features of columns, given as an iterable or a dict, for `tf.parse_example`."""
    if isinstance(feature_columns, dict):
        feature_columns = feature_columns.values()
    features: dict[str, Any] = {}
    for column in feature_columns:
        features.update(feature_config(column))
    return features


def _create_sequence_feature_spec_for_parsing(
    sequence_feature_columns: Any, allow_missing_by_default: bool = False
) -> dict[str, Any]:
    """The features of columns for `tf.parse_single_sequence_example`."""
    spec = create_feature_spec_for_parsing(sequence_feature_columns)
    return {
        key: _of_sequence(key, feature, allow_missing_by_default) for key, feature in spec.items()
    }


def _of_sequence(key: str, feature: Any, allow_missing: bool) -> Any:
    if isinstance(feature, tf.VarLenFeature):
        return feature
    if not isinstance(feature, tf.FixedLenFeature | tf.FixedLenSequenceFeature):
        raise TypeError(f"Unsupported feature type: {type(feature).__name__}")
    if feature.default_value is not None:
        allow_missing = True
        logging.warning(
            f'Found default value {feature.default_value} for feature "{key}". Ignoring this value '
            "and setting `allow_missing=True` instead."
        )
    return tf.FixedLenSequenceFeature(feature.shape, feature.dtype, allow_missing)


def make_place_holder_tensors_for_base_features(feature_columns: Any) -> dict[str, Any]:
    """A placeholder for each feature of columns, sparse where the feature is."""

    def placeholder(key: str, feature: Any) -> Any:
        name = f"Placeholder_{key}"
        if isinstance(feature, tf.VarLenFeature):
            return tf.sparse_placeholder(feature.dtype, name=name)
        return tf.placeholder(feature.dtype, shape=(None, feature.shape[0]), name=name)

    spec = create_feature_spec_for_parsing(feature_columns)
    return {key: placeholder(key, feature) for key, feature in spec.items()}


def parse_feature_columns_from_examples(
    serialized: Any, feature_columns: Any, name: str | None = None, example_names: Any = None
) -> dict[Any, Any]:
    """The tensors of features and columns out of a vector of serialized Examples."""
    check_feature_columns(feature_columns)
    columns_to_tensors: dict[Any, Any] = tf.parse_example(
        serialized=serialized,
        features=create_feature_spec_for_parsing(feature_columns),
        name=name,
        example_names=example_names,
    )
    transformer = _Transformer(columns_to_tensors)
    for column in in_order(feature_columns):
        transformer.transform(column)
    return columns_to_tensors


def parse_feature_columns_from_sequence_examples(
    serialized: Any,
    context_feature_columns: Any,
    sequence_feature_columns: Any,
    name: str | None = None,
    example_name: Any = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The features of columns out of a SequenceExample: its context's, and its sequences'."""
    try:
        serialized = tf.reshape(serialized, [])
    except ValueError as error:
        raise ValueError(
            "serialized must contain as single sequence example. Batching must be done after "
            f"parsing for sequence examples. Error: {error}"
        ) from error
    context, sequence = context_feature_columns or [], sequence_feature_columns or []
    check_feature_columns(context)
    check_feature_columns(sequence)
    found: tuple[dict[str, Any], dict[str, Any]] = tf.parse_single_sequence_example(
        serialized,
        create_feature_spec_for_parsing(context),
        _create_sequence_feature_spec_for_parsing(sequence),
        example_name,
        name,
    )
    return found
