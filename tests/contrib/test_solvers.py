"""`tf.contrib.solvers` next to NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf

solvers = tf.contrib.solvers

DRAW = np.random.default_rng(0)
TALL = DRAW.normal(size=[8, 5])
RIGHT = DRAW.normal(size=[8])


@pytest.mark.parametrize("static", [False, True])
def test_least_squares(static: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        matrix = tf.placeholder(tf.float64, [8, 5] if static else None)
        matrix.set_shape([None, None])
        operator = solvers.util.create_operator(matrix)
        found = solvers.least_squares.cgls(operator, tf.constant(RIGHT), tol=1e-10, max_iter=30)
        found = session.run(found, {matrix: TALL})
    np.testing.assert_allclose(found.x, np.linalg.lstsq(TALL, RIGHT, rcond=None)[0], rtol=1e-6)
    np.testing.assert_allclose(found.r, RIGHT - TALL @ found.x, atol=1e-8)
    assert 0 < found.i <= 30


@pytest.mark.parametrize("start", [False, True])
@pytest.mark.parametrize("preconditioned", [False, True])
def test_equations(start: bool, preconditioned: bool) -> None:
    definite = TALL.T @ TALL + np.diag([1.0, 10.0, 100.0, 1.0, 1.0])
    right = RIGHT[:5]
    with tf.Graph().as_default(), tf.Session() as session:
        operator = solvers.util.create_operator(tf.constant(definite))
        near = solvers.util.create_operator(tf.constant(np.diag(1 / np.diag(definite))))
        found = solvers.linear_equations.conjugate_gradient(
            operator,
            tf.constant(right),
            preconditioner=near if preconditioned else None,
            x=tf.ones([5], tf.float64) if start else None,
            tol=1e-10,
            max_iter=40,
        )
        found = session.run(found)
    np.testing.assert_allclose(found.x, np.linalg.solve(definite, right), rtol=1e-6)
    assert found.i < 40


def test_steps_are_counted_and_limited() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        operator = solvers.util.create_operator(tf.constant(TALL))
        found = solvers.least_squares.cgls(operator, tf.constant(RIGHT), tol=0.0, max_iter=3)
        assert session.run(found.i) == 3


def test_lengths() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        unit, length = session.run(solvers.util.l2normalize(tf.constant([3.0, 4.0])))
    np.testing.assert_allclose(unit, [0.6, 0.8], rtol=1e-6)
    assert length == pytest.approx(5.0)
