"""The nodes of functions on sparse tensors, and of their gradients."""

from __future__ import annotations

from typing import Any


def _matrix(tf: Any, dtype: Any = None) -> Any:
    values = tf.placeholder(tf.float32 if dtype is None else dtype, [3], name="values")
    return tf.SparseTensor([[0, 1], [1, 0], [1, 2]], values, [2, 3])


def _parts(sparse: Any) -> list[Any]:
    return [sparse.indices, sparse.values, sparse.dense_shape, str(sparse.get_shape())]


def placeholders(tf: Any) -> Any:
    return [
        _parts(tf.sparse_placeholder(tf.float32)),
        _parts(tf.sparse_placeholder(tf.float32, [None, 3], name="partly")),
        _parts(tf.sparse.placeholder(tf.int32, [2, 3], name="fully")),
    ]


def dense_and_back(tf: Any) -> Any:
    x = _matrix(tf)
    ids = tf.SparseTensor([[0, 0], [1, 0]], [2, 1], [2, 1])
    return [
        tf.sparse_tensor_to_dense(x),
        tf.sparse.to_dense(x, default_value=-1.0, validate_indices=False, name="dense"),
        tf.sparse_to_indicator(ids, 4),
        _parts(tf.sparse_merge(ids, tf.SparseTensor(ids.indices, [0.5, 0.25], [2, 1]), 4)),
        _parts(tf.sparse.from_dense(tf.constant([[0, 1], [2, 0]]))),
        _parts(tf.sparse.eye(3)),
        _parts(tf.sparse.eye(2, 4, dtype=tf.int32, name="eyes")),
    ]


def rearranged(tf: Any) -> Any:
    x = _matrix(tf)
    unknown = tf.sparse_placeholder(tf.float32, name="unknown")
    return [
        _parts(tf.sparse_reorder(x)),
        _parts(tf.sparse_reorder(unknown, name="ordered")),
        _parts(tf.sparse_reshape(x, [3, -1])),
        _parts(tf.sparse_reshape(unknown, [3, -1], name="reshaped")),
        _parts(tf.sparse_transpose(x)),
        _parts(tf.sparse_transpose(x, [1, 0], name="turned")),
        _parts(tf.sparse_slice(x, [0, 0], [1, 2])),
        _parts(tf.sparse_retain(x, [True, False, True])),
        _parts(tf.sparse_reset_shape(x))[:3],
        _parts(tf.sparse_reset_shape(x, [4, 4])),
        _parts(tf.sparse_concat(1, [x, x])),
        _parts(tf.sparse_concat(0, [x, unknown], name="joined")),
        _parts(tf.sparse_concat(0, [x, x], expand_nonconcat_dim=True)),
        [_parts(part) for part in tf.sparse_split(sp_input=x, num_split=2, axis=1)],
        _parts(tf.sparse.expand_dims(x, 0))[:3],
        _parts(tf.sparse_fill_empty_rows(x, 1.0)[0]),
    ]


def arithmetic(tf: Any) -> Any:
    x = _matrix(tf)
    y = tf.constant([[1.0, 2.0, 3.0]])
    return [
        _parts(tf.sparse_add(x, x)),
        tf.sparse_add(x, tf.ones([2, 3])),
        tf.sparse.add(tf.ones([2, 3]), x),
        _parts(tf.sparse_maximum(x, x)),
        _parts(tf.sparse_minimum(x, x, name="least")),
        _parts(tf.sparse_softmax(x)),
        _parts(x * y),
        _parts(y * x),
        _parts(x / y),
        _parts(x * 2.0),
        _parts(tf.SparseTensor([[0]], [4], [2]) / 3),
        _parts(tf.cast(x, tf.float64)),
        tf.sparse_tensor_dense_matmul(x, tf.ones([3, 2])),
        tf.sparse.matmul(x, tf.ones([2, 2]), adjoint_a=True, name="product"),
    ]


