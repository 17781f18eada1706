"""Linear algebra beyond single ops: errors of TensorFlow 1.x, gradients, composed functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock import linalg, signal

RNG = np.random.RandomState(7)
X = RNG.randn(2, 3, 3)
TALL = RNG.randn(2, 4, 3)
DEFINITE = X @ np.swapaxes(X, -1, -2) + np.eye(3)
COMPLEX = RNG.randn(3, 3) + 1j * RNG.randn(3, 3)
HERMITIAN = COMPLEX @ COMPLEX.conj().T + np.eye(3)


def run(fetches: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        return session.run(fetches, feeds)


# What TensorFlow 1.x refuses, and later versions answer with NaN -------------------------------


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: tf.cholesky(-np.eye(2)), "Cholesky decomposition was not successful"),
        (lambda: tf.cholesky([[1.0, 2.0], [2.0, 4.0]]), "The input might not be valid"),
        (lambda: tf.matrix_triangular_solve(np.zeros([2, 2]), np.ones([2, 1])), "not invertible"),
        (
            lambda: linalg.tridiagonal_solve(np.zeros([3, 1]), np.ones(1)),
            "scalar with value zero",
        ),
        (
            lambda: linalg.tridiagonal_solve([[3.0, 0], [1, 3], [0, 1]], [1.0, 4]),
            "The matrix is not invertible",
        ),
        (
            lambda: linalg.tridiagonal_solve(np.zeros([3, 2]), np.ones(2), partial_pivoting=False),
            "Try setting partial_pivoting = True",
        ),
    ],
)
def test_errors_of_version_one(build: Callable[[], Any], message: str) -> None:
    with tf.Graph().as_default():
        result = build()
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            run(result)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (tf.matrix_inverse, "Input is not invertible."),
        (lambda x: tf.matrix_solve(x, x), "Input matrix is not invertible."),
        (linalg.lu, "Input is not invertible."),
        (lambda x: linalg.lstsq(x, x), "Cholesky decomposition was not successful"),
    ],
)
def test_singular_matrices_are_named(function: Callable[[Any], Any], message: str) -> None:
    with tf.Graph().as_default():
        result = function(tf.constant([[1.0, 2.0], [2.0, 4.0]]))
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            run(result)


def test_a_zero_pivot_is_perturbed_on_request() -> None:
    with tf.Graph().as_default():
        diagonals = np.array([[0.0, 1, 0], [0, 1, 1], [0, 0, 0]])
        rhs = np.array([1.0, 2, 3])
        found = run(linalg.tridiagonal_solve(diagonals, rhs, perturb_singular=True))
        assert np.isfinite(found).all() and abs(found[0]) > 1e12
        np.testing.assert_allclose(found[1:], [-1, 3])
        with pytest.raises(ValueError, match="partial_pivoting"):
            linalg.tridiagonal_solve(diagonals, rhs, partial_pivoting=False, perturb_singular=True)


# Gradients ------------------------------------------------------------------------------------


def _check_gradient(function: Callable[[Any], Any], value: np.ndarray) -> None:
    """Compares a real-valued function's gradient with its change along a random direction."""
    with tf.Graph().as_default():
        x = tf.placeholder(tf.as_dtype(value.dtype), value.shape)
        y = tf.reduce_sum(function(x))
        gradient = tf.gradients(y, x)[0]
        direction = RNG.randn(*value.shape).astype(value.dtype)
        if value.dtype.kind == "c":
            direction = direction + 1j * RNG.randn(*value.shape)
        step = 1e-6
        with tf.Session() as session:
            found = session.run(gradient, {x: value})
            ahead, behind = (
                session.run(y, {x: value + sign * step * direction}) for sign in (1, -1)
            )
    slope = (ahead - behind) / (2 * step)
    expected = np.vdot(found, direction).real
    assert abs(slope - expected) < 1e-5 * max(1.0, abs(slope))


def _hermitian(x: Any) -> Any:
    return x + linalg.adjoint(x)


def _weighted(x: Any) -> Any:
    """A real number that depends on every entry."""
    weights = np.arange(1.0, 1 + np.prod(x.shape.as_list())).reshape(x.shape.as_list())
    return tf.real(x) * weights + tf.imag(x) * weights[::-1]


