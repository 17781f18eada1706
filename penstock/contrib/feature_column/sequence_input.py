"""Sequences of features as one tensor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import penstock as tf
from penstock.feature_column.columns import (
    SequenceDenseColumn,
    _SequenceDenseColumn,
    by_name,
    check_batch_sizes,
    normalized,
)
from penstock.feature_column.feature_layers import equal_lengths
from penstock.feature_column.transformation import FeatureTransformationCache, _LazyBuilder

__all__ = ["sequence_input_layer"]


def sequence_input_layer(
    features: Mapping[str, Any],
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
) -> tuple[Any, Any]:
    """One tensor [batch, steps, elements] of all columns, and the sequences' lengths.

    Args:
      features: tensors by their names.
      feature_columns: sequences of numbers, or dense columns of sequence columns.
      weight_collections: the collections that variables are put in.
      trainable: whether the variables are trained.
    """
    columns = by_name(normalized(feature_columns))
    for column in columns:
        if not isinstance(column, (_SequenceDenseColumn, SequenceDenseColumn)):
            raise ValueError(
                "All feature_columns must be of type _SequenceDenseColumn. You can wrap a "
                "sequence_categorical_column with an embedding_column or indicator_column. Given "
                f"(type {type(column)}): {column}"
            )
    with tf.variable_scope(None, default_name="sequence_input_layer", values=features.values()):
        builder, cache = _LazyBuilder(features), FeatureTransformationCache(features)
        outputs, lengths = [], []
        for column in columns:
            older = isinstance(column, _SequenceDenseColumn)
            scope = column._var_scope_name if older else column.name
            with tf.variable_scope(None, default_name=scope):
                if older:
                    dense, length = column._get_sequence_dense_tensor(
                        builder, weight_collections=weight_collections, trainable=trainable
                    )
                    elements = column._variable_shape.num_elements()
                else:
                    dense, length = column.get_sequence_dense_tensor(cache, None)
                    elements = column.variable_shape.num_elements()
                sizes = tf.shape(dense)
                outputs.append(tf.reshape(dense, shape=[sizes[0], sizes[1], elements]))
                lengths.append(length)
        check_batch_sizes(outputs, columns)
        check_batch_sizes(lengths, columns)
        length = equal_lengths(lengths)
        return tf.concat(outputs, -1), length
