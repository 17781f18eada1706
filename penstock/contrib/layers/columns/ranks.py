"""Tensors brought to the rank that a model wants."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock import logging
from penstock.contrib.layers.reshaping import _inner_flatten
from penstock.ir.composite import SparseTensor

_ADVICE = (
    "For example, sequence data should typically be 3 dimensional (rank 3) while non-sequence data "
    "is typically 2 dimensional (rank 2)."
)


def reshape_real_valued(input_tensor: Any, output_rank: int, column_name: str | None = None) -> Any:
    """A dense tensor with one dimension more, or with its last ones made one."""
    rank = input_tensor.get_shape().ndims
    if rank is None or output_rank < rank:
        return _inner_flatten(input_tensor, output_rank)
    if output_rank == rank:
        return input_tensor
    message = f"Rank of input Tensor ({rank}) should be the same as output_rank ({output_rank})"
    if output_rank > rank + 1:
        column = "" if column_name is None else f"Error while processing column {column_name}."
        raise ValueError(f"{column}{message}. {_ADVICE}")
    logging.warning(
        f"{message} for column. Will attempt to expand dims. It is highly recommended that you "
        "resize your input, as this behavior may change."
    )
    return tf.expand_dims(input_tensor, -1, name="expand_dims")


def with_rank(tensor: Any, column_name: str, output_rank: int) -> Any:
    """A tensor, sparse or dense, with one dimension more, or with its last ones made one."""
    rank = tensor.get_shape().ndims
    if rank is None and isinstance(tensor, SparseTensor):
        rank = tensor.dense_shape.get_shape().as_list()[0]
    if rank is None:
        raise ValueError(
            f"Error while processing column {column_name}. Rank of input Tensor can not be None."
        )
    if output_rank > rank + 1:
        raise ValueError(
            f"Error while processing column {column_name}. Rank of input Tensor ({rank}) should be "
            f"the same as output_rank ({output_rank}). {_ADVICE}"
        )
    if output_rank < rank:
        return _inner_flatten(tensor, output_rank)
    if output_rank == rank:
        return tensor
    if isinstance(tensor, SparseTensor):
        return tf.sparse_reshape(tensor, tf.concat([tensor.dense_shape, [1]], 0))
    return tf.expand_dims(tensor, -1)
