"""A matrix for tests of factorizations, and what they compute of such."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import penstock as tf

INPUT_MATRIX = np.array(
    [
        [0.1, 0.0, 0.2, 0.0, 0.4, 0.5, 0.0],
        [0.0, 1.1, 0.0, 1.3, 1.4, 0.0, 1.6],
        [2.0, 0.0, 0.0, 2.3, 0.0, 2.5, 0.0],
        [3.0, 0.0, 3.2, 3.3, 0.0, 3.5, 0.0],
        [0.0, 4.1, 0.0, 0.0, 4.4, 0.0, 4.6],
    ],
    np.float32,
)


def remove_empty_rows_columns(np_matrix: Any) -> tuple[Any, Any, Any]:
    """A matrix without the rows and columns whose sum is 0, and the numbers of the others."""
    rows, cols = (np.flatnonzero(np.sum(np_matrix, axis=axis)) for axis in (1, 0))
    return np_matrix[np.ix_(rows, cols)], rows, cols


def np_matrix_to_tf_sparse(
    np_matrix: Any,
    row_slices: Any = None,
    col_slices: Any = None,
    transpose: bool = False,
    shuffle: bool = False,
) -> Any:
    """A matrix, or some of its rows or columns, as a sparse tensor.

    Args:
      row_slices, col_slices: the numbers of the rows or columns to take, in their order.
      shuffle: whether entries are in an order drawn at random.
    """
    assert row_slices is None or col_slices is None
    entries = np.argwhere(np_matrix)
    for axis, wanted in enumerate((row_slices, col_slices)):
        if wanted is not None:
            entries = np.concatenate([entries[entries[:, axis] == each] for each in wanted])
    if shuffle:
        entries = entries[random.sample(range(len(entries)), len(entries))]
    values = np_matrix[tuple(entries.T)].astype(np.float32)
    indices = entries[:, ::-1] if transpose else entries
    return tf.SparseTensor(indices.astype(np.int64), values, indices.max(axis=0) + 1)


def calculate_loss(
    input_mat: Any,
    row_factors: Any,
    col_factors: Any,
    regularization: Any = None,
    w0: float = 1.0,
    row_weights: Any = None,
    col_weights: Any = None,
) -> Any:
    """The loss of a factorization in the default session.

    Args:
      w0: the weight of what the matrix lacks.
    """
    row = tf.constant(1.0) if row_weights is None else tf.expand_dims(row_weights, 1)
    col = tf.constant(1.0) if col_weights is None else tf.expand_dims(col_weights, 0)
    product = tf.matmul(row_factors, col_factors, transpose_b=True)
    approximate = tf.gather_nd(product, input_mat.indices)
    squared = tf.SparseTensor(
        input_mat.indices, tf.square(input_mat.values - approximate), input_mat.dense_shape
    )
    loss = w0 * (tf.reduce_sum(squared.values) - tf.reduce_sum(tf.square(approximate)))
    loss += tf.sparse_reduce_sum(row * (squared * col)) + w0 * tf.reduce_sum(tf.square(product))
    if regularization is not None:
        norms = (tf.reduce_sum(tf.square(factors)) for factors in (row_factors, col_factors))
        loss += regularization * sum(norms)
    return loss.eval()
