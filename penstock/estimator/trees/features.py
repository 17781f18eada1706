"""Feature columns as features of trees: vectors of numbers of buckets, one for each feature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import penstock as tf
from penstock.feature_column.columns import (
    CategoricalColumn,
    DenseColumn,
    ScopeVariables,
    _CategoricalColumn,
    _DenseColumn,
    is_feature_column_v2,
    number_of_buckets,
)
from penstock.feature_column.indicator import IndicatorColumn
from penstock.feature_column.numeric import BucketizedColumn
from penstock.feature_column.transformation import transform_features, transform_features_v2
from penstock.ops.quantile_streams import BoostedTreesBucketize

_INDICATOR_BUCKETS = 2


def _check(column: Any) -> None:
    """ValueError where trees can't use a column."""
    if isinstance(column, (BucketizedColumn, IndicatorColumn)):
        return
    if isinstance(column, (CategoricalColumn, _CategoricalColumn)):
        raise ValueError(f"CategoricalColumn must be wrapped by IndicatorColumn, got: {column}")
    if not isinstance(column, (DenseColumn, _DenseColumn)):
        raise ValueError(f"Got unexpected feature column type: {column}")


def is_float_column(column: Any) -> bool:
    """Whether a column's numbers must be put into buckets first."""
    if isinstance(column, (BucketizedColumn, IndicatorColumn)):
        return False
    if isinstance(column, (CategoricalColumn, _CategoricalColumn)):
        return False
    if isinstance(column, (DenseColumn, _DenseColumn)):
        dtype: Any = getattr(column, "dtype")  # noqa: B009 - not all of its kind have one
        return bool(dtype.is_floating)
    raise ValueError(f"Encountered unexpected column {column}")


def _shape(column: Any) -> Any:
    return column.variable_shape if is_feature_column_v2([column]) else column._variable_shape


def feature_count(column: Any) -> int:
    """How many features of trees a column is."""
    _check(column)
    if isinstance(column, BucketizedColumn):
        return 1
    if isinstance(column, IndicatorColumn):
        return number_of_buckets(column.categorical_column)
    sizes = _shape(column).as_list()
    return int(sizes[0]) if sizes else 1


def feature_names(columns: list[Any]) -> list[str]:
    """The name of the column that each feature belongs to."""
    names = []
    for column in columns:
        owner = column.categorical_column if isinstance(column, IndicatorColumn) else column
        names += [owner.name] * feature_count(column)
    return names


def grouped_by_buckets(columns: list[Any], num_quantiles: int) -> dict[int, list[int]]:
    """The numbers of features by how many buckets they have.

    All bucketized columns get as many buckets as the one with the most has.
    """
    groups: dict[int, list[int]] = {}
    bucketized, most, number = [], 2, 0
    for column in columns:
        features = list(range(number, number + feature_count(column)))
        number += len(features)
        if isinstance(column, BucketizedColumn):
            most = max(most, len(column.boundaries) + 1)
            bucketized += features
        else:
            size = _INDICATOR_BUCKETS if isinstance(column, IndicatorColumn) else num_quantiles
            groups.setdefault(size, []).extend(features)
    if bucketized:
        groups.setdefault(most, []).extend(bucketized)
    return groups


def boundaries_by_column(columns: list[Any], boundaries: list[Any]) -> dict[str, list[Any]]:
    """The boundaries of the features of each float column, by its name."""
    found, number = {}, 0
    for column in columns:
        count = feature_count(column)
        found[column.name] = boundaries[number : number + count]
        number += count
    return found


def _transformed(features: Mapping[str, Any], columns: list[Any]) -> dict[Any, Any]:
    new = [column for column in columns if is_feature_column_v2([column])]
    old = [column for column in columns if not is_feature_column_v2([column])]
    made: dict[Any, Any] = {}
    if new:
        made.update(transform_features_v2(features, new, ScopeVariables(None, False)))
    if old:
        made.update(transform_features(features, old))
    return made


def tree_features(
    features: Mapping[str, Any],
    columns: list[Any],
    boundaries: Mapping[str, list[Any]] | None = None,
) -> list[Any]:
    """A vector for each feature of the columns, put into buckets where there are boundaries."""
    transformed = _transformed(features, columns)
    found: list[Any] = []
    for column in columns:
        _check(column)
        tensor = transformed[column]
        if isinstance(column, BucketizedColumn):
            found.append(_of_bucketized(column, tensor, features))
        elif isinstance(column, IndicatorColumn):
            found += _of_indicator(column, tensor, features)
        else:
            found += _of_dense(column, tensor, boundaries)
    return found


def _of_bucketized(column: Any, tensor: Any, features: Mapping[str, Any]) -> Any:
    vector = tf.squeeze(tensor, axis=1)
    if len(vector.shape) > 1:
        name = column.source_column.name
        raise ValueError(
            "For now, only supports features equivalent to rank 1 but column "
            f"`{name}` got: {features[name].shape}"
        )
    return vector


def _of_indicator(column: Any, tensor: Any, features: Mapping[str, Any]) -> list[Any]:
    if len(tensor.shape) > 2:
        name = column.categorical_column.name
        raise ValueError(
            f"Rank of indicator column must be no more than 2, but column `{name}` got: "
            f"{features[name].shape}"
        )
    return list(tf.unstack(tf.to_int32(tensor), axis=1))


def _of_dense(column: Any, tensor: Any, boundaries: Mapping[str, list[Any]] | None) -> list[Any]:
    if _shape(column).rank > 1:
        raise ValueError(
            "For now, we only support Dense column with rank of 1, but column "
            f"`{column.name}` got: {_shape(column)}"
        )
    unstacked = list(tf.unstack(tensor, axis=1))
    if not boundaries:
        return unstacked
    return list(BoostedTreesBucketize(unstacked, boundaries[column.name]))
