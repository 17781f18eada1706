"""Columns of the intervals that numbers fall into."""

from __future__ import annotations

from collections import namedtuple
from itertools import pairwise
from typing import Any

import penstock as tf
from penstock.contrib.layers.columns.protocol import (
    _FeatureColumn,
    _LinearEmbeddingLookupArguments,
    ids_of_linear_model,
)
from penstock.contrib.layers.columns.real_valued import _RealValuedColumn
from penstock.feature_column.columns import _CategoricalColumn, _DenseColumn
from penstock.ops.counting import Bucketize

__all__ = ["bucketized_column"]


def bucketize(input_tensor: Any, boundaries: list[float], name: str | None = None) -> Any:
    """For each number the interval between `boundaries` that it is in."""
    return Bucketize(tf.convert_to_tensor(input_tensor), boundaries=boundaries, name=name)


class _BucketizedColumn(
    _FeatureColumn,
    _CategoricalColumn,
    _DenseColumn,
    namedtuple("_BucketizedColumn", ["source_column", "boundaries"]),
):
    """For each number of a column the interval that it is in; see `bucketized_column`."""

    def __new__(cls, source_column: Any, boundaries: Any) -> Any:
        if not isinstance(source_column, _RealValuedColumn):
            raise TypeError(
                "source_column must be an instance of _RealValuedColumn. "
                f"source_column: {source_column}"
            )
        if source_column.dimension is None:
            raise ValueError(
                f"source_column must have a defined dimension. source_column: {source_column}"
            )
        if not isinstance(boundaries, list | tuple) or not boundaries:
            raise ValueError(
                f"boundaries must be a non-empty list or tuple. boundaries: {boundaries}"
            )
        if any(low > high for low, high in pairwise(boundaries)):
            raise ValueError(f"boundaries must be a sorted list. boundaries: {boundaries}")
        different = [low for low, high in pairwise(boundaries) if low != high]
        return super().__new__(cls, source_column, (*different, boundaries[-1]))

    @property
    def name(self) -> str:
        return f"{self.source_column.name}_bucketized"

    @property
    def length(self) -> int:
        """How many intervals there are."""
        return len(self.boundaries) + 1

    @property
    def config(self) -> dict[str, Any]:
        return dict(self.source_column.config)

    def _transform_feature(self, inputs: Any) -> Any:
        return bucketize(inputs.get(self.source_column), list(self.boundaries), name="bucketize")

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Any:
        if output_rank != 2:
            raise ValueError("BucketizedColumn currently only supports output_rank=2")
        buckets = tf.cast(input_tensor, tf.int64)
        one_hot = tf.one_hot(buckets, self.length, 1.0, 0.0, name="one_hot")
        return tf.reshape(one_hot, [-1, self._num_buckets], name="reshape")

    def to_sparse_tensor(self, input_tensor: Any) -> Any:
        """The intervals as ids, of which each number of a vector has a range of its own."""
        dimension = self.source_column.dimension
        batch_size = tf.shape(input_tensor, name="shape")[0]
        rows = tf.tile(tf.expand_dims(tf.range(0, batch_size), 1), [1, dimension])
        places = tf.tile(tf.range(0, dimension), [batch_size])
        ids = tf.reshape(input_tensor, [-1], name="reshape")
        if dimension > 1:
            ids += self.length * places
        indices = tf.cast(tf.stack([tf.reshape(rows, [-1]), places], axis=1), tf.int64)
        return tf.SparseTensor(indices, ids, tf.cast(tf.stack([batch_size, dimension]), tf.int64))

    def _wide_embedding_lookup_arguments(
        self, input_tensor: Any
    ) -> _LinearEmbeddingLookupArguments:
        return ids_of_linear_model(self.to_sparse_tensor(input_tensor), self._num_buckets, "sum")

    @property
    def _num_buckets(self) -> int:
        return int(self.length * self.source_column.dimension)

    def _get_sparse_tensors(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        return self.IdWeightPair(self.to_sparse_tensor(inputs.get(self)), None)

    @property
    def _variable_shape(self) -> Any:
        return tf.TensorShape([self._num_buckets])

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        return self._to_dnn_input_layer(inputs.get(self))


def bucketized_column(source_column: Any, boundaries: Any) -> Any:
    """For each number of a real valued column the interval between `boundaries` that it is in."""
    return _BucketizedColumn(source_column, boundaries)
