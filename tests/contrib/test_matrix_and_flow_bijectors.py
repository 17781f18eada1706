"""Bijectors of matrices, flows and shapes: inverses, and determinants against Jacobians."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf

ds = tf.contrib.distributions
bijectors = ds.bijectors
RNG = np.random.RandomState(4)
LOWER = np.tril(RNG.rand(3, 3) + 0.5)


def _shifted(x: Any) -> tuple[Any, Any]:
    """A shift and a scale of each entry by the one before it."""
    before = tf.concat([tf.zeros_like(x[..., :1]), x[..., :-1]], -1)
    return before, 0.5 * tf.sin(before)


def _half(x: Any, count: int) -> tuple[Any, Any]:
    first = tf.reduce_sum(x, -1, keepdims=True) * tf.ones([count], x.dtype)
    return first, 0.3 * tf.cos(first)


def _entries(matrix: np.ndarray) -> np.ndarray:
    """The numbers of a lower triangular matrix."""
    return matrix[np.tril_indices(len(matrix))]


def _matrix(entries: np.ndarray) -> np.ndarray:
    made = np.zeros((3, 3))
    made[np.tril_indices(3)] = entries
    return made


def _same(x: np.ndarray) -> np.ndarray:
    return x


# A bijector, an argument, its dimensions, and what of arguments and results is free to vary.
CASES: dict[str, tuple[Callable[[], Any], np.ndarray, Any, Any, Any]] = {
    "CholeskyOuterProduct": (bijectors.CholeskyOuterProduct, LOWER, _entries, _matrix, _entries),
    "TransformDiagonal": (
        lambda: bijectors.TransformDiagonal(bijectors.Exp()),
        RNG.randn(3, 3),
        np.ravel,
        lambda x: x.reshape(3, 3),
        np.ravel,
    ),
    "FillTriangular": (bijectors.FillTriangular, RNG.randn(6), _same, _same, _entries),
    "FillTriangular upper": (
        lambda: bijectors.FillTriangular(upper=True),
        RNG.randn(6),
        _same,
        _same,
        lambda y: _entries(y.T),
    ),
    "ScaleTriL": (
        lambda: bijectors.ScaleTriL(
            diag_bijector=bijectors.Exp(), diag_shift=tf.constant(0.5, tf.float64)
        ),
        RNG.randn(6),
        _same,
        _same,
        _entries,
    ),
    "AffineLinearOperator": (
        lambda: bijectors.AffineLinearOperator(
            shift=tf.constant([1.0, 2.0, 3.0], tf.float64),
            scale=tf.linalg.LinearOperatorLowerTriangular(tf.constant(LOWER)),
        ),
        RNG.randn(3),
        _same,
        _same,
        _same,
    ),
    "MaskedAutoregressiveFlow": (
        lambda: bijectors.MaskedAutoregressiveFlow(_shifted),
        RNG.randn(4),
        _same,
        _same,
        _same,
    ),
    "MaskedAutoregressiveFlow unrolled": (
        lambda: bijectors.MaskedAutoregressiveFlow(_shifted, unroll_loop=True),
        RNG.randn(4),
        _same,
        _same,
        _same,
    ),
    "RealNVP": (lambda: bijectors.RealNVP(2, _half), RNG.randn(5), _same, _same, _same),
    "Reshape": (
        lambda: bijectors.Reshape([2, 3], [6], validate_args=True),
        RNG.randn(6),
        _same,
        _same,
        np.ravel,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_inverse_and_determinant(name: str) -> None:
    make, argument, free, made_of, result_of = CASES[name]
    with tf.Graph().as_default(), tf.Session() as session:
        bijector = make()
        x = tf.placeholder(tf.float64, argument.shape)
        y = bijector.forward(x)
        given = tf.placeholder(tf.float64, y.shape)
        ndims = argument.ndim if name != "Reshape" else 0
        back = bijector.forward_min_event_ndims - bijector.inverse_min_event_ndims
        forward = bijector.forward_log_det_jacobian(x, event_ndims=ndims)
        inverse = bijector.inverse_log_det_jacobian(given, event_ndims=ndims - back)
        undone = bijector.inverse(given)
        assert bijector.forward_event_shape(x.shape) == y.shape
        assert bijector.inverse_event_shape(y.shape) == x.shape

        def image(entries: np.ndarray) -> np.ndarray:
            return result_of(session.run(y, {x: made_of(entries)}))

        entries = free(argument)
        step = 1e-6
        columns = [
            (image(entries + step * unit) - image(entries - step * unit)) / (2 * step)
            for unit in np.eye(len(entries))
        ]
        expected = np.linalg.slogdet(np.array(columns))[1]
        np.testing.assert_allclose(session.run(forward, {x: argument}), expected, atol=1e-6)
        result = session.run(y, {x: argument})
        np.testing.assert_allclose(session.run(inverse, {given: result}), -expected, atol=1e-6)
        np.testing.assert_allclose(session.run(undone, {given: result}), argument, atol=1e-8)


def test_batches_of_arguments() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        for name in ("CholeskyOuterProduct", "RealNVP", "AffineLinearOperator", "FillTriangular"):
            make, argument, *_ = CASES[name]
            bijector = make()
            ndims = argument.ndim
            several = tf.constant(np.stack([argument, 2 * argument]))
            whole = bijector.forward_log_det_jacobian(several, event_ndims=ndims)
            parts = [
                bijector.forward_log_det_jacobian(tf.constant(k * argument), event_ndims=ndims)
                for k in (1, 2)
            ]
            both, each = session.run([whole, parts])
            np.testing.assert_allclose(np.broadcast_to(both, 2), each, err_msg=name)


def test_inverses_of_triangular_matrices() -> None:
    """The determinant is TensorFlow's: that of the inverse of a matrix which is not triangular."""
    bijector = bijectors.MatrixInverseTriL(validate_args=True)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(LOWER)
        inverse, log_det, back = session.run(
            [
                bijector.forward(x),
                bijector.forward_log_det_jacobian(x, event_ndims=2),
                bijector.inverse(tf.constant(np.tril(np.linalg.inv(LOWER)))),
            ]
        )
        np.testing.assert_allclose(inverse @ LOWER, np.eye(3), atol=1e-12)
        np.testing.assert_allclose(back, LOWER, atol=1e-12)
        np.testing.assert_allclose(log_det, -6 * np.log(np.diag(LOWER)).sum())
        for wrong, message in (
            (np.ones((2, 2)), "must be lower triangular"),
            (np.array([[0.0, 0.0], [1.0, 1.0]]), "all diagonal entries nonzero"),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                session.run(bijector.forward(wrong))


def test_an_absolute_value_has_two_arguments() -> None:
    bijector = bijectors.AbsoluteValue(validate_args=True)
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(bijector.inverse(2.0)) == (-2.0, 2.0)
        assert session.run(bijector.inverse_log_det_jacobian(2.0, event_ndims=0)) == (0.0, 0.0)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Argument y was negative"):
            session.run(bijector.inverse(-1.0))
        with pytest.raises(NotImplementedError, match="non-injective"):
            bijector.forward_log_det_jacobian(2.0, event_ndims=0)


def test_masked_layers_look_back_alone() -> None:
    """An output of a network depends on the inputs before it."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [1, 4])
        template = bijectors.masked_autoregressive_default_template(
            [8, 8], activation=tf.nn.softplus
        )
        shift, log_scale = template(x)
        gradients = [tf.gradients(out[:, i], x)[0] for out in (shift, log_scale) for i in range(4)]
        session.run(tf.global_variables_initializer())
        depends = np.array(session.run(gradients, {x: RNG.randn(1, 4)}))[:, 0] != 0
    assert not (depends & ~np.tril(np.ones((4, 4), bool), -1)[[0, 1, 2, 3] * 2]).any()
    assert depends[3].any() and depends[7].any()


def test_densities_of_flows() -> None:
    """A flow's density is one: its integral over a grid."""
    with tf.Graph().as_default(), tf.Session() as session:
        flow = ds.TransformedDistribution(
            ds.Normal(0.0, 1.0), bijectors.MaskedAutoregressiveFlow(_shifted), event_shape=[2]
        )
        axis = np.linspace(-12, 12, 241, dtype="f")
        grid = np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2)
        density = session.run(flow.prob(grid))
        assert density.sum() * 0.1**2 == pytest.approx(1, abs=1e-3)
        assert session.run(flow.sample(3, seed=1)).shape == (3, 2)


