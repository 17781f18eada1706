"""The tensors of columns, each made once."""

from __future__ import annotations

import math
from typing import Any

from penstock import logging
from penstock.contrib.layers.columns.real_valued import real_valued_column
from penstock.ir.composite import SparseTensor

__all__ = ["check_feature_columns", "infer_real_valued_columns", "transform_features"]


class _Transformer:
    """Makes columns' tensors of features, and keeps them beside those in a mapping."""

    def __init__(self, columns_to_tensors: dict[Any, Any]):
        self._columns_to_tensors = columns_to_tensors

    def transform(self, feature_column: Any) -> Any:
        """The tensor of a column, made now or before."""
        logging.debug("Transforming feature_column %s", feature_column)
        found = self._columns_to_tensors
        if feature_column not in found:
            feature_column.insert_transformed_feature(found)
            if feature_column not in found:
                raise ValueError(f"Column {feature_column.name} is not supported.")
        return found[feature_column]


def in_order(feature_columns: Any) -> list[Any]:
    """Columns in the order in which models take them."""
    return sorted(set(feature_columns), key=lambda column: str(column.key))


def check_feature_columns(feature_columns: Any) -> None:
    """ValueError if columns are given as a dict, or two of them have the same key."""
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    seen = set()
    for column in feature_columns:
        if column.key in seen:
            raise ValueError(
                f"Duplicate feature column key found for column: {column.name}. This usually means "
                "that the column is almost identical to another column, and one must be discarded."
            )
        seen.add(column.key)


def transform_features(features: dict[Any, Any], feature_columns: Any) -> dict[Any, Any]:
    """The tensors of columns, by column."""
    check_feature_columns(feature_columns)
    columns_to_tensors = features.copy()
    transformer = _Transformer(columns_to_tensors)
    for column in in_order(feature_columns):
        transformer.transform(column)
    return {key: value for key, value in columns_to_tensors.items() if key in feature_columns}


def infer_real_valued_columns(features: Any) -> list[Any]:
    """A real valued column for each tensor of a dict, or for a single tensor."""
    if not isinstance(features, dict):
        return [_infer_real_valued_column("", features)]
    return [_infer_real_valued_column(key, value) for key, value in features.items()]


def _infer_real_valued_column(name: str, tensor: Any) -> Any:
    advice = f"Please define corresponding FeatureColumn for tensor {name} {tensor}."
    if isinstance(tensor, SparseTensor):
        raise ValueError(f"SparseTensor is not supported for auto detection. {advice}")
    if not (tensor.dtype.is_integer or tensor.dtype.is_floating):
        raise ValueError(
            "Non integer or non floating types are not supported for auto detection. " + advice
        )
    dimension = math.prod(tensor.get_shape().as_list()[1:])
    return real_valued_column(name, dimension=dimension, dtype=tensor.dtype)
