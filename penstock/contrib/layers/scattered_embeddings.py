"""Embeddings whose numbers are picked out of one vector, by a hash of the value and the place."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock import logging
from penstock.ir.composite import SparseTensor
from penstock.ops.partitioned_variables import PartitionedVariable
from penstock.ops.sparse_feature_cross import sparse_feature_cross

__all__ = ["scattered_embedding_lookup", "scattered_embedding_lookup_sparse"]

#: What stands in for the values of an empty row, so that it has an embedding too.
_NO_STRING, _NO_NUMBER = "6ZxWzWOHxZ", 1288896567

_COMBINERS = {
    "sum": tf.sparse_segment_sum,
    "mean": tf.sparse_segment_mean,
    "sqrtn": tf.sparse_segment_sqrt_n,
}


def scattered_embedding_lookup(
    params: Any,
    values: Any,
    dimension: int,
    name: str | None = None,
    hash_key: int | None = None,
) -> Any:
    """The embedding of each value, of `dimension` numbers.

    Args:
      params: a vector, or several of equal lengths, of which the first may be longer by one.
      hash_key: the start of the hash.
    """
    if dimension is None:
        raise ValueError("You must specify dimension.")
    return _sampled_scattered_embedding_lookup(params, values, dimension, None, hash_key, name)


def _sampled_scattered_embedding_lookup(
    params: Any,
    values: Any,
    dimension: Any = None,
    sampled_candidates: Any = None,
    hash_key: int | None = None,
    name: str | None = None,
) -> Any:
    """The embedding of each value, or only its numbers at the places `sampled_candidates`."""
    params = _as_list(params)
    with tf.name_scope(name, "scattered_embedding_lookup", [*params, dimension, values]):
        values_shape = tf.shape(values)
        column = tf.reshape(values, [-1, 1])
        if sampled_candidates is None:
            if dimension is None:
                raise ValueError("You must specify either dimension or sampled_candidates.")
            if dimension <= 0:
                raise ValueError(f"Dimension must be >0. Given is {dimension}")
            places = tf.tile(tf.expand_dims(tf.range(0, dimension), 0), tf.shape(column))
        else:
            dimension = tf.shape(sampled_candidates)[tf.rank(sampled_candidates) - 1]
            places = _checked_candidates(sampled_candidates, values_shape, dimension)
        crossed = sparse_feature_cross(
            [places, column],
            hashed_output=True,
            num_buckets=_number_of_parameters(params),
            hash_key=hash_key,
        )
        found = tf.nn.embedding_lookup(
            params, tf.sparse_tensor_to_dense(crossed), partition_strategy="div"
        )
        return tf.reshape(found, tf.concat([values_shape, [dimension]], 0))


def _as_list(params: Any) -> list[Any]:
    return list(params) if isinstance(params, PartitionedVariable | list) else [params]


def _checked_candidates(candidates: Any, values_shape: Any, dimension: Any) -> Any:
    shape = tf.shape(candidates)
    expected = tf.concat([values_shape, tf.reshape(dimension, [1])], 0)
    message = [
        "The shape of sampled_candidates: ",
        shape,
        " does not match the shape of values: ",
        values_shape,
    ]
    check = tf.Assert(tf.reduce_all(tf.equal(shape, expected)), message)
    with tf.control_dependencies([check]):
        return tf.reshape(candidates, [-1, dimension])


def _number_of_parameters(params: list[Any]) -> int:
    """How many numbers there are in all, in parts that are divided evenly."""
    sizes = []
    for part in params:
        shape = part.get_shape()
        shape.assert_has_rank(1)
        shape.assert_is_fully_defined()
        sizes.append(shape.as_list()[0])
    for place, size in enumerate(sizes):
        expected = (sum(sizes) - place - 1) // len(sizes) + 1
        if size != expected:
            raise ValueError(f"Tensor {place} in params has size {size}, expected {expected}.")
    return sum(sizes)


def scattered_embedding_lookup_sparse(
    params: Any,
    sparse_values: Any,
    dimension: int,
    combiner: str | None = None,
    default_value: Any = None,
    name: str | None = None,
    hash_key: int | None = None,
) -> Any:
    """The embeddings of sparse values, combined by row; see `scattered_embedding_lookup`.

    Args:
      combiner: `mean` (the default), `sqrtn` or `sum`.
      default_value: the value of empty rows.
    """
    if combiner is None:
        logging.warn(
            'The default value of combiner will change from "mean" to "sqrtn" after 2016/11/01.'
        )
        combiner = "mean"
    params = _as_list(params)
    if not isinstance(sparse_values, SparseTensor):
        raise TypeError("sparse_values must be SparseTensor")
    if combiner not in _COMBINERS:
        raise ValueError("Combiner must be one of 'mean', 'sqrtn' or 'sum'.")
    scattered = "scattered_embedding_lookup_sparse"
    with tf.name_scope(name, scattered, [*params, sparse_values]) as scope:
        if default_value is None:
            default_value = _NO_STRING if sparse_values.dtype == tf.string else _NO_NUMBER
        filled, _ = tf.sparse_fill_empty_rows(sparse_values, default_value)
        rows = tf.cast(filled.indices[:, 0], tf.int32)
        unique, places = tf.unique(filled.values)
        embeddings = scattered_embedding_lookup(params, unique, dimension, hash_key=hash_key)
        return _COMBINERS[combiner](embeddings, places, rows, name=scope)


def _sampled_scattered_embedding_lookup_sparse(
    params: Any,
    sp_values: Any,
    dimension: Any = None,
    sampled_candidates: Any = None,
    hash_key: int | None = None,
    with_sign_hash: bool = False,
    name: str | None = None,
) -> Any:
    """The sum of each row's embeddings, whose numbers may get a sign from another hash."""
    if not isinstance(sp_values, SparseTensor):
        raise TypeError("sp_values must be SparseTensor")
    used = [sp_values, params, dimension, sampled_candidates]
    with tf.name_scope(name, "sampled_scattered_embedding_lookup_sparse", used) as scope:
        rows = sp_values.indices[:, 0]
        if sampled_candidates is not None:
            sampled_candidates = tf.gather(sampled_candidates, rows)

        def look_up(numbers: Any, name: str) -> Any:
            return _sampled_scattered_embedding_lookup(
                numbers, sp_values.values, dimension, sampled_candidates, hash_key, name
            )

        embeddings = look_up(params, "values_lookup")
        if with_sign_hash:
            signs = look_up(tf.constant([-1.0, 1.0]), "signs_lookup")
            embeddings = tf.multiply(signs, embeddings, name="signs_hash")
        count = tf.cast(sp_values.dense_shape[0], tf.int32)
        return tf.unsorted_segment_sum(embeddings, tf.cast(rows, tf.int32), count, name=scope)
