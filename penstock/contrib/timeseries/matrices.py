"""Batches of matrices: their powers, products and arrangements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import penstock as tf


def block_diagonal(
    matrices: Sequence[Any], dtype: Any = tf.float32, name: str = "block_diagonal"
) -> tf.Tensor:
    """A matrix of which these are the blocks along the diagonal, for each of a batch."""
    blocks = [tf.convert_to_tensor(matrix, dtype=dtype) for matrix in matrices]
    batch = tf.TensorShape(None)
    rows, columns = tf.Dimension(0), tf.Dimension(0)
    for block in blocks:
        shape = block.get_shape().with_rank_at_least(2)
        batch = batch.merge_with(shape[:-2])
        rows += shape[-2]
        columns += shape[-1]
    total = tf.add_n([tf.shape(block)[-1] for block in blocks])
    padded, before = [], tf.constant(0)
    for block in blocks:
        after = total - before - tf.shape(block)[-1]
        others = tf.zeros([tf.rank(block) - 1, 2], dtype=tf.int32)
        padded.append(tf.pad(block, tf.concat([others, [(before, after)]], axis=0)))
        before += tf.shape(block)[-1]
    blocked = tf.concat(padded, -2, name=name)
    blocked.set_shape(batch.concatenate(tf.TensorShape([rows, columns])))
    return blocked


def power_sums_tensor(array_size: Any, power_matrix: Any, multiplier: Any) -> tf.Tensor:
    """For n from 0 on the sum of A^i M A^i' over i < n.

    Args:
      array_size: how many of them, beside that for n = 0.
      power_matrix: A.
      multiplier: M.
    """
    power_matrix = tf.convert_to_tensor(power_matrix)
    identity = tf.eye(tf.shape(power_matrix)[0], dtype=power_matrix.dtype)
    identity.set_shape(power_matrix.get_shape())
    powers = tf.scan(
        lambda previous, _: tf.matmul(previous, power_matrix),
        tf.range(tf.cast(array_size, tf.int32) - 1),
        initializer=identity,
    )
    terms = tf.matmul(batch_times_matrix(powers, multiplier), powers, adjoint_b=True)
    summed = tf.cumsum(tf.concat([tf.expand_dims(multiplier, 0), terms], 0))
    return tf.concat([tf.expand_dims(tf.zeros_like(multiplier), 0), summed], 0)


def matrix_to_powers(matrix: Any, powers: Any) -> tf.Tensor:
    """One matrix to each of several powers."""
    tiled = tf.tile(tf.expand_dims(matrix, 0), [tf.size(powers), 1, 1])
    return batch_matrix_pow(tiled, powers)


def batch_matrix_pow(matrices: Any, powers: Any) -> tf.Tensor:
    """Each matrix to a power of its own, a natural number, by repeated squares."""
    matrices = tf.convert_to_tensor(matrices)
    powers = tf.cast(powers, tf.int32)
    identity = tf.expand_dims(tf.eye(tf.shape(matrices)[1], dtype=matrices.dtype), 0)
    ones = tf.tile(identity, [tf.shape(matrices)[0], 1, 1])

    def go_on(square: Any, left: tf.Tensor, product: Any) -> tf.Tensor:
        return tf.reduce_any(tf.greater(left, 1))

    def halve(square: Any, left: tf.Tensor, product: Any) -> tuple[Any, Any, Any]:
        unfinished = tf.greater(left, 1)
        odd = tf.logical_and(unfinished, tf.equal(left % 2, 1))
        return (
            tf.where(unfinished, tf.matmul(square, square), square),
            tf.where(unfinished, left // 2, left),
            tf.where(odd, tf.matmul(product, square), product),
        )

    square, left, product = tf.while_loop(go_on, halve, [matrices, powers, ones])
    return tf.where(tf.equal(left, 0), ones, tf.matmul(square, product))


def batch_times_matrix(
    batch: Any, matrix: Any, adj_x: bool = False, adj_y: bool = False
) -> tf.Tensor:
    """The products of a batch of matrices with one matrix, as a single product."""
    batch, matrix = tf.convert_to_tensor(batch), tf.convert_to_tensor(matrix)
    assert batch.get_shape().ndims == 3
    assert matrix.get_shape().ndims == 2
    if adj_x:
        batch = tf.transpose(batch, [0, 2, 1])
    sizes = tf.shape(batch)
    static = [*batch.get_shape().as_list()[:2], matrix.get_shape().as_list()[0 if adj_y else 1]]
    last = tf.shape(matrix)[0 if adj_y else 1]
    dynamic = [sizes[0], sizes[1], last]
    shape = [
        known if known is not None else size for known, size in zip(static, dynamic, strict=True)
    ]
    rows = tf.reshape(batch, [-1, sizes[2]])
    return tf.reshape(tf.matmul(rows, matrix, adjoint_b=adj_y), shape)


def matrix_times_batch(
    matrix: Any, batch: Any, adj_x: bool = False, adj_y: bool = False
) -> tf.Tensor:
    """The products of one matrix with a batch of matrices."""
    flipped = batch_times_matrix(batch=batch, matrix=matrix, adj_x=not adj_y, adj_y=not adj_x)
    return tf.transpose(flipped, [0, 2, 1])


def make_toeplitz_matrix(inputs: Any, name: str | None = None) -> tf.Tensor:
    """A symmetric matrix of blocks; block (i, j) is `inputs[|i - j|]`."""
    inputs = tf.convert_to_tensor(inputs)
    count, size = tf.shape(inputs)[0], tf.shape(inputs)[1]
    places = tf.reshape(tf.range(count), [1, -1])
    blocks = tf.gather(inputs, tf.abs(places - tf.transpose(places)))
    flat = tf.reshape(tf.transpose(blocks, [0, 2, 1, 3]), [size * count, size * count])
    return tf.identity(flat, name=name)
