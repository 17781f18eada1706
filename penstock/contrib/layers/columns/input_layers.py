"""The first layer of a network: all columns side by side."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock import nest
from penstock.contrib.layers.columns.bucketized import _BucketizedColumn
from penstock.contrib.layers.columns.crossed import _CrossedColumn
from penstock.contrib.layers.columns.embedded import embeddings_from_arguments
from penstock.contrib.layers.columns.embedding import _EmbeddingColumn, _ScatteredEmbeddingColumn
from penstock.contrib.layers.columns.one_hot import _OneHotColumn
from penstock.contrib.layers.columns.ranks import with_rank
from penstock.contrib.layers.columns.real_valued import _RealValuedColumn, _RealValuedVarLenColumn
from penstock.contrib.layers.columns.transformation import (
    _Transformer,
    check_feature_columns,
    in_order,
)

__all__ = ["input_from_feature_columns", "sequence_input_from_feature_columns"]

_OF_SEQUENCES = (_OneHotColumn, _EmbeddingColumn, _RealValuedColumn, _RealValuedVarLenColumn)
_NOT_OF_SEQUENCES = (_ScatteredEmbeddingColumn, _BucketizedColumn, _CrossedColumn)


def with_global_variables(weight_collections: Any) -> Any:
    """Collections of variables, with that of all variables among them, if there are any."""
    if not weight_collections:
        return weight_collections
    return list({*weight_collections, tf.GraphKeys.GLOBAL_VARIABLES})


def input_from_feature_columns(
    columns_to_tensors: dict[Any, Any],
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    cols_to_outs: dict[Any, Any] | None = None,
) -> Any:
    """All columns as one matrix with a row for each example, for the layers of a network.

    Args:
      columns_to_tensors: the features by name, and columns that are transformed already.
      weight_collections: collections that columns' variables are added to.
      cols_to_outs: a dict which gets each column's part of the matrix.
    """
    return _side_by_side(
        columns_to_tensors,
        feature_columns,
        weight_collections,
        trainable,
        scope,
        output_rank=2,
        default_name="input_from_feature_columns",
        cols_to_outs=cols_to_outs,
    )


def sequence_input_from_feature_columns(
    columns_to_tensors: dict[Any, Any],
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """All columns as one tensor with a matrix for each example, a row of it for each step.

    Columns are one-hot, embedded or real valued; see `input_from_feature_columns`.
    """
    check_supported_for_sequences(feature_columns)
    _check_not_of_sequences(feature_columns)
    return _side_by_side(
        columns_to_tensors,
        feature_columns,
        weight_collections,
        trainable,
        scope,
        output_rank=3,
        default_name="sequence_input_from_feature_columns",
    )


def check_supported_for_sequences(feature_columns: Any) -> None:
    """ValueError unless columns are one-hot, embedded or real valued."""
    for column in feature_columns:
        if not isinstance(column, _OF_SEQUENCES):
            raise ValueError(
                f"FeatureColumn type {type(column).__name__} is not currently supported for "
                "sequence data."
            )


def _check_not_of_sequences(feature_columns: Any) -> None:
    for column in feature_columns:
        if isinstance(column, _NOT_OF_SEQUENCES):
            raise ValueError(
                f"Column {column.name} is of type {type(column).__name__}, which is not currently "
                "supported for sequences."
            )
        inner = getattr(column, "sparse_id_column", None)
        if inner is not None:
            _check_not_of_sequences([inner])


def _side_by_side(
    columns_to_tensors: dict[Any, Any],
    feature_columns: Any,
    weight_collections: Any,
    trainable: bool,
    scope: Any,
    output_rank: int,
    default_name: str,
    cols_to_outs: Any = None,
) -> Any:
    columns_to_tensors = columns_to_tensors.copy()
    check_feature_columns(feature_columns)
    if cols_to_outs is not None and not isinstance(cols_to_outs, dict):
        raise ValueError("cols_to_outs must be a dict unless None")
    weight_collections = with_global_variables(weight_collections)
    outputs = {}
    with tf.variable_scope(scope, default_name=default_name, values=columns_to_tensors.values()):
        transformer = _Transformer(columns_to_tensors)
        for column in in_order(feature_columns):
            used = columns_to_tensors.values()
            with tf.variable_scope(None, default_name=column.name, values=used):
                tensor = transformer.transform(column)
                if output_rank == 3:
                    tensor = _with_rank(tensor, column.name, output_rank)
                outputs[column] = _input(column, tensor, weight_collections, trainable, output_rank)
        if cols_to_outs is not None:
            cols_to_outs.update(outputs)
        return tf.concat(list(outputs.values()), output_rank - 1)


def _with_rank(tensor: Any, name: str, rank: int) -> Any:
    return nest.map_structure(lambda part: with_rank(part, name, rank), tensor)


def _input(column: Any, tensor: Any, collections: Any, trainable: bool, output_rank: int) -> Any:
    """A column's part of the layer: its embeddings, or else what it is itself."""
    try:
        arguments = column._deep_embedding_lookup_arguments(tensor)
    except NotImplementedError as no_embeddings:
        try:
            return column._to_dnn_input_layer(
                tensor, collections, trainable, output_rank=output_rank
            )
        except ValueError as error:
            raise ValueError(
                f"Error creating input layer for column: {column.name}.\n{error}, {no_embeddings}"
            ) from error
    return embeddings_from_arguments(column, arguments, collections, trainable, output_rank)
