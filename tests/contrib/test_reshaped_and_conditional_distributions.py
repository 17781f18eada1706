"""Distributions made of others: reshaped, conditional, over quadratures; and tests of means."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.contrib import distributions as ds
from penstock.contrib.distributions import conditional, diffeomixture, mean_tests, scales


def _values(*tensors):
    with tf.Session() as sess:
        return sess.run(tensors)


def test_a_reshaped_batch():
    normal = ds.Normal(tf.reshape(tf.range(6.0), [2, 3]), 1.0)
    reshaped = ds.BatchReshape(normal, [3, -1])
    x = tf.ones([4, 3, 2])
    mean, log_prob, expected, shape = _values(
        reshaped.mean(),
        reshaped.log_prob(x),
        normal.log_prob(tf.ones([4, 2, 3])),
        reshaped.batch_shape_tensor(),
    )
    np.testing.assert_array_equal(mean, np.arange(6.0).reshape(3, 2))
    np.testing.assert_allclose(log_prob, expected.reshape(4, 3, 2))
    assert shape.tolist() == [3, 2]
    assert ds.BatchReshape(normal, [6]).sample(5).shape.as_list() == [5, 6]
    with pytest.raises(ValueError, match="must match `distribution.batch_shape` size"):
        ds.BatchReshape(normal, [5])
    with pytest.raises(NotImplementedError, match="too few batch and event dims"):
        ds.BatchReshape(normal, [6]).log_prob(0.0)


class Shifted(ds.ConditionalDistribution):
    def __init__(self):
        super().__init__(tf.float32, ds.FULLY_REPARAMETERIZED, False, True)

    def _sample_n(self, n, seed=None, by=0.0):
        return tf.ones([n]) * by

    def _log_prob(self, x, by=0.0):
        return x + by

    def _batch_shape(self):
        return tf.TensorShape([])

    def _event_shape(self):
        return tf.TensorShape([])


class Scaled(conditional.ConditionalBijector):
    def __init__(self):
        super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True, dtype=tf.float32)

    def _forward(self, x, factor=1.0):
        return x * factor

    def _inverse(self, y, factor=1.0):
        return y / factor

    def _inverse_log_det_jacobian(self, y, factor=1.0):
        return -tf.log(factor)


def test_conditions_are_handed_on():
    whole = ds.ConditionalTransformedDistribution(Shifted(), Scaled())
    kwargs = {"bijector_kwargs": {"factor": 2.0}, "distribution_kwargs": {"by": 3.0}}
    drawn, log_prob, log_det = _values(
        whole.sample(2, **kwargs),
        whole.log_prob(1.0, **kwargs),
        Scaled().forward_log_det_jacobian(1.0, 0, factor=2.0),
    )
    np.testing.assert_array_equal(drawn, [6.0, 6.0])
    assert log_prob == pytest.approx(3.5 - np.log(2.0))
    assert log_det == pytest.approx(np.log(2.0))


def test_poisson_of_a_log_normal_rate():
    compound = ds.PoissonLogNormalQuadratureCompound(
        [0.0, 0.5],
        scale=[0.5, 0.2],
        quadrature_size=20,
        quadrature_fn=ds.quadrature_scheme_lognormal_gauss_hermite,
    )
    mean, variance = _values(compound.mean(), compound.variance())
    rate = np.exp(np.array([0.0, 0.5]) + np.array([0.5, 0.2]) ** 2 / 2)
    np.testing.assert_allclose(mean, rate, rtol=1e-4)
    spread = np.exp(np.array([0.5, 0.2]) ** 2) - 1
    np.testing.assert_allclose(variance, rate + spread * rate**2, rtol=1e-3)
    assert compound.sample(7, seed=1).shape.as_list() == [7, 2]


def test_moments_of_a_mixture_of_affine_functions():
    mixture = ds.VectorDiffeomixture(
        mix_loc=[[0.0], [1.0]],
        temperature=[1.0],
        distribution=ds.Normal(0.0, 1.0),
        loc=[None, [1.0, 2.0]],
        scale=[tf.linalg.LinearOperatorIdentity(2), tf.linalg.LinearOperatorDiag([1.0, 3.0])],
    )
    drawn = mixture.sample(20_000, seed=3)
    mean, variance, covariance, values = _values(
        mixture.mean(), mixture.variance(), mixture.covariance(), drawn
    )
    np.testing.assert_allclose(values.mean(0), mean, atol=0.1)
    np.testing.assert_allclose(values.var(0), variance, rtol=0.1)
    np.testing.assert_allclose(np.diagonal(covariance, axis1=1, axis2=2), variance, rtol=1e-4)
    with pytest.raises(NotImplementedError, match="only bimixtures"):
        diffeomixture.interpolate_loc(mixture.grid, [None] * 3)


def test_scales_as_operators():
    tril = scales.make_tril_scale(
        scale_tril=[[1.0, 9.0], [2.0, 3.0]], scale_identity_multiplier=1.0
    )
    identity = scales.make_diag_scale(loc=[1.0, 2.0], scale_identity_multiplier=3.0)
    dense, scaled = _values(tril.to_dense(), identity.to_dense())
    np.testing.assert_array_equal(dense, [[2, 0], [2, 4]])
    np.testing.assert_array_equal(scaled, np.eye(2) * 3)
    assert scales.is_diagonal_scale(identity)
    assert not scales.is_diagonal_scale(tril)
    with pytest.raises(ValueError, match="Cannot infer `event_shape`"):
        scales.make_diag_scale()


@pytest.mark.parametrize(("source", "place"), [(0, 2), (2, 0), (-1, 0), (1, 1)])
def test_moved_dimensions(source, place):
    x = np.arange(24).reshape(2, 3, 4)
    (moved,) = _values(scales.move_dimension(tf.constant(x), source, place))
    np.testing.assert_array_equal(moved, np.moveaxis(x, source, place))


def test_means_that_samples_rule_out():
    samples = np.random.default_rng(0).random((500, 2)).astype(np.float32)
    low, high = _values(*mean_tests.true_mean_confidence_interval_by_dkwm(samples, 0.0, 1.0, 0.01))
    assert (low < 0.5).all()
    assert (high > 0.5).all()
    check = mean_tests.assert_true_mean_equal_by_dkwm
    _values(check(samples, 0.0, 1.0, 0.5))
    with pytest.raises(tf.errors.InvalidArgumentError, match="true mean smaller than expected"):
        _values(check(samples, 0.0, 1.0, 0.9))
    with pytest.raises(tf.errors.InvalidArgumentError, match="maximum value exceeds"):
        _values(check(samples, 0.0, 0.5, 0.5))
