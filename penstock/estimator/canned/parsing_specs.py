"""What to parse out of Examples for a canned estimator: features, labels and weights."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.feature_column.input_layer import make_parse_example_spec
from penstock.feature_column.numeric import NumericColumn, numeric_column


def classifier_parse_example_spec(
    feature_columns: Any,
    label_key: str,
    label_dtype: Any = tf.int64,
    label_default: Any = None,
    weight_column: Any = None,
) -> dict[str, Any]:
    """The features of columns, and a label that names a class, for `tf.parse_example`.

    Args:
      feature_columns: the columns of the model.
      label_key: the name of the label.
      label_dtype: its type: a number or a string.
      label_default: its value in Examples that lack it.
      weight_column: the feature that gives examples their weights: its name, or its column.
    """
    label = tf.FixedLenFeature((1,), label_dtype, label_default)
    return _with_label(feature_columns, label_key, label, weight_column)


def regressor_parse_example_spec(
    feature_columns: Any,
    label_key: str,
    label_dtype: Any = tf.float32,
    label_default: Any = None,
    label_dimension: int = 1,
    weight_column: Any = None,
) -> dict[str, Any]:
    """The same with a label of numbers."""
    label = tf.FixedLenFeature((label_dimension,), label_dtype, label_default)
    return _with_label(feature_columns, label_key, label, weight_column)


def _with_label(
    feature_columns: Any, label_key: str, label: Any, weight_column: Any
) -> dict[str, Any]:
    spec = make_parse_example_spec(feature_columns)
    if label_key in spec:
        raise ValueError(
            f"label should not be used as feature. label_key: {label_key}, features: {spec.keys()}"
        )
    spec[label_key] = label
    if weight_column is None:
        return spec
    if isinstance(weight_column, str):
        weight_column = numeric_column(weight_column)
    if not isinstance(weight_column, NumericColumn):
        raise ValueError(
            "weight_column should be an instance of tf.feature_column.numeric_column. "
            f"Given type: {type(weight_column)} value: {weight_column}"
        )
    if weight_column.key in spec:
        raise ValueError(
            "weight_column should not be used as feature. "
            f"weight_column: {weight_column.key}, features: {spec.keys()}"
        )
    spec.update(weight_column.parse_example_spec)
    return spec
