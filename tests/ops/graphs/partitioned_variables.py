"""Variables in several parts: how they are split, named, joined and updated."""

from __future__ import annotations

from typing import Any

from tests.ops.graphs.snapshot import error_of


def _zeros(tf: Any) -> Any:
    return tf.zeros_initializer()


def partitions(tf: Any) -> Any:
    made = []
    with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(3)) as scope:
        w = tf.get_variable("w", [7, 2], initializer=_zeros(tf))
        made += [w.name, list(w), w.get_shape(), w.dtype.name, len(w), w._get_partitions()]
        made += [[list(part._get_save_slice_info().var_offset) for part in w]]
        made += [tf.get_variable("scalar", [], initializer=_zeros(tf))]
        made += [tf.identity(w), w.as_tensor(), tf.convert_to_tensor(w)]
        scope.reuse_variables()
        made += [tf.get_variable("w", [7, 2]) is w]
        made += [error_of(lambda: tf.get_variable("w", [8, 2]))]
        made += [error_of(lambda: tf.get_variable("missing", [8, 2]))]
    with tf.variable_scope("s", reuse=True):
        made += [error_of(lambda: tf.get_variable("w", [7, 2]))]
    return made


def partitions_by_initial_value(tf: Any) -> Any:
    by_two = tf.fixed_size_partitioner(2)
    value = tf.constant([1.0, 2.0, 3.0])
    made = [tf.get_variable("tensor", initializer=value, partitioner=by_two)]
    made += [tf.get_variable("random", [4, 2], partitioner=by_two)]
    made += [error_of(lambda: tf.get_variable("list", initializer=[1.0], partitioner=by_two))]
    made += [
        tf.get_variable("r", [5], initializer=_zeros(tf), partitioner=by_two, use_resource=True)
    ]
    made += [
        tf.get_variable(
            "one", [5], initializer=_zeros(tf), partitioner=tf.fixed_size_partitioner(1)
        )
    ]
    return [(w.name, list(w)) if hasattr(w, "as_tensor") else w for w in made]


def partitions_with_getters(tf: Any) -> Any:
    seen = []

    def getter(getter, name, *args, **kwargs):
        seen.append((name, kwargs["partitioner"] is not None))
        return getter(name, *args, **kwargs)

    with tf.variable_scope(
        "s", partitioner=tf.fixed_size_partitioner(2), custom_getter=getter
    ) as scope:
        w = tf.get_variable("w", [4], initializer=_zeros(tf), collections=["mine"])
        scope.set_partitioner(tf.fixed_size_partitioner(2, axis=1))
        v = tf.get_variable("v", [2, 3], initializer=_zeros(tf), trainable=False)
    return [list(w), list(v), v.as_tensor(), seen, [part.trainable for part in v]]


def partitioned_updates(tf: Any) -> Any:
    w = tf.get_variable(
        "w", [4, 2], initializer=_zeros(tf), partitioner=tf.fixed_size_partitioner(2)
    )
    value = tf.ones([4, 2])
    return [
        w.assign(value),
        w.assign_add(value, use_locking=True),
        w.assign_sub(value),
        error_of(lambda: w + 1.0),
        error_of(lambda: tf.get_variable("bad", [4], partitioner=lambda **kwargs: [2, 2])),
        error_of(lambda: tf.get_variable("worse", [4, 4], partitioner=lambda **kwargs: [2, 2])),
        error_of(lambda: tf.get_variable("none", [4], partitioner=lambda **kwargs: None)),
    ]


def listed_slices(tf: Any) -> Any:
    made = [
        tf.create_partitioned_variables([4, 6], [1, 3], _zeros(tf), name="by_columns"),
        tf.create_partitioned_variables([5], [2], _zeros(tf), trainable=False, dtype=tf.int32),
        tf.create_partitioned_variables([4, 6], [1, 1], tf.random_uniform_initializer()),
        tf.create_partitioned_variables([3], [3], tf.constant([1.0, 2.0, 3.0]), name="tensor"),
    ]
    made += [tf.create_partitioned_variables([4, 6], [1, 3], _zeros(tf), name="s", reuse=False)]
    made += [tf.create_partitioned_variables([4, 6], [1, 3], _zeros(tf), name="s", reuse=True)]
    made += [
        error_of(lambda: tf.create_partitioned_variables([4, 6], [2, 3], _zeros(tf))),
        error_of(lambda: tf.create_partitioned_variables([4, 6], [5, 1], _zeros(tf))),
        error_of(lambda: tf.create_partitioned_variables([4, 6], [2], _zeros(tf))),
        error_of(lambda: tf.create_partitioned_variables([4, 6], [0, 1], _zeros(tf))),
    ]
    return made


def partitioners(tf: Any) -> Any:
    float32, string = tf.float32, tf.string

    def of(partitioner, shape, dtype=float32):
        return partitioner(shape=tf.TensorShape(shape), dtype=dtype)

    by_axis = tf.variable_axis_size_partitioner
    by_range = tf.min_max_variable_partitioner
    return [
        of(tf.fixed_size_partitioner(3), [8, 2]),
        of(tf.fixed_size_partitioner(3, axis=1), [8, 5]),
        of(tf.fixed_size_partitioner(9), [4]),
        of(by_axis(64), [32, 8]),
        of(by_axis(1024, axis=1), [4, 1024, 3]),
        of(by_axis(64, max_shards=3), [32, 8]),
        of(by_axis(1, max_shards=None), [4, 4]),
        of(by_axis(128, bytes_per_string_element=8), [32, 2], string),
        error_of(lambda: by_axis(0)),
        error_of(lambda: by_axis(4, max_shards=0)),
        error_of(lambda: by_axis(4, bytes_per_string_element=0)),
        of(by_range(10, min_slice_size=64), [64, 4]),
        of(by_range(3, min_slice_size=64), [64, 4]),
        of(by_range(10, axis=1, min_slice_size=64), [64, 4]),
        of(by_range(5), [1 << 20]),
        of(by_range(5, min_slice_size=1), [2, 3], string),
        error_of(lambda: of(by_range(5, axis=3), [2, 3])),
        error_of(lambda: of(by_axis(5), [None, 3])),
    ]


def embedded_in_expressions(tf: Any) -> Any:
    w = tf.get_variable(
        "w", [4, 2], initializer=_zeros(tf), partitioner=tf.fixed_size_partitioner(2)
    )
    return [tf.matmul(tf.ones([1, 4]), w), tf.ones([4, 2]) + w]
