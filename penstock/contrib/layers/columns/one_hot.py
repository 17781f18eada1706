"""Columns that say of each category whether an example has it."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import penstock as tf
from penstock.contrib.layers.columns.protocol import _FeatureColumn, feature_config
from penstock.contrib.layers.reshaping import _inner_flatten
from penstock.feature_column.columns import _DenseColumn

__all__ = ["one_hot_column"]


class _OneHotColumn(_FeatureColumn, _DenseColumn, namedtuple("_OneHotColumn", "sparse_id_column")):
    """The categories of a column as a vector of ones and zeros, or of weights."""

    @property
    def name(self) -> str:
        return f"{self.sparse_id_column.name}_one_hot"

    @property
    def length(self) -> int:
        """How many categories there are."""
        return int(self.sparse_id_column.length)

    @property
    def config(self) -> dict[str, Any]:
        return feature_config(self.sparse_id_column)

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        """Adds the column's ids: how long its vectors are depends on the model."""
        if self.sparse_id_column not in columns_to_tensors:
            self.sparse_id_column.insert_transformed_feature(columns_to_tensors)
        columns_to_tensors[self] = columns_to_tensors[self.sparse_id_column]

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Any = None,
        trainable: bool = False,
        output_rank: int = 2,
    ) -> Any:
        ids = _inner_flatten(self.sparse_id_column.id_tensor(input_tensor), output_rank)
        weights = self.sparse_id_column.weight_tensor(input_tensor)
        if weights is not None:
            return self._of_weights(ids, weights)
        dense_ids = tf.sparse_tensor_to_dense(ids, default_value=-1)
        one_hot = tf.one_hot(dense_ids, depth=self.length, on_value=1.0, off_value=0.0)
        return tf.reduce_sum(one_hot, axis=[output_rank - 1])

    def _of_weights(self, ids: Any, weights: Any) -> Any:
        merged = tf.sparse_merge(sp_ids=ids, sp_values=weights, vocab_size=self.length)
        # ids of -1, of categories that are not known, are no places: the slice leaves them out
        start = tf.zeros_like(merged.dense_shape)
        dense = tf.sparse_tensor_to_dense(tf.sparse_slice(merged, start, merged.dense_shape))
        return tf.reshape(dense, tf.concat([tf.shape(dense)[:-1], [self.length]], axis=0))

    def _transform_feature(self, inputs: Any) -> Any:
        return self._to_dnn_input_layer(inputs.get(self.sparse_id_column))

    @property
    def _variable_shape(self) -> Any:
        return tf.TensorShape([self.length])

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        return inputs.get(self)


def one_hot_column(sparse_id_column: Any) -> Any:
    """The categories of a sparse column as a vector of ones and zeros, or of their weights."""
    return _OneHotColumn(sparse_id_column)
