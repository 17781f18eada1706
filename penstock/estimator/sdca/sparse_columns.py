"""Features of feature columns in the form that dual coordinate ascent takes."""

from __future__ import annotations

import penstock as tf
from penstock.estimator.sdca.model import SparseFeatureColumn
from penstock.ir.composite import SparseTensor
from penstock.ir.tensor import Tensor


def weighted_ids(ids: SparseTensor, weights: Tensor | None) -> SparseFeatureColumn:
    """Ids of categories: negative ones are left out, the weights of equal ones are added up."""
    examples = tf.reshape(ids.indices[:, 0], [-1])
    flat = tf.cast(tf.reshape(ids.values, [-1]), tf.int64)
    if weights is None:
        weights = tf.ones([tf.shape(ids.indices)[0]], tf.float32)
    valid = tf.greater_equal(flat, 0)
    flat, examples, weights = (tf.boolean_mask(each, valid) for each in (flat, examples, weights))
    # An id of its own for each pair of an example and a category.
    width = tf.reduce_max(flat) + 1
    pairs, places = tf.unique(width * examples + flat)
    number = tf.shape(pairs)[0]
    owners = tf.unsorted_segment_min(examples, places, number)
    values = tf.reshape(tf.unsorted_segment_sum(weights, places, number), [-1])
    return SparseFeatureColumn(owners, pairs - width * owners, values)


def nonzeros(dense: Tensor) -> SparseFeatureColumn:
    """The numbers of a matrix that are not zero."""
    indices = tf.where(tf.not_equal(dense, tf.zeros([], dense.dtype)))
    values = tf.cast(tf.gather_nd(dense, indices), tf.float32)
    examples, features = tf.split(indices, 2, axis=1)
    return SparseFeatureColumn(
        tf.reshape(examples, [-1]), tf.reshape(features, [-1]), tf.reshape(values, [-1])
    )
