"""The nodes that tf.gradients adds."""

from __future__ import annotations

from typing import Any

from tests.ops.graphs.snapshot import error_of


def of_a_layer(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [4, 3], name="x")
    w = tf.Variable(tf.zeros([3, 2]), name="w")
    b = tf.Variable(tf.zeros([2]), name="b")
    y = tf.nn.relu(tf.matmul(x, w) + b, name="y")
    return tf.gradients(y, [w, b, x])


def of_unknown_batch(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.Variable(tf.zeros([3, 2]), name="w", use_resource=True)
    b = tf.Variable(tf.zeros([2]), name="b", use_resource=True)
    y = tf.reduce_mean(tf.square(tf.matmul(x, w) + b))
    return tf.gradients(y, [w, b])


def meeting(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0], name="x")
    y = tf.add_n([x * x, tf.exp(x), tf.sin(x)], name="y")
    return tf.gradients([y, x], [x])


def options(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0], name="x")
    z = tf.constant([3.0], name="z")
    y = tf.multiply(x, tf.stop_gradient(x), name="y")
    w = tf.tanh(y, name="w")
    return [
        tf.gradients(y, [x, z]),
        tf.gradients(w, [x], grad_ys=[tf.constant([0.5, 0.5])], name="weighted"),
        tf.gradients(w, [x], stop_gradients=[y]),
        tf.gradients(w, [x], colocate_gradients_with_ops=True, name="colocated"),
        tf.gradients(x * z, [x, z], gate_gradients=True, name="gated"),
        tf.gradients(x + tf.exp(x), x, aggregation_method=1, name="tree"),
        tf.gradients(w, [z], unconnected_gradients=tf.UnconnectedGradients.ZERO),
        tf.gradients(w, [y, x]),
        tf.gradients([], [x]),
    ]


def sparse(tf: Any) -> Any:
    table = tf.Variable(tf.zeros([5, 2]), name="table")
    other = tf.Variable(tf.zeros([5, 2]), name="other", use_resource=True)
    rows = tf.gather(table, [1, 3, 1])
    more = tf.nn.embedding_lookup(table, [[0], [4]])
    read = tf.nn.embedding_lookup(other, [2, 2])
    y = tf.reduce_sum(rows) + tf.reduce_sum(more * 2.0) + tf.reduce_sum(read)
    grads = tf.gradients(y, [table, other])
    return [[g.values, g.indices, g.dense_shape] for g in grads]


def mixed_sparse_and_dense(tf: Any) -> Any:
    table = tf.Variable(tf.zeros([5, 2]), name="table")
    y = tf.reduce_sum(tf.gather(table, [1])) + tf.reduce_sum(table)
    return tf.gradients(y, table)


def refused(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0], name="x")
    n = tf.constant([1, 2], name="n")
    c = tf.constant([1j], name="c")
    return [
        tf.gradients(tf.cast(n, tf.float32), n),
        error_of(lambda: tf.gradients(c, c)),
        error_of(lambda: tf.gradients(x, x, grad_ys=[1.0, 2.0])),
        error_of(lambda: tf.gradients(x, x, aggregation_method=77) if False else None),
        error_of(lambda: tf.gradients(tf.py_func(lambda a: a, [x], tf.float32), x)),
        tf.gradients(tf.argmax(x), x),
        tf.gradients(tf.floor(x), x),
    ]


def overridden(tf: Any) -> Any:
    graph = tf.get_default_graph()
    x = tf.constant([1.0], name="x")
    with graph.gradient_override_map({"Square": "Identity"}):
        y = tf.square(x, name="y")
    z = tf.square(y, name="z")
    return [
        tf.gradients(z, x),
        error_of(lambda: graph.gradient_override_map({"Square": 1}).__enter__()),
        error_of(lambda: graph.gradient_override_map(["Square"]).__enter__()),
    ]
