"""Every operator against the matrix that it stands for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock import linalg
from penstock.linear_operators import algebra

RNG = np.random.RandomState(5)
Build = Callable[[Callable[[Any], Any]], Any]


def _complex(*shape: int) -> np.ndarray:
    return np.asarray(RNG.randn(*shape) + 1j * RNG.randn(*shape))


SQUARE = RNG.randn(2, 3, 3) + 3 * np.eye(3)
DEFINITE = SQUARE @ np.swapaxes(SQUARE, -1, -2) + np.eye(3)
DIAGONAL = RNG.uniform(1, 2, [2, 3])
COMPLEX = _complex(3, 3) + 3 * np.eye(3)
SPECTRUM = _complex(2, 4) + 4
THIN = RNG.randn(3, 2)


def _definite(t: Any) -> Any:
    return linalg.LinearOperatorFullMatrix(
        t(DEFINITE), is_self_adjoint=True, is_positive_definite=True
    )


def _kronecker(t: Any) -> Any:
    left = linalg.LinearOperatorFullMatrix(t(SQUARE), is_non_singular=True, is_square=True)
    right = linalg.LinearOperatorLowerTriangular(t(SQUARE[0]), is_non_singular=True)
    middle = linalg.LinearOperatorDiag(t(DIAGONAL[:, :2]), is_non_singular=True)
    return linalg.LinearOperatorKronecker([left, middle, right])


def _blocks(t: Any) -> Any:
    first = linalg.LinearOperatorFullMatrix(t(SQUARE), is_non_singular=True, is_square=True)
    second = linalg.LinearOperatorDiag(t(DIAGONAL[0]))
    return linalg.LinearOperatorBlockDiag([first, second])


def _composition(t: Any) -> Any:
    first = linalg.LinearOperatorFullMatrix(t(SQUARE))
    second = linalg.LinearOperatorLowerTriangular(t(DEFINITE[0]))
    return linalg.LinearOperatorComposition([first, second], is_square=True)


OPERATORS: dict[str, Build] = {
    "identity": lambda t: linalg.LinearOperatorIdentity(3, dtype=tf.float64),
    "identities": lambda t: linalg.LinearOperatorIdentity(3, [2], dtype=tf.float64),
    "scaled identity": lambda t: linalg.LinearOperatorScaledIdentity(3, t(np.array([2.0, -3.0]))),
    "complex multiple": lambda t: linalg.LinearOperatorScaledIdentity(2, t(np.array(2.0 + 1j))),
    "diagonal": lambda t: linalg.LinearOperatorDiag(t(DIAGONAL)),
    "complex diagonal": lambda t: linalg.LinearOperatorDiag(t(np.diagonal(COMPLEX).copy())),
    "full": lambda t: linalg.LinearOperatorFullMatrix(t(SQUARE), is_square=True),
    "complex": lambda t: linalg.LinearOperatorFullMatrix(t(COMPLEX), is_square=True),
    "definite": _definite,
    "triangular": lambda t: linalg.LinearOperatorLowerTriangular(t(SQUARE)),
    "complex triangular": lambda t: linalg.LinearOperatorLowerTriangular(t(COMPLEX)),
    "householder": lambda t: linalg.LinearOperatorHouseholder(t(DIAGONAL)),
    "complex householder": lambda t: linalg.LinearOperatorHouseholder(t(COMPLEX[0])),
    "adjoint": lambda t: linalg.LinearOperatorAdjoint(
        linalg.LinearOperatorFullMatrix(t(COMPLEX), is_square=True)
    ),
    "inverse": lambda t: linalg.LinearOperatorInversion(
        linalg.LinearOperatorFullMatrix(t(SQUARE), is_non_singular=True)
    ),
    "composition": _composition,
    "blocks": _blocks,
    "kronecker": _kronecker,
    "circulant": lambda t: linalg.LinearOperatorCirculant(t(SPECTRUM), tf.complex128),
    "circulant 2d": lambda t: linalg.LinearOperatorCirculant2D(
        t(SPECTRUM.reshape(2, 2, 2)), tf.complex128
    ),
    "circulant 3d": lambda t: linalg.LinearOperatorCirculant3D(
        t(SPECTRUM.reshape(2, 2, 2)), tf.complex128
    ),
    "toeplitz": lambda t: linalg.LinearOperatorToeplitz(
        t(np.array([5.0, 1.0, 2.0])), t(np.array([5.0, 3.0, 4.0]))
    ),
    "update": lambda t: linalg.LinearOperatorLowRankUpdate(
        linalg.LinearOperatorDiag(t(DIAGONAL), is_positive_definite=True), t(THIN)
    ),
    "update of two sides": lambda t: linalg.LinearOperatorLowRankUpdate(
        linalg.LinearOperatorFullMatrix(t(SQUARE), is_non_singular=True),
        t(THIN),
        t(np.array([2.0, -1.0])),
        t(2 * THIN),
    ),
}

# Written out by hand, where `to_dense` is not the default of the base class.
DENSE: dict[str, np.ndarray] = {
    "diagonal": DIAGONAL[..., None] * np.eye(3),
    "triangular": np.tril(SQUARE),
    "householder": np.stack([np.eye(3) - 2 * np.outer(v, v) / (v @ v) for v in DIAGONAL]),
    "adjoint": COMPLEX.conj().T,
    "inverse": np.linalg.inv(SQUARE),
    "composition": SQUARE @ np.tril(DEFINITE[0]),
    "kronecker": np.stack(
        [
            np.kron(np.kron(SQUARE[i], np.diag(DIAGONAL[i, :2])), np.tril(SQUARE[0]))
            for i in range(2)
        ]
    ),
    "toeplitz": np.array([[5.0, 3, 4], [1, 5, 3], [2, 1, 5]]),
    "update": DIAGONAL[..., None] * np.eye(3) + THIN @ THIN.T,
    "update of two sides": SQUARE + THIN @ np.diag([2.0, -1.0]) @ (2 * THIN.T),
}


def _known(value: Any) -> Any:
    return tf.constant(value)


def _fed(value: Any) -> Any:
    return tf.placeholder_with_default(value, [None] * np.ndim(value))


def _run(fetches: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetches)


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("given", [_known, _fed])
def test_operator_is_its_matrix(name: str, given: Callable[[Any], Any]) -> None:
    operator = OPERATORS[name](given)
    matrix = _run(operator.to_dense())
    if name in DENSE:
        np.testing.assert_allclose(matrix, DENSE[name], atol=1e-9)
    assert operator.shape.is_compatible_with(matrix.shape)
    assert _run(operator.shape_tensor()).tolist() == list(matrix.shape)
    assert _run(operator.tensor_rank_tensor()) == matrix.ndim
    sides = [operator.range_dimension_tensor(), operator.domain_dimension_tensor()]
    assert _run(sides) == list(matrix.shape[-2:])
    found = _run(
        {
            "diagonal": operator.diag_part(),
            "trace": operator.trace(),
            "determinant": operator.determinant(),
            "logarithm": operator.log_abs_determinant(),
            "sum": operator.add_to_tensor(tf.constant(matrix)),
        }
    )
    diagonal = np.diagonal(matrix, axis1=-2, axis2=-1)
    determinant = np.linalg.det(matrix)
    for key, expected in (
        ("diagonal", diagonal),
        ("trace", diagonal.sum(-1)),
        ("determinant", determinant),
        ("logarithm", np.log(np.abs(determinant))),
        ("sum", 2 * matrix),
    ):
        np.testing.assert_allclose(found[key], expected, rtol=1e-8, atol=1e-8, err_msg=key)


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("given", [_known, _fed])
@pytest.mark.parametrize("adjoint", [False, True])
def test_products_and_solutions(name: str, given: Callable[[Any], Any], adjoint: bool) -> None:
    operator = OPERATORS[name](given)
    matrix = _run(operator.to_dense())
    oriented = np.conj(np.swapaxes(matrix, -1, -2)) if adjoint else matrix
    x = _complex(*matrix.shape[:-1], 2) if np.iscomplexobj(matrix) else RNG.randn(*matrix.shape)
    x = x[..., :2]
    turned = np.conj(np.swapaxes(x, -1, -2))
    found = _run(
        {
            "product": operator.matmul(x, adjoint=adjoint),
            "turned product": operator.matmul(turned, adjoint=adjoint, adjoint_arg=True),
            "vectors": operator.matvec(x[..., 0], adjoint=adjoint),
            "solution": operator.solve(x, adjoint=adjoint),
            "turned solution": operator.solve(turned, adjoint=adjoint, adjoint_arg=True),
            "solved vectors": operator.solvevec(x[..., 0], adjoint=adjoint),
        }
    )
    product, solution = oriented @ x, np.linalg.solve(oriented, x)
    for key, expected in (
        ("product", product),
        ("turned product", product),
        ("vectors", product[..., 0]),
        ("solution", solution),
        ("turned solution", solution),
        ("solved vectors", solution[..., 0]),
    ):
        np.testing.assert_allclose(found[key], expected, rtol=1e-8, atol=1e-8, err_msg=key)


@pytest.mark.parametrize("name", OPERATORS)
def test_other_operators(name: str) -> None:
    operator = OPERATORS[name](_known)
    matrix = _run(operator.to_dense())
    turned = np.conj(np.swapaxes(matrix, -1, -2))
    found = _run(
        [
            operator.adjoint().to_dense(),
            operator.H.adjoint().to_dense(),
            operator.inverse().to_dense(),
            operator.matmul(operator).to_dense(),
            operator.solve(operator).to_dense(),
        ]
    )
    inverse = np.linalg.inv(matrix)
    identity = np.broadcast_to(np.eye(matrix.shape[-1]), matrix.shape)
    for ours, expected in zip(
        found, (turned, matrix, inverse, matrix @ matrix, identity), strict=True
    ):
        np.testing.assert_allclose(ours, expected, rtol=1e-8, atol=1e-8)
    if operator.is_self_adjoint and operator.is_positive_definite:
        factor = _run(operator.cholesky().to_dense())
        np.testing.assert_allclose(factor @ np.swapaxes(factor, -1, -2).conj(), matrix, atol=1e-9)
    else:
        with pytest.raises(ValueError, match="Cholesky"):
            operator.cholesky()


def test_zeros() -> None:
    operator = linalg.LinearOperatorZeros(2, 3, [4], is_square=False, is_self_adjoint=False)
    assert operator.shape.as_list() == [4, 2, 3]
    product, turned = _run(
        [operator.matmul(np.ones([3, 5], "f")), operator.matmul(np.ones([2, 5], "f"), adjoint=True)]
    )
    assert product.shape == (4, 2, 5) and not product.any()
    assert turned.shape == (4, 3, 5) and not turned.any()
    assert _run(operator.diag_part()).shape == (4, 2)
    with pytest.raises(NotImplementedError, match="singular"):
        operator.solve(np.ones([2, 5], "f"))


@pytest.mark.parametrize(
    ("build", "method", "message"),
    [
        (lambda: linalg.LinearOperatorDiag([1.0, 0.0]), "non_singular", "Singular operator"),
        (lambda: linalg.LinearOperatorDiag([1.0, -1.0]), "positive_definite", "non-positive"),
        (lambda: linalg.LinearOperatorDiag([1j]), "self_adjoint", "imaginary"),
        (lambda: linalg.LinearOperatorScaledIdentity(2, 0.0), "non_singular", "singular"),
        (lambda: linalg.LinearOperatorFullMatrix([[1.0, 2], [2, 4]]), "non_singular", "Singular"),
        (lambda: linalg.LinearOperatorFullMatrix([[1.0, 2], [0, 4]]), "self_adjoint", "adjoint"),
        (lambda: linalg.LinearOperatorLowerTriangular([[0.0]]), "non_singular", "Singular"),
        (lambda: linalg.LinearOperatorCirculant([1.0, 0.0]), "non_singular", "Spectrum"),
        (lambda: linalg.LinearOperatorCirculant([1.0, -1.0]), "positive_definite", "spectrum"),
        (lambda: linalg.LinearOperatorCirculant([1j]), "self_adjoint", "imaginary"),
    ],
)
def test_failed_assertions(build: Callable[[], Any], method: str, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        _run(getattr(build(), f"assert_{method}")())


def test_assertions_that_hold() -> None:
    operator = _definite(_known)
    _run([operator.assert_non_singular(), operator.assert_positive_definite()])
    _run(operator.assert_self_adjoint())
    kernel = np.fft.fft(np.array([4.0, 1, 0, 1])).astype(np.complex64)
    _run(linalg.LinearOperatorCirculant(kernel).assert_hermitian_spectrum())
    _run([_blocks(_known).assert_non_singular(), _kronecker(_known).assert_non_singular()])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: linalg.LinearOperatorIdentity(2, is_square=False), "always square"),
        (lambda: linalg.LinearOperatorIdentity(-2), "non-negative"),
        (lambda: linalg.LinearOperatorIdentity([2]), "0-D"),
        (lambda: linalg.LinearOperatorIdentity(2, [-1]), "non-negative"),
        (lambda: linalg.LinearOperatorDiag(1.0), "at least 1 dimension"),
        (lambda: linalg.LinearOperatorDiag([1.0], is_self_adjoint=False), "self adjoint"),
        (lambda: linalg.LinearOperatorFullMatrix([1.0]), "at least 2 dimensions"),
        (
            lambda: linalg.LinearOperatorFullMatrix(
                [[1.0]], is_positive_definite=True, is_non_singular=False
            ),
            "always non-singular",
        ),
        (lambda: linalg.LinearOperatorComposition([]), "non-empty"),
        (lambda: linalg.LinearOperatorHouseholder([1.0], is_positive_definite=True), "Householder"),
        (lambda: linalg.LinearOperatorZeros(2, 3), "num_rows"),
        (lambda: linalg.LinearOperatorToeplitz([1.0], [1.0, 2.0]), "mismatched"),
        (lambda: _definite(_known).matmul(np.ones([2, 2])), "not compatible"),
        (lambda: linalg.LinearOperatorFullMatrix(np.ones([2, 3])).inverse(), "non square"),
    ],
)
def test_refused(build: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()


def test_refused_types() -> None:
    with pytest.raises(TypeError, match="dtype"):
        _definite(_known).matmul(np.ones([3, 1], "f"))
    with pytest.raises(TypeError, match="same dtype"):
        linalg.LinearOperatorComposition(
            [linalg.LinearOperatorDiag([1.0]), linalg.LinearOperatorDiag(np.ones(1))]
        )
    with pytest.raises(TypeError, match="must have dtype in"):
        linalg.LinearOperatorFullMatrix([[1]])


def test_functions_take_operators() -> None:
    operator = _definite(_known)
    x = RNG.randn(2, 3, 2)
    found = _run(
        [
            linalg.matmul(operator, x),
            linalg.matmul(np.swapaxes(x, -1, -2), operator),
            linalg.solve(operator, x),
            linalg.inv(operator).to_dense(),
            linalg.cholesky(operator).to_dense(),
            linalg.det(operator),
            linalg.logdet(operator),
            linalg.trace(operator),
            linalg.diag_part(operator),
            linalg.adjoint(operator).to_dense(),
        ]
    )
    diagonal = np.diagonal(DEFINITE, axis1=-2, axis2=-1)
    expected = [
        DEFINITE @ x,
        np.swapaxes(x, -1, -2) @ DEFINITE,
        np.linalg.solve(DEFINITE, x),
        np.linalg.inv(DEFINITE),
        np.linalg.cholesky(DEFINITE),
        np.linalg.det(DEFINITE),
        np.log(np.linalg.det(DEFINITE)),
        diagonal.sum(-1),
        diagonal,
        DEFINITE,
    ]
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_an_operator_follows_its_variable() -> None:
    variable = tf.Variable(np.ones(2))
    operator = linalg.LinearOperatorDiag(variable)
    product = operator.matvec(np.array([1.0, 2.0]))
    (gradient,) = tf.gradients(product, variable)
    with tf.Session() as session:
        session.run(variable.initializer)
        session.run(variable.assign([3.0, 4.0]))
        assert session.run([product, gradient])[0].tolist() == [3.0, 8.0]
        assert session.run(gradient).tolist() == [1.0, 2.0]


def test_rules_of_users() -> None:
    class Twice(linalg.LinearOperatorDiag):
        pass

    assert algebra.INVERSE.find(Twice) is algebra.INVERSE.find(linalg.LinearOperatorDiag)
    marker = object()
    algebra.RegisterMatmul(Twice, Twice)(lambda a, b: marker)
    twice = Twice([2.0])
    assert twice.matmul(twice) is marker
    with pytest.raises(ValueError, match="already been registered"):
        algebra.RegisterMatmul(Twice, Twice)(lambda a, b: None)
