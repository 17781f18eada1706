"""Static shapes that hang on constants which only a kernel can compute: values of TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf

SIZES = [2, 3, 4]

# What TensorFlow 1.15 infers as the shape of tf.zeros(sizes).
SHAPES: dict[str, tuple[Callable[[], Any], list[int]]] = {
    "pow": (lambda: tf.pow(SIZES, 2), [4, 9, 16]),
    "reverse": (lambda: tf.reverse(SIZES, [0]), [4, 3, 2]),
    "split": (lambda: tf.split(SIZES, [1, 2])[1], [3, 4]),
    "setdiff1d": (lambda: tf.setdiff1d(SIZES, [3])[0], [2, 4]),
    "boolean_mask": (lambda: tf.boolean_mask(SIZES, [True, False, True]), [2, 4]),
    "unique": (lambda: tf.unique([2, 2, 3])[0], [2, 3]),
    "where": (lambda: tf.where(tf.equal(SIZES, 3))[:, 0], [1]),
    "gather_nd": (lambda: tf.gather_nd(SIZES, [[0], [2]]), [2, 4]),
    "reduce_mean": (lambda: tf.reduce_mean(SIZES, keepdims=True), [3]),
    "cast of exp": (lambda: tf.cast(tf.exp([2.0, 3.0]), tf.int32), [7, 20]),
    "strings": (lambda: tf.string_to_number(tf.string_split(["3 4"]).values, tf.int32), [3, 4]),
    "top_k": (lambda: tf.nn.top_k(SIZES, 2)[0], [4, 3]),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shape_of_computed_constants(name: str) -> None:
    sizes, expected = SHAPES[name]
    with tf.Graph().as_default():
        assert tf.zeros(sizes()).shape.as_list() == expected


def test_shape_in_a_parsed_constant() -> None:
    feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[7, 8]))
    example = tf.train.Example(features=tf.train.Features(feature={"x": feature}))
    with tf.Graph().as_default():
        parsed = tf.parse_single_example(
            tf.constant(example.SerializeToString()), {"x": tf.VarLenFeature(tf.int64)}
        )
        assert tf.sparse_tensor_to_dense(parsed["x"]).shape.as_list() == [2]


def test_what_may_change_is_not_computed() -> None:
    with tf.Graph().as_default():
        default = tf.placeholder_with_default([2, 3], [2])
        assert tf.zeros(tf.pow(default, 2)).shape.as_list() == [None, None]
        drawn = tf.random_uniform([2], 1, 5, tf.int32, seed=1)
        assert tf.zeros(drawn).shape.as_list() == [None, None]
        called = tf.py_func(lambda: np.int32([2, 3]), [], tf.int32)
        called.set_shape([2])
        assert tf.zeros(called).shape.as_list() == [None, None]


def test_a_long_chain_is_not_looked_through() -> None:
    with tf.Graph().as_default():
        size = tf.constant([2])
        for _ in range(600):
            size = tf.square(tf.sign(size))
        assert tf.zeros(size).shape.as_list() in ([1], [None])


def test_a_failing_computation_leaves_the_size_open() -> None:
    with tf.Graph().as_default():
        wrong = tf.string_to_number(["two"], tf.int32)
        zeros = tf.zeros(wrong)
        assert zeros.shape.as_list() == [None]
        with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="two"):
            sess.run(zeros)


def test_python_does_not_look_that_far() -> None:
    with tf.Graph().as_default():
        assert tf.get_static_value(tf.pow([2, 3], 2)) is None
        assert tf.contrib.util.constant_value(tf.pow([2, 3], 2)) is None
