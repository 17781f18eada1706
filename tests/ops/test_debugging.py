"""Assertions and printing as a user sees them."""

import numpy as np
import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_assert_shows_its_data(session):
    x = tf.placeholder(tf.float32, [3])
    check = tf.Assert(tf.reduce_all(x > 0), [x, "is not positive", tf.shape(x)], summarize=2)
    assert session.run(check, {x: [1, 2, 3]}) is None
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        session.run(check, {x: [1, -2, 3.5]})
    assert r"assertion failed: [1 -2...] [is not positive] [3]" in str(error.value)
    assert "made at test_debugging.py" in str(error.value)


def test_nodes_wait_for_an_assertion(session):
    x = tf.placeholder(tf.int32, [])
    with tf.control_dependencies([tf.Assert(x > 0, [x])]):
        y = x + 1
    assert session.run(y, {x: 1}) == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"assertion failed: \[-1\]"):
        session.run(y, {x: -1})


def test_print_writes_to_standard_error(session, capfd):
    x = tf.constant([[1.5, 2.0], [3.0, 4.0]])
    y = tf.Print(x, [x, "text", True, 1e-9, np.float64(1 / 3)], message="seen: ", summarize=10)
    assert session.run(y).tolist() == [[1.5, 2.0], [3.0, 4.0]]
    assert capfd.readouterr().err == ("seen: [[1.5 2][3 4]][text][1][1e-09][0.33333333333333331]\n")


def test_print_shows_only_the_rows_it_reaches(session, capfd):
    rows, cube = tf.zeros([1000, 3]), tf.constant(np.arange(8.0).reshape(2, 2, 2))
    session.run(tf.Print(tf.constant(0.0), [rows, cube, tf.zeros([0, 2])], summarize=5))
    assert capfd.readouterr().err == "[[0 0 0][0 0...]...][[[0 1][2 3]][[4...]]...][]\n"


def test_print_the_first_times_only(session, capfd):
    y = tf.Print(tf.constant(1.0), [tf.constant(7)], first_n=2)
    for _ in range(4):
        session.run(y)
    assert capfd.readouterr().err == "[7]\n[7]\n"


def test_print_has_the_gradient_of_its_input(session, capfd):
    x = tf.constant([1.0, 2.0])
    (gradient,) = tf.gradients(tf.Print(x * 3.0, [x]), x)
    assert session.run(gradient).tolist() == [3.0, 3.0]
