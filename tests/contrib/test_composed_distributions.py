"""Mixtures of one family, quantized, autoregressive, skewed and vector distributions.

What they say is compared with what the distributions say that they are made of.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf

ds = tf.contrib.distributions
RNG = np.random.RandomState(2)


@pytest.fixture
def session() -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def _numbers(*shape: int) -> np.ndarray:
    return RNG.randn(*shape).astype("f")


# Mixtures ----------------------------------------------------------------------------------------


def test_a_mixture_of_one_family_is_a_mixture(session: Any) -> None:
    logits, locs, x = _numbers(2, 3), _numbers(2, 3), _numbers(5, 2)
    chooser = ds.Categorical(logits=logits)
    one = ds.MixtureSameFamily(chooser, ds.Normal(locs, 0.5))
    other = ds.Mixture(chooser, [ds.Normal(locs[:, i], 0.5) for i in range(3)])
    assert one.batch_shape == (2,) and one.event_shape == ()
    for method in ("log_prob", "prob", "cdf"):
        found, wanted = session.run([getattr(d, method)(x) for d in (one, other)])
        np.testing.assert_allclose(found, wanted, rtol=1e-4, err_msg=method)
    for method in ("mean", "variance", "stddev"):
        found, wanted = session.run([getattr(d, method)() for d in (one, other)])
        np.testing.assert_allclose(found, wanted, rtol=1e-4, err_msg=method)
    assert session.run(one.sample([4, 3], seed=1)).shape == (4, 3, 2)


def test_a_mixture_of_vectors(session: Any) -> None:
    locs = np.array([[-2.0, 0.0], [2.0, 1.0]], "f")
    mixture = ds.MixtureSameFamily(
        ds.Categorical(probs=[0.25, 0.75]),
        ds.MultivariateNormalDiag(loc=locs, scale_diag=np.full((2, 2), 0.1, "f")),
    )
    drawn, mean, covariance = session.run(
        [mixture.sample(4000, seed=3), mixture.mean(), mixture.covariance()]
    )
    np.testing.assert_allclose(mean, 0.25 * locs[0] + 0.75 * locs[1], rtol=1e-6)
    np.testing.assert_allclose(drawn.mean(0), mean, atol=0.1)
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=0.15)
    assert set(np.sign(drawn[:, 0])) == {-1.0, 1.0}  # each draw is of one component


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: (ds.Normal(0.0, 1.0), ds.Normal([0.0], 1.0)), "is not over integers"),
        (
            lambda: (ds.Categorical(probs=[0.3, 0.7]), ds.Normal([0.0, 1.0, 2.0], 1.0)),
            r"components` \(2\) does not equal .* \(3\)",
        ),
        (
            lambda: (ds.Categorical(logits=_numbers(3, 2)), ds.Normal(_numbers(4, 2), 1.0)),
            "is not compatible with",
        ),
    ],
)
def test_components_that_do_not_fit(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ds.MixtureSameFamily(*make())


# Quantized ---------------------------------------------------------------------------------------


def test_quantized_numbers(session: Any) -> None:
    base = ds.Normal(1.0, 2.0)
    quantized = ds.QuantizedDistribution(base, low=-3.0, high=4.0)
    integers = np.arange(-4.0, 6.0).astype("f")
    probs, logs, cdf = session.run(
        [quantized.prob(integers), quantized.log_prob(integers), quantized.cdf(integers)]
    )
    bounds = session.run(base.cdf(integers))
    expected = np.diff(bounds, prepend=0)
    expected[0] = expected[-1] = 0
    expected[1] = bounds[1]  # all that is below
    expected[8] = 1 - bounds[7]  # all that is above
    np.testing.assert_allclose(probs, expected, atol=1e-6)
    np.testing.assert_allclose(np.exp(logs[1:-1]), expected[1:-1], atol=1e-5)
    np.testing.assert_allclose(cdf, np.cumsum(expected), atol=1e-5)
    drawn = session.run(quantized.sample(500, seed=2))
    assert set(drawn) <= set(range(-3, 5)) and len(set(drawn)) > 5
    np.testing.assert_array_equal(
        drawn, np.clip(np.ceil(session.run(base.sample(500, seed=2))), -3, 4)
    )


def test_only_integers_have_a_probability(session: Any) -> None:
    quantized = ds.QuantizedDistribution(ds.Normal(1.0, 2.0), validate_args=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="non-integer components"):
        session.run(quantized.prob(1.5))
    with pytest.raises(tf.errors.InvalidArgumentError, match="low must be strictly less"):
        ds.QuantizedDistribution(ds.Normal(1.0, 2.0), low=3.0, high=1.0, validate_args=True)


# Step by step ------------------------------------------------------------------------------------


def _half_of_the_last(x: Any = None) -> Any:
    given = tf.zeros([4]) if x is None else x
    before = tf.concat([tf.zeros_like(given[..., :1]), given[..., :-1]], -1)
    return ds.Independent(ds.Normal(0.5 * before, 0.1), 1)


def test_an_autoregressive_distribution(session: Any) -> None:
    process = ds.Autoregressive(_half_of_the_last)
    assert process.num_steps == 4 and process.event_shape == (4,)
    drawn = session.run(process.sample(2000, seed=5))
    noise = drawn[:, 1:] - 0.5 * drawn[:, :-1]
    np.testing.assert_allclose(noise.std(0), 0.1, rtol=0.1)
    np.testing.assert_allclose(np.corrcoef(noise.T), np.eye(3), atol=0.1)
    x = _numbers(3, 4)
    found, wanted = session.run([process.log_prob(x), _half_of_the_last(x).log_prob(x)])
    np.testing.assert_allclose(found, wanted)
    with pytest.raises(ValueError, match="must be at least 1"):
        ds.Autoregressive(_half_of_the_last, num_steps=0)


# Vectors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "base", "variance"),
    [
        (ds.VectorLaplaceDiag, lambda: ds.Laplace(0.0, 1.0), 2.0),
        (ds.VectorExponentialDiag, lambda: ds.Exponential(1.0), 1.0),
    ],
)
def test_independent_components(session: Any, kind: Any, base: Any, variance: float) -> None:
    loc, scale = _numbers(3), np.exp(_numbers(2, 3))
    vectors = kind(loc=loc, scale_diag=scale)
    assert vectors.batch_shape == (2,) and vectors.event_shape == (3,)
    z = np.abs(_numbers(2, 3))
    found = session.run(vectors.log_prob(z * scale + loc))
    each = session.run(base().log_prob(z)) - np.log(scale)
    np.testing.assert_allclose(found, each.sum(-1), rtol=1e-4)
    np.testing.assert_allclose(session.run(vectors.variance()), variance * scale**2, rtol=1e-5)
    unit = session.run(base().mean())
    np.testing.assert_allclose(session.run(vectors.mean()), loc + unit * scale, rtol=1e-5)
    diagonal = np.stack([np.diag(row) for row in variance * scale**2])
    np.testing.assert_allclose(session.run(vectors.covariance()), diagonal, rtol=1e-5)
    assert session.run(vectors.sample(7, seed=1)).shape == (7, 2, 3)


def test_a_multiple_of_the_identity(session: Any) -> None:
    vectors = ds.VectorLaplaceDiag(loc=[1.0, 2.0, 3.0], scale_identity_multiplier=2.0)
    np.testing.assert_allclose(session.run(vectors.variance()), [8.0] * 3)
    with pytest.raises(ValueError, match="Cannot infer `event_shape`"):
        ds.VectorLaplaceDiag()
    with pytest.raises(ValueError, match="Missing required `scale`"):
        ds.VectorLaplaceLinearOperator()


# Skewed ------------------------------------------------------------------------------------------


def test_without_skewness_it_is_normal(session: Any) -> None:
    x = _numbers(4)
    skewed, plain = ds.SinhArcsinh([0.5], 2.0), ds.Normal([0.5], 2.0)
    found, wanted = session.run([skewed.log_prob(x), plain.log_prob(x)])
    np.testing.assert_allclose(found, wanted, rtol=1e-4)


def test_skewness_and_tails(session: Any) -> None:
    leaning = ds.SinhArcsinh(0.0, 1.0, skewness=0.5, tailweight=1.2)
    axis = np.linspace(-30, 60, 9001, dtype="f")
    density = session.run(leaning.prob(axis))
    assert density.sum() * 0.01 == pytest.approx(1, abs=1e-3)
    assert (axis * density).sum() > 0
    vectors = ds.VectorSinhArcsinhDiag(
        loc=[0.0, 0.0], scale_diag=[1.0, 1.0], skewness=0.5, tailweight=1.2
    )
    x = _numbers(3, 2)
    found, each = session.run([vectors.log_prob(x), leaning.log_prob(x)])
    np.testing.assert_allclose(found, each.sum(-1), rtol=1e-4)
    with pytest.raises(ValueError, match="distribution must be scalar"):
        ds.SinhArcsinh(0.0, 1.0, distribution=ds.Laplace([0.0], 1.0))


# Matrices ----------------------------------------------------------------------------------------


def test_wishart_matrices(session: Any) -> None:
    factor = np.array([[1.0, 0.0], [0.5, 2.0]], "f")
    scale = factor @ factor.T
    full, cholesky = ds.WishartFull(5, scale), ds.WishartCholesky(5, factor)
    assert full.event_shape == (2, 2) and full.batch_shape == ()
    drawn, mean, variance = session.run([full.sample(4000, seed=3), full.mean(), full.variance()])
    np.testing.assert_allclose(mean, 5 * scale, rtol=1e-5)
    np.testing.assert_allclose(drawn.mean(0), mean, rtol=0.1)
    np.testing.assert_allclose(drawn.var(0), variance, rtol=0.2)
    logs = [session.run(d.log_prob(drawn[:3])) for d in (full, cholesky)]
    np.testing.assert_allclose(logs[0], logs[1], rtol=1e-4)
    mean_log_det = np.log(np.linalg.det(drawn)).mean()
    assert session.run(full.mean_log_det()) == pytest.approx(mean_log_det, abs=0.1)
    assert session.run(full.entropy()) == pytest.approx(
        -session.run(full.log_prob(drawn)).mean(), abs=0.1
    )


def test_a_wishart_distribution_of_one_number_is_a_gamma_distribution(session: Any) -> None:
    x = np.array([0.5, 1.0, 4.0], "f")
    wishart = ds.WishartFull(3.0, [[2.0]])
    gamma = ds.Gamma(1.5, 0.25)
    found, wanted = session.run([wishart.log_prob(x[:, None, None]), gamma.log_prob(x)])
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_factors_stand_for_matrices(session: Any) -> None:
    factor = np.array([[1.0, 0.0], [0.5, 2.0]], "f")
    wishart = ds.WishartCholesky(5.0, factor, cholesky_input_output_matrices=True)
    drawn = session.run(wishart.sample(2, seed=1))
    assert not np.triu(drawn, 1).any()
    np.testing.assert_allclose(session.run(wishart.scale()), factor)
    with pytest.raises(ValueError, match="does not make sense"):
        wishart.stddev()
    with pytest.raises(ValueError, match=r"Degrees of freedom \(df = \[1.\]\) cannot be less"):
        ds.WishartCholesky(1.0, factor)