def _project(vectors: Any, values: Any) -> Any:
    """Σ f(λ) v vᴴ, which does not depend on the vectors' phases."""
    weights = tf.cast(tf.sin(tf.real(values)), vectors.dtype)
    return tf.matmul(vectors * weights[..., None, :], vectors, adjoint_b=True)


def _of_svd(x: Any) -> Any:
    s, u, v = tf.svd(x)
    weights = tf.cast(tf.sin(s), x.dtype)
    return _weighted(tf.matmul(u * weights[..., None, :], v, adjoint_b=True))


def _of_eigenvalues(x: Any) -> Any:
    e, v = linalg.eig(x)
    return _weighted(tf.matmul(v * tf.square(e)[..., None, :], tf.matrix_inverse(v)))


@pytest.mark.parametrize(
    ("function", "value"),
    [
        (lambda x: _weighted(tf.cholesky(_hermitian(x))), HERMITIAN),
        (lambda x: _weighted(_project(*tf.self_adjoint_eig(_hermitian(x))[::-1])), HERMITIAN),
        (lambda x: tf.real(tf.self_adjoint_eigvals(_hermitian(x))) ** 2, HERMITIAN),
        (_of_svd, COMPLEX),
        (_of_svd, COMPLEX[:, :2]),
        (_of_svd, COMPLEX[:2]),
        (_of_svd, TALL),
        (lambda x: tf.svd(x, compute_uv=False) ** 2, COMPLEX),
        (_of_eigenvalues, COMPLEX),
        (lambda x: _weighted(linalg.eigvals(x) ** 2), COMPLEX),
        (lambda x: _weighted(tf.qr(x)[1]), COMPLEX),
        (lambda x: linalg.pinv(x) ** 2, TALL),
        (lambda x: linalg.expm(x) ** 2, X),
        (lambda x: linalg.logdet(_hermitian(x)), DEFINITE),
        (lambda x: tf.matrix_solve_ls(x, TALL, l2_regularizer=0.5) ** 2, TALL),
        (lambda x: signal.rfft3d(x, [2, 4, 2]), TALL),
    ],
)
def test_gradient(function: Callable[[Any], Any], value: np.ndarray) -> None:
    def real(x: Any) -> Any:
        y = function(x)
        return _weighted(y) if y.dtype.is_complex else y

    _check_gradient(real, value)


@pytest.mark.parametrize(
    ("function", "value"),
    [
        (tf.matrix_inverse, X),
        (tf.matrix_determinant, X),
        (lambda x: tf.cholesky(_hermitian(x)), DEFINITE),
        (lambda x: tf.matrix_solve(x, X), X),
        (lambda x: tf.matrix_triangular_solve(x, X), DEFINITE),
        (lambda x: tf.self_adjoint_eigvals(x), DEFINITE),
        (lambda x: _project(*tf.self_adjoint_eig(x)[::-1]), DEFINITE),
        (lambda x: tf.abs(tf.qr(x)[1]), TALL),
        (lambda x: tf.svd(x, compute_uv=False), TALL),
        (lambda x: tf.abs(signal.rfft(x)), X),
        (lambda x: signal.irfft2d(tf.complex(x, x * x)), X),
    ],
)
def test_second_gradient(function: Callable[[Any], Any], value: np.ndarray) -> None:
    def slope(x: Any) -> Any:
        return tf.sin(tf.gradients(tf.reduce_sum(tf.sin(function(x))), x)[0])

    _check_gradient(slope, value)


def test_gradients_of_unknown_shapes() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float64)
        for function in (lambda x: tf.matrix_solve_ls(x, TALL), signal.rfft):
            (gradient,) = tf.gradients(tf.reduce_sum(tf.abs(function(x))), x)
            assert run(gradient, {x: TALL}).shape == TALL.shape
        with pytest.raises(NotImplementedError, match="unknown inner matrix shape"):
            tf.gradients(tf.svd(x), x)
        with pytest.raises(NotImplementedError, match="QrGrad"):
            tf.gradients(tf.qr(x), x)


