"""Programs with feature columns, for Penstock and for TensorFlow alike."""

from __future__ import annotations

from typing import Any

import numpy as np


def ids(tf: Any) -> Any:
    return tf.SparseTensor(
        np.array([[0, 0], [1, 0], [1, 1]], np.int64), np.array([2, 0, 1], np.int64), [3, 2]
    )


def weights(tf: Any) -> Any:
    return tf.SparseTensor(
        np.array([[0, 0], [1, 0], [1, 1]], np.int64), np.array([0.5, 1.0, 2.0], np.float32), [3, 2]
    )


def words(tf: Any) -> Any:
    return tf.constant([["a", "b"], ["", "c"], ["q", "a"]])


def numeric_and_buckets(tf: Any) -> Any:
    fc = tf.feature_column
    number = fc.numeric_column("n", shape=(2,), normalizer_fn=lambda x: x * 2)
    columns = [number, fc.bucketized_column(number, [0.0, 3.0])]
    return fc.input_layer({"n": tf.constant([[1.0, -1.0], [2.0, 0.0]])}, columns)


def embedding(tf: Any) -> Any:
    fc = tf.feature_column
    column = fc.embedding_column(fc.categorical_column_with_identity("k", 3, 0), 2)
    return fc.input_layer({"k": ids(tf)}, [column])


def weighted_embedding(tf: Any) -> Any:
    fc = tf.feature_column
    weighted = fc.weighted_categorical_column(fc.categorical_column_with_identity("k", 3, 0), "w")
    column = fc.embedding_column(weighted, 2, combiner="sqrtn", max_norm=0.3)
    return fc.input_layer({"k": ids(tf), "w": weights(tf)}, [column])


def weighted_indicator(tf: Any) -> Any:
    fc = tf.feature_column
    weighted = fc.weighted_categorical_column(fc.categorical_column_with_identity("k", 3, 0), "w")
    return fc.input_layer({"k": ids(tf), "w": weights(tf)}, [fc.indicator_column(weighted)])


def shared_embeddings(tf: Any) -> Any:
    fc = tf.feature_column
    columns = [fc.categorical_column_with_identity(key, 3, 0) for key in ("b", "a")]
    shared = fc.shared_embedding_columns(columns, 2)
    return fc.input_layer({"a": ids(tf), "b": ids(tf)}, shared)


def hashed(tf: Any) -> Any:
    fc = tf.feature_column
    strings = fc.categorical_column_with_hash_bucket("s", 5)
    numbers = fc.categorical_column_with_hash_bucket("i", 5, tf.int64)
    features = {"s": words(tf), "i": tf.constant([[1, 2], [-1, 3], [4, 4]])}
    return fc.input_layer(features, [fc.indicator_column(strings), fc.indicator_column(numbers)])


def crossed(tf: Any) -> Any:
    fc = tf.feature_column
    buckets = fc.bucketized_column(fc.numeric_column("n"), [2.0])
    column = fc.indicator_column(fc.crossed_column(["s", buckets], 7))
    return fc.input_layer({"s": words(tf), "n": tf.constant([1.0, 5.0, 0.0])}, [column])


def vocabulary(tf: Any) -> Any:
    fc = tf.feature_column
    default = fc.categorical_column_with_vocabulary_list("s", ["a", "b"], default_value=1)
    others = fc.categorical_column_with_vocabulary_list("t", ["a", "b"], num_oov_buckets=2)
    columns = [fc.indicator_column(default), fc.indicator_column(others)]
    return fc.input_layer({"s": words(tf), "t": words(tf)}, columns)


def identity_with_default(tf: Any) -> Any:
    fc = tf.feature_column
    column = fc.categorical_column_with_identity("k", 3, default_value=0)
    features = {"k": tf.constant([[1, 7], [-1, 2]], tf.int64)}
    return fc.input_layer(features, [fc.indicator_column(column)])


def linear(tf: Any) -> Any:
    fc = tf.feature_column
    number = fc.numeric_column("n")
    columns = [
        number,
        fc.bucketized_column(number, [1.5]),
        fc.categorical_column_with_vocabulary_list("s", ["a", "b", "c"]),
        fc.weighted_categorical_column(fc.categorical_column_with_identity("k", 3, 0), "w"),
    ]
    features = {
        "n": tf.constant([1.0, 2.0, 3.0]),
        "s": words(tf),
        "k": ids(tf),
        "w": weights(tf),
    }
    with tf.variable_scope("model", initializer=tf.ones_initializer()):
        sums = fc.linear_model(features, columns, units=2, sparse_combiner="mean")
    loss = tf.reduce_sum(tf.square(sums - 1.0))
    step = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
    with tf.control_dependencies([step]):
        return tf.identity(sums), tf.identity(loss)


def two_linear_models(tf: Any) -> Any:
    fc = tf.feature_column
    features = {"n": tf.constant([1.0, 2.0])}
    first = fc.linear_model(features, [fc.numeric_column("n")])
    second = fc.linear_model(features, [fc.numeric_column("n")])
    return first, second


def unknown_rank(tf: Any) -> Any:
    fc = tf.feature_column
    given = tf.placeholder_with_default([1.0, 2.0], shape=None)
    return fc.input_layer({"n": given}, [fc.numeric_column("n")])


SCENARIOS = {
    each.__name__: each
    for each in (
        numeric_and_buckets,
        embedding,
        weighted_embedding,
        weighted_indicator,
        shared_embeddings,
        hashed,
        crossed,
        vocabulary,
        identity_with_default,
        linear,
        two_linear_models,
        unknown_rank,
    )
}


def results(tf: Any, build: Any) -> dict[str, Any]:
    """The variables, the names of nodes and the values of a scenario."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(7)
        outputs = build(tf)
        nodes = [[op.type, op.name] for op in graph.get_operations()]
        variables = [[each.name, each.shape.as_list()] for each in tf.global_variables()]
        model = [each.name for each in tf.get_collection("model_variables")]
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.tables_initializer()])
            found = session.run([outputs] if not isinstance(outputs, tuple) else list(outputs))
    return {
        "variables": variables,
        "model": model,
        "nodes": nodes,
        "values": [np.asarray(value).tolist() for value in found],
    }
