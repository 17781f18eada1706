"""The nodes of tf.map_fn, tf.scan and the folds, and of their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.graphs.snapshot import error_of


def maps(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [3, 2], name="x")
    y = tf.placeholder(tf.float32, name="y")
    squares = tf.map_fn(tf.square, x)
    several = tf.map_fn(
        lambda t: (t[0] + t[1], tf.cast(t[0], tf.int32)),
        (x, y),
        dtype=(tf.float32, tf.int32),
        parallel_iterations=2,
        swap_memory=True,
        name="several",
    )
    loose = tf.map_fn(lambda a: tf.zeros([4]), [1.0, 2.0] * np.ones([3, 2]), infer_shape=False)
    return [squares, several, loose, tf.gradients(squares, x)]


def mapped_variables(tf: Any) -> Any:
    def dense(row: Any) -> Any:
        with tf.variable_scope("dense"):
            w = tf.get_variable("w", [2, 3])
            return tf.matmul(tf.expand_dims(row, 0), w)

    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.map_fn(dense, x)
    return [y, tf.gradients(y, [x, *tf.global_variables()])]


def scans(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    known = tf.placeholder(tf.float32, [4], name="known")
    return [
        tf.scan(lambda a, b: a * b, x),
        tf.scan(lambda a, b: a + b, x, initializer=np.float32([1, 2]), name="from"),
        tf.scan(lambda a, b: a + b, known, reverse=True, infer_shape=False),
        tf.scan(lambda a, b: (a[0] + b["k"], a[1] * 2), {"k": known}, (0.0, 1), reverse=True),
        tf.gradients(tf.scan(lambda a, b: a * b, x), x),
    ]


def folds(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    known = tf.constant([1, 2, 3], name="known")
    array = np.float32([1, 2])
    return [
        tf.foldl(lambda a, b: a * b, x),
        tf.foldr(lambda a, b: a * b, x, name="right"),
        tf.foldl(lambda a, b: a + b, known, initializer=10),
        tf.foldr(lambda a, b: a + b, known, initializer=10),
        tf.foldl(lambda a, b: a + b[0] - b[1], (array, array), initializer=array[0]),
        tf.gradients(tf.foldl(lambda a, b: a * b, x), x),
        tf.gradients(tf.foldr(lambda a, b: a * b, x, back_prop=False), x),
    ]


def refused(tf: Any) -> Any:
    x = tf.constant([1, 2, 3])
    calls = [
        lambda: tf.map_fn(lambda a: a, tf.constant(1)),
        lambda: tf.map_fn(lambda a: a, [tf.constant(1), tf.constant(2)]),
        lambda: tf.map_fn(lambda a: (a, a), x, dtype=[tf.int32, tf.int32]),
        lambda: tf.map_fn(lambda a: (a, a), x),
        lambda: tf.map_fn(lambda a: a, x, dtype=(tf.int32, tf.int32)),
        lambda: tf.scan(lambda a, b: (a, b), x),
        lambda: tf.scan(lambda a, b: a, x, (1, 2)),
    ]
    return [error_of(call) for call in calls]
