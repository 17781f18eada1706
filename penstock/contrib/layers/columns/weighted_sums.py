"""Linear models: the sum of all columns' weights, and a bias."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib.framework.variables import model_variable
from penstock.contrib.layers.columns.embedded import parts_of_variable, restore_from_checkpoint
from penstock.contrib.layers.columns.input_layers import with_global_variables
from penstock.contrib.layers.columns.protocol import _LinearEmbeddingLookupArguments
from penstock.contrib.layers.columns.ranks import with_rank
from penstock.contrib.layers.columns.transformation import (
    _Transformer,
    check_feature_columns,
    in_order,
)
from penstock.contrib.layers.embeddings import safe_embedding_lookup_sparse

__all__ = ["joint_weighted_sum_from_feature_columns", "weighted_sum_from_feature_columns"]


def weighted_sum_from_feature_columns(
    columns_to_tensors: dict[Any, Any],
    feature_columns: Any,
    num_outputs: int,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> tuple[Any, dict[Any, list[Any]], Any]:
    """A linear model of columns: its outputs, each column's variables, and the bias.

    Args:
      columns_to_tensors: the features by name, and columns that are transformed already.
      weight_collections: collections that variables are added to.
    """
    columns_to_tensors = columns_to_tensors.copy()
    check_feature_columns(feature_columns)
    default_name = "weighted_sum_from_feature_columns"
    with tf.variable_scope(scope, default_name, columns_to_tensors.values()):
        outputs = []
        column_to_variable = {}
        transformer = _Transformer(columns_to_tensors)
        for column in in_order(feature_columns):
            tensor = transformer.transform(column)
            arguments = _arguments(column, tensor)
            with tf.variable_scope(None, column.name, columns_to_tensors.values()):
                if arguments is None:
                    made = _of_matrix(column, tensor, num_outputs, trainable, weight_collections)
                else:
                    name = column.name + "_weights"
                    made = _of_ids(arguments, num_outputs, trainable, weight_collections, name)
            column_to_variable[column], output = made
            outputs.append(tf.reshape(output, shape=(-1, num_outputs)))
            restore_from_checkpoint(column._checkpoint_path(), column_to_variable[column])
        bias = _bias(num_outputs, trainable, weight_collections)
        return tf.nn.bias_add(tf.add_n(outputs), bias), column_to_variable, bias


def _arguments(column: Any, tensor: Any) -> _LinearEmbeddingLookupArguments | None:
    """The ids whose weights a column adds up; None if it is a matrix instead."""
    try:
        found: _LinearEmbeddingLookupArguments = column._wide_embedding_lookup_arguments(tensor)
        return found
    except NotImplementedError:
        return None
    except ValueError as error:
        raise ValueError(
            f"Error creating weighted sum for column: {column.name}.\n{error}"
        ) from error


def _of_ids(
    arguments: _LinearEmbeddingLookupArguments,
    num_outputs: int,
    trainable: bool,
    weight_collections: Any,
    name: str,
) -> tuple[list[Any], Any]:
    variable = model_variable(
        name="weights",
        shape=[arguments.vocab_size, num_outputs],
        dtype=tf.float32,
        initializer=arguments.initializer,
        trainable=trainable,
        collections=weight_collections,
    )
    parts = parts_of_variable(variable)
    output = safe_embedding_lookup_sparse(
        parts,
        arguments.input_tensor,
        sparse_weights=arguments.weight_tensor,
        combiner=arguments.combiner,
        name=name,
    )
    return parts, output


def _of_matrix(
    column: Any, tensor: Any, num_outputs: int, trainable: bool, weight_collections: Any
) -> tuple[list[Any], Any]:
    matrix = with_rank(column._to_dense_tensor(tensor), column.name, output_rank=2)
    variable = model_variable(
        name="weight",
        shape=[matrix.get_shape()[1], num_outputs],
        initializer=tf.zeros_initializer(),
        trainable=trainable,
        collections=weight_collections,
    )
    return [variable], tf.matmul(matrix, variable, name="matmul")


def _bias(num_outputs: int, trainable: bool, weight_collections: Any) -> Any:
    return model_variable(
        "bias_weight",
        shape=[num_outputs],
        initializer=tf.zeros_initializer(),
        trainable=trainable,
        collections=with_global_variables(weight_collections),
    )


def joint_weighted_sum_from_feature_columns(
    columns_to_tensors: dict[Any, Any],
    feature_columns: Any,
    num_outputs: int,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> tuple[Any, list[Any], Any]:
    """A linear model of sparse columns with one variable: its outputs, the variable, the bias.

    It makes fewer operations than `weighted_sum_from_feature_columns`, whose arguments it has.
    """
    columns_to_tensors = columns_to_tensors.copy()
    check_feature_columns(feature_columns)
    default_name = "joint_weighted_sum_from_feature_columns"
    with tf.variable_scope(scope, default_name, columns_to_tensors.values()):
        transformer = _Transformer(columns_to_tensors)
        found = []
        for column in in_order(feature_columns):
            tensor = transformer.transform(column)
            try:
                found.append(column._wide_embedding_lookup_arguments(tensor))
            except NotImplementedError as error:
                raise NotImplementedError(
                    "Real-valued columns are not supported. Use weighted_sum_from_feature_columns "
                    "instead, or bucketize these columns."
                ) from error
        joint = _joint_arguments(found)
        with tf.variable_scope(None, "linear_weights", columns_to_tensors.values()):
            parts, output = _of_ids(joint, num_outputs, trainable, weight_collections, "_weights")
        bias = _bias(num_outputs, trainable, weight_collections)
        return tf.nn.bias_add(output, bias), parts, bias


def _joint_arguments(
    arguments: list[_LinearEmbeddingLookupArguments],
) -> _LinearEmbeddingLookupArguments:
    """The ids of several columns in one range, column after column."""
    advice = "Please use weighted_sum_from_feature_columns instead."
    size = 0
    moved = []
    for each in arguments:
        if each.weight_tensor is not None:
            raise AssertionError(
                f"Joint sums for weighted sparse columns are not supported. {advice}"
            )
        if each.combiner != "sum":
            raise AssertionError(
                f"Combiners other than sum are not supported for joint sums. {advice}"
            )
        ids = each.input_tensor
        moved.append(tf.SparseTensor(ids.indices, ids.values + size, ids.dense_shape))
        size += each.vocab_size
    if not moved:
        raise AssertionError("At least one column must be in the model.")
    return arguments[0]._replace(input_tensor=tf.sparse_concat(1, moved), vocab_size=size)
