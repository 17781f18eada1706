"""A constant that waits for an update makes what takes it wait, even where that is left out."""

from collections.abc import Iterator

import numpy as np
import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


def _power_iteration(matrix: tf.Variable, vector: tf.Variable, shaped: str) -> tf.Tensor:
    """A step that updates a vector; the matrix comes through a node that changes nothing."""
    flat = {
        "reshape": lambda: tf.reshape(matrix, [-1, 2]),
        "reshapes": lambda: tf.reshape(tf.reshape(matrix, [4]), [2, 2]),
        "slice": lambda: tf.slice(matrix, [0, 0], [2, 2]),
        "itself": lambda: matrix,
    }[shaped]()
    product = tf.matmul(flat, vector)
    with tf.control_dependencies([vector.assign(product)]):
        return tf.identity(product)


@pytest.mark.parametrize("shaped", ["reshape", "reshapes", "slice", "itself"])
def test_the_second_of_two_calls_sees_the_update_of_the_first(shaped: str) -> None:
    matrix, vector = tf.Variable([[1.0, 2.0], [3.0, 4.0]]), tf.Variable([[1.0], [1.0]])
    first = _power_iteration(matrix, vector, shaped)
    with tf.control_dependencies([first]):
        second = _power_iteration(matrix, vector, shaped)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        once, twice = session.run([first, second])
    np.testing.assert_array_equal(once, [[3.0], [7.0]])
    np.testing.assert_array_equal(twice, [[17.0], [37.0]])


def test_a_fetched_node_that_changes_nothing() -> None:
    variable = tf.Variable([1.0, 2.0])
    with tf.control_dependencies([tf.assign_add(variable, [1.0, 1.0])]):
        shaped = tf.reshape(variable, [2])
    with tf.Session() as session:
        session.run(variable.initializer)
        assert session.run(shaped).tolist() == [2.0, 3.0]
