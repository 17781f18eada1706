"""The nodes that initializers make."""

from __future__ import annotations

from typing import Any

from tests.ops.graphs.snapshot import error_of


def constants(tf: Any) -> Any:
    shape = [2, 3]
    return [
        tf.zeros_initializer()(shape),
        tf.zeros_initializer(tf.int32)(shape),
        tf.zeros_initializer()(shape, dtype=tf.float64),
        tf.zeros_initializer()(shape, tf.string),
        tf.ones_initializer()(shape),
        tf.ones_initializer(dtype=tf.int64)([4]),
        tf.constant_initializer()(shape),
        tf.constant_initializer(3)([2]),
        tf.constant_initializer([1, 2, 3])([3], dtype=tf.int32),
        tf.constant_initializer([[1.0, 2.0]])([3, 2]),
        tf.constant_initializer([1.0, 2.0, 3.0, 4.0])([2, 2]),
        error_of(lambda: tf.constant_initializer([1.0, 2.0], verify_shape=True)([3])),
        error_of(lambda: tf.constant_initializer([1.0, 2.0])([3], verify_shape=True)),
        error_of(lambda: tf.constant_initializer([1.0, 2.0, 3.0, 4.0])([2])),
        error_of(lambda: tf.constant_initializer(tf.constant(1.0))),
        tf.zeros_initializer()([2000, 2]),
        tf.ones_initializer()([2000, 2]),
        tf.constant_initializer(True)([2], tf.bool),
        tf.zeros_initializer()(tf.TensorShape([2])),
        tf.ones_initializer()(tf.constant([2, 3])),
    ]


def distributions(tf: Any) -> Any:
    shape = [2, 3]
    return [
        tf.random_uniform_initializer()(shape),
        tf.random_uniform_initializer(-1.0, 2.0, seed=3)(shape),
        tf.random_uniform_initializer(0, 5, dtype=tf.int32)(shape),
        tf.random_uniform_initializer(0, dtype=tf.int32, maxval=3, seed=1)(shape),
        tf.random_normal_initializer()(shape),
        tf.random_normal_initializer(1.0, 0.5, seed=4)(shape, dtype=tf.float64),
        tf.truncated_normal_initializer()(shape),
        tf.truncated_normal_initializer(stddev=0.1, seed=5, dtype=tf.float16)(shape),
        error_of(lambda: tf.random_normal_initializer(dtype=tf.int32)),
        error_of(lambda: tf.truncated_normal_initializer(dtype=tf.int32)),
    ]


def with_a_graph_seed(tf: Any) -> Any:
    tf.set_random_seed(42)
    tf.get_variable("a", [2])
    tf.random_normal_initializer()([2])
    tf.random_normal_initializer(seed=7)([2])
    tf.get_variable("b", [2], initializer=tf.truncated_normal_initializer(seed=7))
    tf.get_variable("c", [2])


def scaled(tf: Any) -> Any:
    made = []
    for mode in ("fan_in", "fan_out", "fan_avg"):
        for distribution in ("normal", "uniform", "truncated_normal", "untruncated_normal"):
            make = tf.variance_scaling_initializer(2.0, mode, distribution, seed=1)
            made += [make([3, 4])]
    for shape in ([], [5], [3, 3, 8, 16]):
        made += [tf.variance_scaling_initializer()(shape)]
    made += [
        tf.glorot_uniform_initializer()([3, 4]),
        tf.glorot_normal_initializer(seed=2)([3, 4]),
        tf.initializers.lecun_normal()([3, 4]),
        tf.initializers.lecun_uniform(seed=3)([3, 4]),
        tf.initializers.he_normal()([3, 4]),
        tf.initializers.he_uniform(seed=3)([3, 4]),
        tf.glorot_uniform_initializer()([3, 4], tf.float64),
        error_of(lambda: tf.variance_scaling_initializer(scale=0.0)),
        error_of(lambda: tf.variance_scaling_initializer(mode="fan")),
        error_of(lambda: tf.variance_scaling_initializer(distribution="cauchy")),
        error_of(lambda: tf.variance_scaling_initializer(dtype=tf.int32)),
    ]
    return made


def unit_scaling(tf: Any) -> Any:
    return [
        tf.uniform_unit_scaling_initializer()([3, 4]),
        tf.uniform_unit_scaling_initializer(factor=1.43, seed=3)([3, 3, 8, 16]),
        tf.uniform_unit_scaling_initializer(dtype=tf.float64)([5]),
        tf.uniform_unit_scaling_initializer()([3, 4], dtype=tf.float64),
    ]


def identity_matrices(tf: Any) -> Any:
    return [
        tf.initializers.identity()([3, 3]),
        tf.initializers.identity(gain=2.0)([2, 3]),
        tf.initializers.identity(dtype=tf.float64)([3, 2]),
        error_of(lambda: tf.initializers.identity()([3])),
    ]


def configurations(tf: Any) -> Any:
    made = [
        tf.zeros_initializer(),
        tf.ones_initializer(tf.int32),
        tf.constant_initializer(2.0),
        tf.random_uniform_initializer(-1.0, 1.0, seed=1),
        tf.random_normal_initializer(stddev=0.5),
        tf.truncated_normal_initializer(stddev=0.5),
        tf.uniform_unit_scaling_initializer(),
        tf.variance_scaling_initializer(2.0),
        tf.initializers.identity(),
        tf.glorot_uniform_initializer(seed=1),
        tf.glorot_normal_initializer(),
        tf.initializers.he_normal(),
        tf.initializers.lecun_uniform(seed=2),
    ]
    return [
        (
            type(each).__name__,
            each.get_config(),
            type(each).from_config(each.get_config()).get_config(),
        )
        for each in made
    ]


def of_partitions(tf: Any) -> Any:
    def by(axis):
        return tf.fixed_size_partitioner(2, axis=axis)

    return [
        list(tf.get_variable("glorot", [4, 6], partitioner=by(0))),
        list(
            tf.get_variable(
                "scaled",
                [4, 6],
                partitioner=by(1),
                initializer=tf.uniform_unit_scaling_initializer(),
            )
        ),
        list(
            tf.get_variable(
                "identity", [4, 4], partitioner=by(0), initializer=tf.initializers.identity()
            )
        ),
        list(tf.get_variable("ones", [4], partitioner=by(0), initializer=tf.ones_initializer())),
    ]