def reductions(tf: Any) -> Any:
    x = _matrix(tf)
    unknown = tf.sparse_placeholder(tf.float32, name="unknown")
    return [
        tf.sparse_reduce_sum(x),
        tf.sparse_reduce_sum(x, 1, keepdims=True),
        tf.sparse_reduce_sum(unknown),
        tf.sparse_reduce_max(x, [0, 1]),
        tf.sparse_reduce_max(x, reduction_axes=[-1], keep_dims=True),
        _parts(tf.sparse_reduce_sum_sparse(x, 0)),
        _parts(tf.sparse_reduce_max_sparse(x)),
    ]


def packed(tf: Any) -> Any:
    x = _matrix(tf)
    one, many = tf.serialize_sparse(x), tf.serialize_many_sparse(x, name="packed")
    return [one, many, _parts(tf.deserialize_many_sparse(many, tf.float32, rank=2))]


def crossed(tf: Any) -> Any:
    words = tf.SparseTensor([[0, 0], [1, 0]], ["a", "b"], [2, 1])
    numbers = tf.constant([[1], [2]])
    return [
        _parts(tf.sparse.cross([words, numbers])),
        _parts(tf.sparse.cross_hashed([numbers, words], num_buckets=10)),
        _parts(tf.sparse.cross_hashed([words], hash_key=3, name="hashed")),
    ]


def sets_and_distances(tf: Any) -> Any:
    dense = tf.constant([[1, 2], [3, 3]])
    sparse = tf.SparseTensor([[0, 0], [1, 0]], [2, 3], [2, 1])
    return [
        _parts(tf.sets.union(dense, dense)),
        _parts(tf.sets.set_intersection(dense, sparse)),
        _parts(tf.sets.difference(sparse, dense)),
        _parts(tf.sets.difference(sparse, sparse, aminusb=False)),
        tf.sets.size(sparse),
        tf.edit_distance(sparse, sparse),
        tf.edit_distance(sparse, sparse, normalize=False, name="distance"),
    ]


def gradients(tf: Any) -> Any:
    x = _matrix(tf)
    y = tf.Variable(tf.ones([2, 3]), name="y")
    ys = [
        tf.sparse_add(x, x).values,
        tf.sparse_add(x, y),
        (x * y).values,
        (x / y).values,
        tf.sparse_softmax(x).values,
        tf.sparse_reduce_sum(x, 1),
        tf.sparse_reorder(x).values,
        tf.sparse_slice(x, [0, 0], [1, 2]).values,
        tf.sparse_fill_empty_rows(x, 1.0)[0].values,
        tf.sparse_tensor_dense_matmul(x, y, adjoint_b=True),
        tf.sparse_tensor_to_dense(x),
    ]
    return [tf.gradients(each, [x.values, y], name=f"grad_{i}") for i, each in enumerate(ys)]


def embeddings(tf: Any) -> Any:
    table = tf.get_variable("table", [5, 2], use_resource=False)
    parts = [tf.get_variable(f"part_{i}", [3, 2], use_resource=True) for i in range(2)]
    ids = tf.sparse_placeholder(tf.int64, [None, None], name="ids")
    weights = tf.sparse_placeholder(tf.float32, [None, None], name="weights")
    cube = tf.sparse_placeholder(tf.int64, [2, None, 3], name="cube")
    one = tf.nn.embedding_lookup_sparse(table, ids, None)
    grad = tf.gradients(one, table)[0]
    return [
        one,
        grad.values,
        grad.indices,
        tf.nn.safe_embedding_lookup_sparse(table, ids),
        tf.nn.safe_embedding_lookup_sparse(table, ids, weights, default_id=2, combiner="sum"),
        tf.nn.safe_embedding_lookup_sparse(parts, ids, weights, name="safe"),
        tf.nn.safe_embedding_lookup_sparse([table], cube),
    ]
