"""Dual coordinate ascent as the optimizer of `tf.contrib.learn`'s linear estimators."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib.layers.columns.bucketized import _BucketizedColumn
from penstock.contrib.layers.columns.crossed import _CrossedColumn
from penstock.contrib.layers.columns.real_valued import _RealValuedColumn
from penstock.contrib.layers.columns.sparse import _SparseColumn, _WeightedSparseColumn
from penstock.estimator.sdca.model import SdcaModel
from penstock.estimator.sdca.sparse_columns import nonzeros, weighted_ids

_OPTIONS = (
    *("num_loss_partitions", "num_table_shards"),
    *("symmetric_l1_regularization", "symmetric_l2_regularization", "adaptive"),
)


class SDCAOptimizer:
    """Settings of dual coordinate ascent; estimators ask for its training step.

    Args:
      example_id_column: the feature with a string for each example that is its own.
      num_loss_partitions: how many train at once.
      num_table_shards: in how many parts the table of examples is.
      adaptive: whether examples that promise more are visited more often.
      partitioner: how variables are divided.
    """

    def __init__(
        self,
        example_id_column: str,
        num_loss_partitions: int = 1,
        num_table_shards: int | None = None,
        symmetric_l1_regularization: float = 0.0,
        symmetric_l2_regularization: float = 1.0,
        adaptive: bool = True,
        partitioner: Any = None,
    ):
        self.example_id_column = example_id_column
        self.num_loss_partitions = num_loss_partitions
        self.num_table_shards = num_table_shards
        self.symmetric_l1_regularization = symmetric_l1_regularization
        self.symmetric_l2_regularization = symmetric_l2_regularization
        self.adaptive = adaptive
        self.partitioner = partitioner

    def get_name(self) -> str:
        return "SDCAOptimizer"

    def get_train_step(
        self,
        columns_to_variables: Any,
        weight_column_name: str | None,
        loss_type: str,
        features: Any,
        targets: Any,
        global_step: Any,
    ) -> tuple[SdcaModel, Any]:
        """The model and the operation that trains it on a batch of transformed features."""
        dense_features, dense_weights = [], []
        sparse_features, sparse_weights = [], []
        for column in sorted(columns_to_variables, key=lambda each: each.key):
            parts = columns_to_variables[column]
            if isinstance(column, _RealValuedColumn):
                dense_features.append(_as_matrix(features[column]))
                dense_weights.append(parts[0])
                continue
            sparse_features.append(_sparse_features(column, features[column]))
            sparse_weights.append(list(parts) if len(parts) > 1 else parts[0])
        weights = (
            tf.reshape(features[weight_column_name], shape=[-1])
            if weight_column_name
            else tf.ones([targets.get_shape()[0]])
        )
        model = SdcaModel(
            examples={
                "sparse_features": sparse_features,
                "dense_features": dense_features,
                "example_labels": tf.cast(tf.reshape(targets, shape=[-1]), tf.float32),
                "example_weights": weights,
                "example_ids": features[self.example_id_column],
            },
            variables={
                "sparse_features_weights": sparse_weights,
                "dense_features_weights": dense_weights,
            },
            options={"loss_type": loss_type, **{name: getattr(self, name) for name in _OPTIONS}},
        )
        return model, model.minimize(global_step=global_step)


def _as_matrix(tensor: Any) -> Any:
    at_most_matrix = tf.Assert(
        tf.less_equal(tf.rank(tensor), 2), ["transformed_tensor should have rank at most 2."]
    )
    with tf.control_dependencies([at_most_matrix]):
        return tf.reshape(tensor, [tf.shape(tensor)[0], -1])


def _sparse_features(column: Any, transformed: Any) -> Any:
    if isinstance(column, _BucketizedColumn):
        return nonzeros(column._to_dnn_input_layer(transformed))
    if isinstance(column, _WeightedSparseColumn):
        weights = tf.reshape(column.weight_tensor(transformed).values, [-1])
        return weighted_ids(column.id_tensor(transformed), weights)
    if isinstance(column, _CrossedColumn | _SparseColumn):
        return weighted_ids(transformed, None)
    raise ValueError(f"SDCAOptimizer does not support column type {type(column).__name__}.")
