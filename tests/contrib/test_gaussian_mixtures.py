"""`tf.contrib.factorization.GMM`; numbers are TensorFlow 1.15's."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.contrib import factorization

CENTERS = np.array([[0, 0], [5, 5], [-5, 4]], "f")
STARTS = np.array([[1, 1], [3, 3], [-3, 3]], "f")


def _points():
    random = np.random.RandomState(0)
    parts = [random.randn(40, 2) * (i + 1) * 0.4 + center for i, center in enumerate(CENTERS)]
    return np.concatenate(parts).astype("f")


@pytest.mark.parametrize(
    ("kind", "shards", "weights", "means"),
    [
        ("full", 1, [0.305, 0.361, 0.334], [[0.171, 0.155], [4.498, 4.791], [-5.02, 3.869]]),
        ("diag", 1, [0.334, 0.333, 0.333], [[-0.033, -0.007], [5.027, 5.351], [-5.008, 3.87]]),
        ("diag", 2, [0.333, 0.333, 0.333], [[-0.004, -0.021], [5.029, 5.351], [-5.035, 3.881]]),
    ],
)
def test_a_mixture_is_fitted(kind, shards, weights, means):
    data = [tf.constant(part) for part in np.split(_points(), shards)]
    mixture = factorization.GmmAlgorithm(data, 3, initial_means=STARTS, covariance_type=kind)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert not session.run(mixture.is_initialized())
        session.run(mixture.init_ops())
        assert session.run(mixture.is_initialized())
        for _ in range(4):
            session.run(mixture.training_ops())
        np.testing.assert_allclose(session.run(mixture.alphas()), weights, atol=2e-3)
        np.testing.assert_allclose(session.run(mixture.clusters())[:, 0], means, atol=2e-3)
        found = np.concatenate(session.run(mixture.assignments()))
        assert (found == np.repeat([0, 1, 2], 40)).mean() > 0.9


def test_only_some_parameters_are_fitted():
    mixture = factorization.GmmAlgorithm([tf.constant(_points())], 3, STARTS, params="m")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(mixture.init_ops())
        before = session.run([mixture.alphas(), mixture.covariances(), mixture.clusters()])
        session.run(mixture.training_ops())
        after = session.run([mixture.alphas(), mixture.covariances(), mixture.clusters()])
    np.testing.assert_array_equal(before[0], after[0])
    np.testing.assert_array_equal(before[1], after[1])
    assert (before[2] != after[2]).any()


def test_first_means_may_be_points():
    points = _points()
    _, scores, assignments, trained, initialized, _ = factorization.gmm(
        tf.constant(points), "random", 3, 1
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(initialized)
        means = session.run("clusters:0")[:, 0]
        assert all((points == mean).all(1).any() for mean in means)
        session.run(trained)
        assert session.run(scores).shape == (120, 1)
        assert session.run(assignments[0][0]).shape == (120,)


def test_the_estimator():
    estimator = factorization.GMM(3, initial_clusters=STARTS, covariance_type="diag")
    points = _points()
    estimator.fit(input_fn=lambda: (tf.constant(points), None), steps=5)
    np.testing.assert_allclose(estimator.weights(), [1 / 3] * 3, atol=0.01)
    np.testing.assert_allclose(estimator.clusters(), CENTERS, atol=0.4)
    assert estimator.covariances().shape == (3, 2)
    assert np.isfinite(estimator.score(input_fn=lambda: (tf.constant(points), None), steps=1))


def test_unknown_covariances():
    with pytest.raises(Exception, match="Invalid covariance type: other"):
        factorization.GmmAlgorithm([tf.zeros([2, 2])], 2, covariance_type="other")
