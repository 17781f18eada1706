"""Gradients of calls of functions in a graph: they use what the call has computed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


@tf.function
def scaled(x: Any) -> Any:
    return x * tf.random_uniform([])


def outer(x: Any) -> Any:
    return tf.function(lambda y: scaled(y) * 2.0)(x)


def in_cond(x: Any) -> Any:
    return tf.function(lambda y: tf.cond(y > 0.0, lambda: scaled(y), lambda: y))(x)


def in_loop(x: Any) -> Any:
    def loop(y: Any) -> Any:
        return tf.while_loop(lambda i, _: i < 3, lambda i, z: (i + 1, scaled(z)), [0, y])[1]

    return tf.function(loop)(x)


def in_loop_of_primitives(x: Any) -> Any:
    return tf.while_loop(lambda i, _: i < 3, lambda i, z: (i + 1, scaled(z)), [0, x])[1]


@pytest.mark.parametrize("call", [scaled, outer, in_cond, in_loop, in_loop_of_primitives])
def test_random_numbers_are_those_of_the_call(call: Any) -> None:
    x = tf.constant(1.0)
    y = call(x)
    (slope,) = tf.gradients(y, x)
    with tf.Session() as session:
        for _ in range(3):
            value, found = session.run([y, slope])
            assert value > 0.0
            np.testing.assert_allclose(found, value, rtol=1e-6)


def test_state_changes_once() -> None:
    v = tf.get_variable("v", initializer=0.0, use_resource=True)

    @tf.function
    def counted(x: Any) -> Any:
        v.assign_add(1.0)
        return x * x * v

    x = tf.constant(3.0)
    y = counted(x)
    (slope,) = tf.gradients(y, x)
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run([y, slope]) == [9.0, 6.0]
        assert session.run([slope, v.read_value()])[0] == 12.0
        assert session.run(v) == 2.0


def test_a_call_that_has_run_before_gets_a_gradient() -> None:
    x = tf.placeholder(tf.float32, [])
    y = tf.function(lambda x: tf.exp(tf.sin(x)))(x)
    with tf.Session() as session:
        before = session.run(y, {x: 0.5})
        first = tf.gradients(y, x)[0]
        second = tf.gradients(first, x)[0]
        found = session.run([y, first, second], {x: 0.5})
    sine, cosine = np.sin(0.5), np.cos(0.5)
    wanted = [before, before * cosine, before * (cosine**2 - sine)]
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_rows_of_a_variable_have_sparse_gradients() -> None:
    table = tf.get_variable("table", initializer=np.ones([3, 2], np.float32), use_resource=True)
    total = tf.function(lambda rows: tf.reduce_sum(tf.gather(table, rows)))(tf.constant([2, 2]))
    (gradient,) = tf.gradients(total, table)
    assert isinstance(gradient, tf.IndexedSlices)
    with tf.Session() as session:
        session.run(table.initializer)
        found = session.run(gradient)
    assert found.indices.tolist() == [2, 2] and found.values.tolist() == [[1.0, 1.0]] * 2


def test_what_a_result_does_not_depend_on() -> None:
    a, b = tf.constant(1.0), tf.constant(2.0)
    first, _ = tf.function(lambda a, b: (a * 2.0, b * 3.0))(a, b)
    by_a, by_b = tf.gradients(first, [a, b])
    assert tf.gradients(tf.function(lambda a, b: a * 2.0)(a, b), [a, b])[1] is None
    with tf.Session() as session:
        assert session.run([by_a, by_b]) == [2.0, 0.0]


def test_the_graph_is_one_that_other_runtimes_know(graph: Any) -> None:
    """TensorFlow differentiates no conditionals and variables by SymbolicGradient."""
    v = tf.get_variable("v", initializer=5.0, use_resource=True)
    x = tf.placeholder(tf.float32, [])
    y = tf.function(lambda x: tf.cond(x > 0.0, lambda: x * v, lambda: x))(x)
    found = tf.gradients(y, [x, v])
    assert "SymbolicGradient" not in {op.type for op in graph.get_operations()}
    definition = graph.as_graph_def()
    with tf.Graph().as_default(), tf.Session() as session:
        names = [tensor.name for tensor in (x, y, *found)]
        again = tf.import_graph_def(definition, name="", return_elements=names) or []
        session.run("v/Assign")
        assert session.run(again[1:], {again[0]: 2.0}) == [10.0, 5.0, 2.0]