# Composed functions ---------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("scale", [0.0, 1e-3, 1.0, 30.0])
def test_exponential_is_its_op(dtype: str, scale: float) -> None:
    with tf.Graph().as_default():
        value = (scale * X).astype(dtype)
        ours, of_op = run([linalg.expm(value), tf.raw_ops.MatrixExponential(input=value)])
    tolerance = 1e-3 if dtype in ("float32", "complex64") else 1e-9
    np.testing.assert_allclose(ours, of_op, rtol=tolerance, atol=tolerance * np.abs(of_op).max())


def test_exponential_of_what_is_not_finite() -> None:
    with tf.Graph().as_default():
        assert np.isnan(run(linalg.expm([[1.0, np.inf], [0.0, 1.0]]))).all()
        assert run(linalg.expm(np.zeros([0, 2, 2]))).shape == (0, 2, 2)
        for wrong in ([1.0, 2.0], np.ones([2, 3])):
            with pytest.raises(ValueError, match="."):
                linalg.expm(wrong)


def test_logarithm_and_root_of_larger_matrices() -> None:
    value = RNG.uniform(-1, 1, [3, 20, 20]) + 1j * RNG.uniform(-1, 1, [3, 20, 20])
    with tf.Graph().as_default():
        root = linalg.sqrtm(value)
        again, square = run([linalg.expm(linalg.logm(value)), tf.matmul(root, root)])
    np.testing.assert_allclose(again, value, atol=1e-9)
    np.testing.assert_allclose(square, value, atol=1e-9)


def test_factors_of_batches() -> None:
    with tf.Graph().as_default():
        lu, perm = linalg.lu(X)
        again, inverse, solved = run(
            [
                linalg.lu_reconstruct(lu, perm),
                linalg.lu_matrix_inverse(lu, perm),
                linalg.lu_solve(lu, perm, X[:1]),
            ]
        )
    np.testing.assert_allclose(again, X, atol=1e-12)
    np.testing.assert_allclose(inverse, np.linalg.inv(X), atol=1e-12)
    expected = np.linalg.solve(X, np.broadcast_to(X[:1], X.shape))
    np.testing.assert_allclose(solved, expected, atol=1e-12)


def test_least_squares_of_unknown_height() -> None:
    with tf.Graph().as_default():
        x, y = tf.placeholder(tf.float64, [None, None]), tf.placeholder(tf.float64, [None, None])
        solved = tf.matrix_solve_ls(x, y)
        for value in (TALL[0], TALL[0].T):
            found = run(solved, {x: value, y: value})
            np.testing.assert_allclose(found, np.linalg.pinv(value) @ value, atol=1e-12)


def test_a_transposed_right_hand_side_gives_a_transposed_solution() -> None:
    """As in TensorFlow 1.x; later versions no longer turn the solution back."""
    with tf.Graph().as_default():
        plain = run(linalg.tridiagonal_solve(X, np.swapaxes(TALL, 1, 2)))
        turned = run(linalg.tridiagonal_solve(X, TALL, transpose_rhs=True))
    np.testing.assert_allclose(turned, np.swapaxes(plain, 1, 2))


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (2, 3, 4, 6)])
def test_orthogonal_initializer(shape: tuple[int, ...]) -> None:
    with tf.Graph().as_default():
        value = run(tf.orthogonal_initializer(gain=3.0, seed=2, dtype=tf.float64)(shape))
    assert value.shape == shape
    matrix = value.reshape(-1, shape[-1]) / 3.0
    product = matrix.T @ matrix if matrix.shape[0] >= matrix.shape[1] else matrix @ matrix.T
    np.testing.assert_allclose(product, np.eye(len(product)), atol=1e-12)


def test_delta_orthogonal_initializer() -> None:
    from penstock.ops.orthogonal_initializers import ConvolutionDeltaOrthogonal

    with tf.Graph().as_default():
        value = run(ConvolutionDeltaOrthogonal(seed=1)([3, 4, 2, 5]))
    centre = value[1, 1]
    np.testing.assert_allclose(centre @ centre.T, np.eye(2), atol=1e-6)
    assert np.count_nonzero(value) == np.count_nonzero(centre)
