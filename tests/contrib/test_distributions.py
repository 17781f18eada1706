"""`tf.contrib.distributions` against NumPy and against what each is made of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import penstock as tf

d = tf.contrib.distributions


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(2)
        yield graph


def run(fetch: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetch)


COVARIANCE = np.array([[2.0, 0.6], [0.6, 1.0]], np.float32)
LOC = np.array([1.0, -1.0], np.float32)


def _log_density(x: Any, loc: Any, covariance: Any) -> Any:
    z = np.asarray(x) - loc
    form = np.einsum("...i,ij,...j->...", z, np.linalg.inv(covariance), z)
    return -0.5 * (form + np.log(np.linalg.det(covariance)) + 2 * np.log(2 * np.pi))


def test_multivariate_normals() -> None:
    full = d.MultivariateNormalFullCovariance(LOC, COVARIANCE)
    tril = d.MultivariateNormalTriL(LOC, np.linalg.cholesky(COVARIANCE))
    diag = d.MVNDiag(LOC, np.array([2.0, 3.0], np.float32))
    x = np.array([[0.5, 0.0], [2.0, -2.0], [1.0, 1.0]], np.float32)
    for one, covariance in ((full, COVARIANCE), (tril, COVARIANCE), (diag, np.diag([4.0, 9]))):
        np.testing.assert_allclose(
            run(one.log_prob(x)), _log_density(x, LOC, covariance), rtol=1e-5
        )
        np.testing.assert_allclose(run(one.covariance()), covariance, rtol=1e-5)
        np.testing.assert_allclose(run(one.stddev()), np.sqrt(np.diag(covariance)), rtol=1e-5)
        drawn = run(one.sample(20000, seed=4))
        np.testing.assert_allclose(drawn.mean(0), LOC, atol=0.07)
        np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=0.3)
        entropy = 0.5 * np.log(np.linalg.det(2 * np.pi * math.e * covariance))
        np.testing.assert_allclose(run(one.entropy()), entropy, rtol=1e-5)
        assert one.event_shape.as_list() == [2] and one.batch_shape.as_list() == []
    inverse = np.linalg.inv(np.diag([4.0, 9.0]))
    expected = 0.5 * (np.trace(inverse @ COVARIANCE) - 2 + np.log(36 / np.linalg.det(COVARIANCE)))
    np.testing.assert_allclose(run(d.kl_divergence(full, diag)), expected, rtol=1e-5)


def test_diagonal_of_one_number() -> None:
    one = d.MultivariateNormalDiag(LOC, scale_identity_multiplier=2.0)
    assert run(one.stddev()).tolist() == [2, 2]
    with pytest.raises(ValueError, match="Must specify one or both"):
        d.MultivariateNormalTriL()


def test_diagonals_are_not_made_matrices() -> None:
    size = 2000
    wide = d.MultivariateNormalDiag(tf.zeros([3, size]), tf.fill([size], 2.0))
    drawn = wide.sample(seed=1)
    both = [wide.log_prob(drawn), wide.entropy(), d.kl_divergence(wide, wide), drawn]
    assert (
        max(
            tensor.shape.num_elements() or 0
            for op in tf.get_default_graph().get_operations()
            for tensor in op.outputs
        )
        <= 3 * size
    )
    assert [value.shape for value in run(both)] == [(3,), (3,), (3,), (3, size)]


def test_a_batch_of_unknown_size() -> None:
    means = tf.placeholder(tf.float32, [None, 3])
    one = d.MultivariateNormalDiag(means, tf.ones([3]))
    assert one.batch_shape.as_list() == [None] and one.event_shape.as_list() == [3]
    assert one.sample().shape.as_list() == [None, 3]


def test_a_diagonal_plus_few_columns() -> None:
    columns = np.array([[1.0], [2.0], [0.5]], np.float32)
    scale = np.diag([1.0, 2.0, 3.0]) + 0.5 * columns @ columns.T
    one = d.MultivariateNormalDiagPlusLowRank(
        np.ones(3, np.float32),
        np.array([1.0, 2.0, 3.0], np.float32),
        scale_perturb_factor=columns,
        scale_perturb_diag=np.array([0.5], np.float32),
    )
    np.testing.assert_allclose(run(one.covariance()), scale @ scale.T, rtol=1e-5)
    np.testing.assert_allclose(run(one.variance()), np.diag(scale @ scale.T), rtol=1e-5)
    x = np.array([0.5, 0.0, 2.0], np.float32)
    z = np.linalg.solve(scale, x - 1)
    expected = -0.5 * (z @ z) - np.log(np.linalg.det(scale)) - 1.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(run(one.log_prob(x)), expected, rtol=1e-5)


@pytest.mark.parametrize("axis", [None, 0, [1, 2], -1])
@pytest.mark.parametrize("interpolation", ["lower", "higher"])
def test_percentiles(axis: Any, interpolation: str) -> None:
    x = np.random.RandomState(0).randn(4, 5, 6).astype(np.float32)
    axes = tuple(axis) if isinstance(axis, list) else axis
    for q in (0.0, 30.0, 100.0):
        got = d.percentile(x, q, axis=axis, interpolation=interpolation, keep_dims=True)
        expected = np.percentile(x, q, axis=axes, method=interpolation, keepdims=True)
        np.testing.assert_array_equal(run(got), expected)
        assert got.shape.as_list() == list(expected.shape) or axis is None


def test_correlations_in_time() -> None:
    x = np.random.RandomState(0).randn(3, 40).astype(np.float32)
    centred = x - x.mean(1, keepdims=True)
    lags = [(centred[:, m:] * centred[:, : 40 - m]).sum(1) / (40 - m) for m in range(6)]
    expected = np.stack(lags, 1) / lags[0][:, None]
    np.testing.assert_allclose(run(d.auto_correlation(x, max_lags=5)), expected, atol=1e-5)
    turned = d.auto_correlation(x.T, axis=0, max_lags=5)
    np.testing.assert_allclose(run(turned), expected.T, atol=1e-5)


def test_moving_statistics_and_posteriors() -> None:
    mean, variance = d.moving_mean_variance(tf.constant([1.0, 2.0]), 0.9)
    log_mean = tf.Variable([0.0])
    moved = d.assign_log_moving_mean_exp(log_mean, tf.log([3.0]), 0.75)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        got = session.run([mean, variance, moved])
    np.testing.assert_allclose(got[0], [0.1, 0.2], rtol=1e-5)
    np.testing.assert_allclose(got[1], [0.09, 0.36], rtol=1e-5)
    np.testing.assert_allclose(np.exp(got[2]), [1.5], rtol=1e-5)
    prior = d.Normal(tf.constant(1.0), tf.constant(2.0))
    after = d.normal_conjugates_known_scale_posterior(prior, 3.0, tf.constant(5.0), 4)
    following = d.normal_conjugates_known_scale_predictive(prior, 3.0, tf.constant(5.0), 4)
    variance_after = 1 / (1 / 4 + 4 / 9)
    expected = [variance_after * (1 / 4 + 5 / 9), variance_after, variance_after + 9]
    got = run([after.loc, after.variance(), following.variance()])
    np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_one_vector_and_streams_of_seeds() -> None:
    point = d.VectorDeterministic([[0.0, 1.0], [2.0, 3.0]], atol=0.1)
    assert run(point.prob([[0.0, 1.05], [1.0, 3.0]])).tolist() == [1, 0]
    assert run(point.sample(4)).shape == (4, 2, 2)
    assert (point.batch_shape.as_list(), point.event_shape.as_list()) == ([2], [2])
    stream = d.SeedStream(3, salt="x")
    first = stream()
    assert first == d.SeedStream(d.SeedStream(3, "y"), "x")() != stream()
    assert d.SeedStream(None, "x")() is None


def test_independent_sums_over_its_components() -> None:
    normal = d.Normal(np.zeros((3, 2), np.float32), np.ones((3, 2), np.float32))
    joint = d.Independent(normal)
    x = np.ones((3, 2), np.float32)
    np.testing.assert_allclose(run(joint.log_prob(x)), run(normal.log_prob(x)).sum(1), rtol=1e-6)
    assert joint.batch_shape.as_list() == [3] and joint.event_shape.as_list() == [2]
    assert run(joint.sample(4)).shape == (4, 3, 2)
    assert run(d.kl_divergence(joint, joint)).tolist() == [0, 0, 0]


def test_mixture() -> None:
    mixture = d.Mixture(d.Categorical(probs=[0.3, 0.7]), [d.Normal(-1.0, 0.5), d.Normal(2.0, 1.0)])
    probs, means, deviations = np.array([0.3, 0.7]), np.array([-1.0, 2]), np.array([0.5, 1])
    density = (
        probs * np.exp(-0.5 * ((0.5 - means) / deviations) ** 2) / deviations / np.sqrt(2 * np.pi)
    ).sum()
    mean = (probs * means).sum()
    variance = (probs * (deviations**2 + means**2)).sum() - mean**2
    found = run([mixture.prob(0.5), mixture.mean(), mixture.variance()])
    np.testing.assert_allclose(found, [density, mean, variance], rtol=1e-5)
    drawn = run(mixture.sample(20000, seed=1))
    np.testing.assert_allclose([drawn.mean(), drawn.var()], [mean, variance], rtol=0.05)
    with pytest.raises(ValueError, match="num_classes"):
        d.Mixture(d.Categorical(probs=[0.3, 0.7]), [d.Normal(0.0, 1.0)])


def test_one_hot_and_its_relaxation() -> None:
    logits = np.array([0.1, 1.0, -1.0], np.float32)
    probs = np.exp(logits) / np.exp(logits).sum()
    one_hot = d.OneHotCategorical(logits)
    np.testing.assert_allclose(run(one_hot.log_prob([0, 1, 0])), np.log(probs[1]), rtol=1e-5)
    drawn = run(one_hot.sample(20000, seed=3))
    assert (drawn.sum(1) == 1).all()
    np.testing.assert_allclose(drawn.mean(0), probs, atol=0.02)
    assert run(one_hot.mode()).tolist() == [0, 1, 0]
    relaxed = d.RelaxedOneHotCategorical(0.1, logits=logits)
    drawn = run(relaxed.sample(20000, seed=3))
    np.testing.assert_allclose(drawn.sum(1), 1, rtol=1e-4)
    np.testing.assert_allclose(drawn.mean(0), probs, atol=0.03)


def test_density_of_the_relaxation_integrates_to_one() -> None:
    relaxed = d.RelaxedOneHotCategorical(0.8, probs=np.array([0.3, 0.7], np.float32))
    p = (np.arange(4000, dtype=np.float32) + 0.5) / 4000
    density = run(relaxed.prob(np.stack([p, 1 - p], 1)))
    np.testing.assert_allclose(density.mean(), 1, rtol=0.01)


@pytest.mark.parametrize("kind", [d.Cauchy, d.Logistic])
def test_location_and_scale(kind: Any) -> None:
    one = kind(1.0, 2.0)
    x = tf.constant([-3.0, 0.0, 1.0, 4.0])
    density, slope, back = run([one.prob(x), tf.gradients(one.cdf(x), x)[0], one.cdf(x)])
    np.testing.assert_allclose(density, slope, rtol=1e-4)
    np.testing.assert_allclose(run(one.quantile(back)), [-3, 0, 1, 4], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(np.median(run(one.sample(20000, seed=2))), 1, atol=0.1)
    assert run(one.mode()) == 1
    assert math.isnan(run(d.Cauchy(0.0, 1.0).mean()))


def test_poisson() -> None:
    one = d.Poisson(3.0)
    x = np.arange(6, dtype=np.float32)
    probs = np.array([math.exp(-3) * 3**k / math.factorial(k) for k in range(6)])
    np.testing.assert_allclose(run(one.prob(x)), probs, rtol=1e-5)
    np.testing.assert_allclose(run(one.cdf(x)), np.cumsum(probs), rtol=1e-4)
    assert run(d.Poisson(3.0, interpolate_nondiscrete=False).prob(1.5)) == 0
    np.testing.assert_allclose(run(one.sample(5000, seed=1)).mean(), 3, atol=0.1)
    with pytest.raises(ValueError, match="exactly one of `rate` and `log_rate`"):
        d.Poisson()
