"""Training under constraints: projections, choices among candidates, and whole games."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.contrib import constrained_optimization as co
from penstock.contrib.constrained_optimization import regret


def _value(tensor):
    with tf.Session() as sess:
        return sess.run(tensor)


def test_projections():
    multipliers = regret._project_multipliers_wrt_euclidean_norm(
        tf.constant([0.5, 0.6, -0.3, 0.9]), 1.0
    )
    np.testing.assert_allclose(_value(multipliers), [1 / 6, 4 / 15, 0, 17 / 30], rtol=1e-5)
    matrix = regret._project_stochastic_matrix_wrt_euclidean_norm(
        tf.constant([[0.6, -0.2, 0.7], [0.5, 2.0, 0.1], [0.3, 0.3, 0.9]])
    )
    np.testing.assert_allclose(_value(matrix).sum(axis=0), [1, 1, 1], rtol=1e-5)
    assert (_value(matrix) >= 0).all()
    vector = regret._maximal_eigenvector_power_method(tf.constant([[0.9, 0.4], [0.1, 0.6]]))
    np.testing.assert_allclose(_value(vector), np.array([4, 1]) / np.sqrt(17), rtol=1e-4)


def test_refused_shapes_and_types():
    with pytest.raises(ValueError, match="floating-point"):
        regret._project_multipliers_wrt_euclidean_norm(tf.constant([1, 2]), 1.0)
    with pytest.raises(ValueError, match="must be one dimensional"):
        regret._project_multipliers_wrt_euclidean_norm(tf.ones([2, 2]), 1.0)
    with pytest.raises(ValueError, match="must be square"):
        regret._project_stochastic_matrix_wrt_euclidean_norm(tf.ones([2, 3]))


def test_best_candidates():
    pytest.importorskip("scipy")
    objectives = np.array([0.2, 0.3, 0.1, 0.7])
    violations = np.array([[0.0, -1.0, 0.5, 0.2], [-0.1, 0.3, 0.2, 0.4]])
    weights = co.find_best_candidate_distribution(objectives, violations)
    np.testing.assert_allclose(weights, [0.7, 0.1, 0.2, 0], atol=1e-6)
    assert co.find_best_candidate_index(objectives, violations) == 0
    infeasible = violations + 2.0
    weights = co.find_best_candidate_distribution(objectives, infeasible, epsilon=1e-3)
    assert weights.sum() == pytest.approx(1.0)
    with pytest.raises(ValueError, match="must have shape"):
        co.find_best_candidate_index(objectives[:2], violations)


class AtLeastOne(co.ConstrainedMinimizationProblem):
    """The least squares of two numbers that are at least one."""

    def __init__(self):
        self.weights = tf.Variable([1.0, 2.0])

    @property
    def objective(self):
        return tf.reduce_sum(self.weights**2)

    @property
    def constraints(self):
        return 1.0 - self.weights


@pytest.mark.parametrize(
    "make",
    [
        co.AdditiveExternalRegretOptimizer,
        co.AdditiveSwapRegretOptimizer,
        co.MultiplicativeSwapRegretOptimizer,
    ],
)
def test_constraints_hold_in_the_end(make):
    problem = AtLeastOne()
    descent = tf.train.GradientDescentOptimizer
    optimizer = make(descent(0.05), descent(0.3))
    step = tf.train.get_or_create_global_step()
    train = optimizer.minimize(problem, global_step=step)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(300):
            sess.run(train)
        assert sess.run(step) == 300
        np.testing.assert_allclose(sess.run(problem.weights), [1, 1], atol=0.15)


def test_unconstrained_steps_need_a_counter():
    problem = AtLeastOne()
    optimizer = co.AdditiveExternalRegretOptimizer(tf.train.GradientDescentOptimizer(0.1))
    with pytest.raises(ValueError, match="global_step cannot be None"):
        optimizer.minimize(problem, unconstrained_steps=3)
    step = tf.train.get_or_create_global_step()
    train = optimizer.minimize(problem, unconstrained_steps=1, global_step=step)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        np.testing.assert_allclose(sess.run(problem.weights), [0.8, 1.6], rtol=1e-5)
