"""Sparse tensors as users handle them: fed, fetched, operated on, refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf

INDICES = np.array([[0, 1], [1, 0], [1, 2]])
VALUES = np.array([1.0, 2.0, 3.0], np.float32)
DENSE = np.array([[0, 1, 0], [2, 0, 3]], np.float32)


@pytest.fixture
def sess() -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def _sparse() -> Any:
    return tf.SparseTensor(INDICES, VALUES, [2, 3])


def _value() -> Any:
    return tf.SparseTensorValue(INDICES, VALUES, [2, 3])


def _dense(sess: Any, sparse: Any) -> np.ndarray:
    result: np.ndarray = sess.run(tf.sparse_tensor_to_dense(sparse))
    return result


@pytest.mark.parametrize("shape", [None, [None, 3], [2, 3]], ids=str)
def test_feeding_a_placeholder(sess: Any, shape: Any) -> None:
    x = tf.sparse_placeholder(tf.float32, shape)
    dense, total = tf.sparse.to_dense(x), tf.sparse_reduce_sum(x)
    for fed in (_value(), tuple(_value()), sess.run(_sparse())):
        assert sess.run(dense, {x: fed}).tolist() == DENSE.tolist()
        assert sess.run(total, {x: fed}) == 6.0
    fetched = sess.run(x, {x: _value()})
    assert isinstance(fetched, tf.SparseTensorValue)
    assert fetched.values.tolist() == VALUES.tolist()


def test_a_placeholder_knows_its_shape() -> None:
    assert tf.sparse_placeholder(tf.float32, [None, 47]).get_shape().as_list() == [None, None]
    assert tf.sparse_placeholder(tf.float32, [10, 47]).shape.as_list() == [10, 47]
    assert tf.sparse_placeholder(tf.float32).get_shape().ndims is None


def test_operators(sess: Any) -> None:
    x, row = _sparse(), np.array([[1.0, 2.0, 4.0]], np.float32)
    assert _dense(sess, x * row).tolist() == (DENSE * row).tolist()
    assert _dense(sess, tf.constant(row) * x).tolist() == (DENSE * row).tolist()
    assert _dense(sess, x / row).tolist() == (DENSE / row).tolist()
    assert _dense(sess, x * 2.0).tolist() == (DENSE * 2).tolist()
    halves = tf.SparseTensor([[0]], [3], [2]) / 2
    assert halves.dtype == tf.float64
    assert _dense(sess, halves).tolist() == [1.5, 0.0]


def test_functions_take_values_for_tensors(sess: Any) -> None:
    assert _dense(sess, _value()).tolist() == DENSE.tolist()
    assert sess.run(tf.sparse_add(_value(), np.ones((2, 3), np.float32))).tolist() == (
        (DENSE + 1).tolist()
    )
    assert sess.run(
        tf.sparse_tensor_dense_matmul(_value(), np.eye(3, dtype=np.float32))
    ).tolist() == (DENSE.tolist())


def test_rearranging(sess: Any) -> None:
    x = _sparse()
    assert _dense(sess, tf.sparse_transpose(x)).tolist() == DENSE.T.tolist()
    assert _dense(sess, tf.sparse_reshape(x, [3, -1])).tolist() == DENSE.reshape(3, 2).tolist()
    assert _dense(sess, tf.sparse_slice(x, [1, 0], [5, 2])).tolist() == DENSE[1:, :2].tolist()
    assert _dense(sess, tf.sparse_concat(-1, [x, x])).tolist() == np.hstack([DENSE] * 2).tolist()
    parts = tf.sparse_split(sp_input=x, num_split=2, axis=1)
    assert [_dense(sess, part).tolist() for part in parts] == [
        DENSE[:, :2].tolist(),
        DENSE[:, 2:].tolist(),
    ]
    assert _dense(sess, tf.sparse.expand_dims(x, 1)).tolist() == DENSE[:, None].tolist()
    assert _dense(sess, tf.sparse_retain(x, [True, False, True])).sum() == 4.0
    assert _dense(sess, tf.sparse_reset_shape(x, [3, 4])).shape == (3, 4)
    assert _dense(sess, tf.sparse.from_dense(DENSE)).tolist() == DENSE.tolist()
    assert _dense(sess, tf.sparse.eye(2, 3)).tolist() == np.eye(2, 3).tolist()


def test_concat_may_expand_other_dimensions(sess: Any) -> None:
    narrow = tf.SparseTensor([[0, 0]], [5.0], [1, 1])
    joined = tf.sparse_concat(0, [_sparse(), narrow], expand_nonconcat_dim=True)
    assert _dense(sess, joined).tolist() == [*DENSE.tolist(), [5.0, 0.0, 0.0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Input shapes must match"):
        sess.run(tf.sparse_concat(0, [_sparse(), narrow]))


def test_indicator_and_merge(sess: Any) -> None:
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [3, 0, 2], [2, 2])
    assert sess.run(tf.sparse_to_indicator(ids, 4)).tolist() == [
        [True, False, False, True],
        [False, False, True, False],
    ]
    weights = tf.SparseTensor(ids.indices, [0.5, 1.0, 2.0], [2, 2])
    assert _dense(sess, tf.sparse_merge(ids, weights, 4)).tolist() == [
        [1.0, 0.0, 0.0, 0.5],
        [0.0, 0.0, 2.0, 0.0],
    ]


def test_map_values(sess: Any) -> None:
    x = _sparse()
    assert _dense(sess, tf.sparse.map_values(tf.add, x, 1.0)).sum() == 9.0
    assert _dense(sess, tf.sparse.map_values(tf.multiply, x, x)).sum() == 14.0
    with pytest.raises(ValueError, match="No SparseTensor"):
        tf.sparse.map_values(tf.add, 1, 2)


def test_round_trip_through_strings(sess: Any) -> None:
    packed = tf.serialize_many_sparse(_sparse())
    again = tf.deserialize_many_sparse(packed, tf.float32)
    assert _dense(sess, again).tolist() == DENSE.tolist()


def test_mistakes_are_refused() -> None:
    x = _sparse()
    with pytest.raises(TypeError, match="must be a SparseTensor"):
        tf.sparse_reorder(tf.constant([1.0]))
    with pytest.raises(TypeError, match="At least one input should be SparseTensor"):
        tf.sparse_add([1.0], [2.0])
    with pytest.raises(ValueError, match="Keyword arguments are required"):
        tf.sparse_split(1, x, 2)
    with pytest.raises(ValueError, match="At most one dimension can be inferred"):
        tf.sparse_reshape(x, [-1, -1])
    with pytest.raises(ValueError, match="Cannot reshape a tensor with 6 elements"):
        tf.sparse_reshape(x, [4, 2])
    with pytest.raises(ValueError, match="Cannot specify both"):
        tf.sparse_concat(1, [x, x], concat_dim=1)
    with pytest.raises(ValueError, match="dimension sizes >= sp_input.shape"):
        tf.sparse_reset_shape(x, [1, 3])
    with pytest.raises(TypeError, match="Hypothesis must be a SparseTensor"):
        tf.edit_distance([1], x)
    with pytest.raises(TypeError, match="Types don't match"):
        tf.sets.union(tf.constant([[1]]), tf.constant([["a"]]))


def test_the_gradient_of_a_product_reaches_both_sides(sess: Any) -> None:
    values, matrix = tf.constant(VALUES), tf.constant(np.ones((3, 2), np.float32))
    product = tf.sparse_tensor_dense_matmul(tf.SparseTensor(INDICES, values, [2, 3]), matrix)
    by_values, by_matrix = sess.run(tf.gradients(product, [values, matrix]))
    assert by_values.tolist() == [2.0, 2.0, 2.0]
    assert by_matrix.tolist() == (DENSE.T @ np.ones((2, 2))).tolist()


def test_safe_embedding_lookup(sess: Any) -> None:
    """Negative ids and ids of no weight are left out; rows without ids are zero."""
    table = tf.constant(np.arange(8.0).reshape(4, 2), tf.float32)
    places = [[0, 0], [0, 1], [1, 0], [3, 0], [3, 1]]
    ids = tf.SparseTensor(places, tf.constant([1, -1, -1, 2, 3], tf.int64), [4, 2])
    weights = tf.SparseTensor(places, [1.0, 2.0, 1.0, 1.0, 0.0], [4, 2])
    plain = tf.nn.safe_embedding_lookup_sparse(table, ids)
    assert sess.run(plain).tolist() == [[2, 3], [0, 0], [0, 0], [5, 6]]
    weighted = tf.nn.safe_embedding_lookup_sparse(table, ids, weights, default_id=3)
    assert sess.run(weighted).tolist() == [[2, 3], [6, 7], [6, 7], [4, 5]]


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "float32"])
def test_sparse_reductions_keep_the_type(dtype: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        values = tf.constant([1, 2, 3], dtype)
        sparse = tf.SparseTensor([[0, 0], [0, 1], [1, 1]], values, [2, 2])
        for reduce in (tf.sparse_reduce_sum_sparse, tf.sparse_reduce_max_sparse):
            assert session.run(reduce(sparse, axis=1)).values.dtype == dtype
