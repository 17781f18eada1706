"""Categories as vectors of counts."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import penstock as tf
from penstock.feature_column.columns import number_of_buckets, sparse_tensors_of
from penstock.feature_column.of_categories import OfCategories
from penstock.ops.sparse_conversion import sparse_merge
from penstock.shapes import TensorShape


class IndicatorColumn(OfCategories, namedtuple("IndicatorColumn", ("categorical_column",))):
    """How often, or with which weight, each category occurs; see `indicator_column`."""

    _made_by = "indicator_column"

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_indicator"

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([1, number_of_buckets(self.categorical_column)])

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        ids, weights = sparse_tensors_of(
            self.categorical_column, transformation_cache, state_manager
        )
        count = number_of_buckets(self.categorical_column)
        if weights is None:
            dense_ids = tf.sparse_tensor_to_dense(ids, default_value=-1)
            one_hot = tf.one_hot(dense_ids, depth=count, on_value=1.0, off_value=0.0)
            return tf.reduce_sum(one_hot, axis=[-2])
        weighted = sparse_merge(sp_ids=ids, sp_values=weights, vocab_size=count)
        # What is not in the vocabulary has the id -1, which is left out.
        weighted = tf.sparse_slice(weighted, [0, 0], weighted.dense_shape)
        return tf.scatter_nd(weighted.indices, weighted.values, weighted.dense_shape)

    def _dense(self, transformation_cache: Any, state_manager: Any) -> Any:
        return transformation_cache.get(self, state_manager)


def indicator_column(categorical_column: Any) -> IndicatorColumn:
    """The number of times that each category occurs in an example, or its weights' sum."""
    return IndicatorColumn(categorical_column)
