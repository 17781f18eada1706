"""Bijectors and transformed distributions give TensorFlow 1.15's values."""

from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from tests.distributions import transformed_cases

with np.load(Path(__file__).parent / "transformed.npz") as _file:
    RECORDED = dict(_file)

ds = tf.contrib.distributions
bijectors = ds.bijectors


@pytest.fixture(scope="module")
def found():
    with tf.Graph().as_default():
        return transformed_cases.values(tf)


def test_all_cases_are_recorded(found):
    assert list(found) == list(RECORDED)


@pytest.mark.parametrize("name", RECORDED)
def test_value(name, found):
    np.testing.assert_allclose(found[name], RECORDED[name], rtol=2e-4, atol=2e-5)


def test_an_inverse_of_a_result_is_the_argument():
    exp = bijectors.Exp()
    x = tf.constant([1.0, 2.0])
    assert exp.inverse(exp.forward(x)) is x


def test_shapes():
    centered = bijectors.SoftmaxCentered()
    assert centered.forward_event_shape([2, 3]) == [2, 4]
    chain = bijectors.Chain([bijectors.Invert(centered), bijectors.Softplus()])
    assert chain.inverse_event_shape([2]) == [3]
    assert chain.forward_min_event_ndims == 1
    vector = ds.TransformedDistribution(
        ds.Normal(0.0, 1.0), centered, batch_shape=[4], event_shape=[3]
    )
    assert (vector.batch_shape, vector.event_shape) == ([4], [4])
    assert vector.sample(5).shape == [5, 4, 4]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: bijectors.PowerTransform(-1.0), ValueError, "non-negative"),
        (lambda: bijectors.Permute([0, 0]), ValueError, "exactly one of each"),
        (lambda: bijectors.Permute([0.5]), TypeError, "should be `int`-like"),
        (
            lambda: bijectors.Affine(scale_diag=[1.0]).forward_log_det_jacobian([[1.0]], 0),
            ValueError,
            "must be larger than min_event_ndims",
        ),
        (
            lambda: bijectors.Inline(forward_min_event_ndims=0).forward([1.0]),
            NotImplementedError,
            "without `forward_fn`",
        ),
        (
            lambda: ds.TransformedDistribution(ds.Normal([0.0], 1.0), batch_shape=[2]),
            ValueError,
            "not scalar",
        ),
        (
            lambda: ds.TransformedDistribution(ds.Normal(0.0, 1.0), bijectors.Exp()).mean(),
            NotImplementedError,
            "mean is not implemented",
        ),
    ],
)
def test_wrong_arguments(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_draws_follow_the_distribution():
    draws = {
        "half": (ds.HalfNormal(2.0), np.sqrt(8 / np.pi)),
        "inverse gamma": (ds.InverseGamma(5.0, 4.0), 1.0),
        "geometric": (ds.Geometric(probs=0.4), 1.5),
        "negative binomial": (ds.NegativeBinomial(3.0, probs=0.5), 3.0),
        "kumaraswamy": (ds.Kumaraswamy(1.0, 1.0), 0.5),
        "deterministic": (ds.Deterministic(3.0), 3.0),
    }
    with tf.Session() as sess:
        means = {
            name: tf.reduce_mean(each.sample(20_000, seed=3)) for name, (each, _) in draws.items()
        }
        for name, mean in sess.run(means).items():
            assert mean == pytest.approx(draws[name][1], rel=0.05), name