def test_batch_normalization_is_undone() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.constant(RNG.randn(50, 3).astype("f") * 3 + 1)
        bijector = bijectors.BatchNormalization(tf.layers.BatchNormalization(momentum=0.0))
        normalized = bijector.inverse(y)
        log_det = bijector.inverse_log_det_jacobian(y, event_ndims=1)
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        session.run(tf.global_variables_initializer())
        values, *_ = session.run([normalized, updates])
        np.testing.assert_allclose(values.mean(0), 0, atol=1e-5)
        variance = session.run(y).var(0)
        np.testing.assert_allclose(
            session.run(log_det), -0.5 * np.log(variance + 1e-3).sum(), rtol=1e-4
        )
        back = bijector.forward(tf.constant(values))
        np.testing.assert_allclose(session.run(back), session.run(y), atol=1e-3)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: bijectors.RealNVP(0, _half), ValueError, "must be a positive integer"),
        (
            lambda: bijectors.RealNVP(5, _half).forward(np.zeros((2, 5))),
            ValueError,
            "must be smaller than the event size",
        ),
        (lambda: bijectors.Reshape([1.5]), TypeError, "should be `int`-like"),
        (lambda: bijectors.Reshape([[1]]), ValueError, "should be <= 1"),
        (
            lambda: bijectors.Reshape([2, 3], [6]).forward(np.zeros((2, 5))),
            ValueError,
            "does not match `event_shape_in`",
        ),
        (
            lambda: bijectors.FillTriangular().forward_event_shape([5]),
            ValueError,
            "not a triangular number",
        ),
        (
            lambda: bijectors.FillTriangular().inverse_event_shape([3, 2]),
            ValueError,
            "Matrix must be square",
        ),
        (
            lambda: bijectors.AffineLinearOperator(scale=tf.constant(1.0)),
            TypeError,
            "not an instance of tf.LinearOperator",
        ),
        (
            lambda: bijectors.BatchNormalization(batchnorm_layer=3),
            ValueError,
            "must be an instance of BatchNormalization",
        ),
    ],
)
def test_refusals(make: Any, error: type[Exception], message: str) -> None:
    with tf.Graph().as_default(), pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"scale_identity_multiplier": 2.0},
        {"scale_diag": [2.0, 3.0]},
        {"scale_tril": [[1.0, 0.0], [-3.0, 3.0]], "scale_identity_multiplier": 2.0},
    ],
)
@pytest.mark.parametrize("diagonal", [None, [3.0, 1.0]])
def test_affine_scales_with_updates_of_low_rank(parts, diagonal):
    factor = np.array([[1.0, 0.0], [1.5, 3.0]], np.float32)
    made = bijectors.Affine(
        shift=-1.0, scale_perturb_factor=factor, scale_perturb_diag=diagonal, **parts
    )
    scale = np.diag(parts.get("scale_diag", [0.0, 0.0])) + parts.get("scale_tril", 0.0)
    identity = parts.get("scale_identity_multiplier", 0.0 if parts else 1.0)
    scale = scale + identity * np.eye(2) + factor @ np.diag(diagonal or [1.0, 1.0]) @ factor.T
    x = np.array([1.0, 2.0], np.float32)
    with tf.Session() as session:
        found = session.run(
            [made.forward(x), made.inverse(x), made.forward_log_det_jacobian(x, event_ndims=1)]
        )
    np.testing.assert_allclose(found[0], scale @ x - 1, rtol=1e-5)
    np.testing.assert_allclose(found[1], np.linalg.solve(scale, x + 1), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found[2], np.log(abs(np.linalg.det(scale))), rtol=1e-5)


def test_affine_needs_a_factor_for_an_update():
    with pytest.raises(ValueError, match="needs a scale_perturb_factor"):
        bijectors.Affine(scale_perturb_diag=[1.0])
