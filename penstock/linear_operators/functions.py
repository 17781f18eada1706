"""The functions of `tf.linalg` that take linear operators in place of tensors too."""

from __future__ import annotations

from typing import Any

from penstock.linear_operators.operator import LinearOperator
from penstock.ops import aggregates, decompositions, diagonals, linear_algebra, linear_systems
from penstock.ops import matmul as products


def _named(name: str | None) -> dict[str, Any]:
    return {} if name is None else {"name": name}


def adjoint(matrix: Any, name: str | None = None) -> Any:
    """The conjugate transposes of matrices, or of an operator."""
    if isinstance(matrix, LinearOperator):
        return matrix.adjoint(**_named(name))
    return decompositions.adjoint(matrix, name)


def cholesky(input: Any, name: str | None = None) -> Any:
    """The lower triangular factors of positive definite matrices, or of an operator."""
    if isinstance(input, LinearOperator):
        return input.cholesky(**_named(name))
    return decompositions.cholesky(input, name)


def det(input: Any, name: str | None = None) -> Any:
    """The determinants of square matrices, or of an operator."""
    if isinstance(input, LinearOperator):
        return input.determinant(**_named(name))
    return linear_systems.matrix_determinant(input, name)


def diag_part(
    input: Any,
    name: str = "diag_part",
    k: Any = 0,
    padding_value: Any = 0,
    align: str | None = None,
) -> Any:
    """The diagonals of matrices, or the main one of an operator."""
    if isinstance(input, LinearOperator):
        return input.diag_part(name)
    return diagonals.matrix_diag_part(input, name, k, padding_value, align)


def inv(input: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """The inverses of square matrices, or of an operator."""
    if not isinstance(input, LinearOperator):
        return linear_systems.matrix_inverse(input, adjoint, name)
    inverse = input.inverse(**_named(name))
    return inverse.adjoint() if adjoint else inverse


def logdet(matrix: Any, name: str | None = None) -> Any:
    """The logarithms of the determinants of positive definite matrices, or of an operator."""
    if not isinstance(matrix, LinearOperator):
        return linear_algebra.logdet(matrix, name)
    if matrix.is_positive_definite and matrix.is_self_adjoint:
        return matrix.log_abs_determinant(**_named(name))
    raise ValueError("Expected matrix to be self-adjoint positive definite.")


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The products of matrices, or of an operator with matrices or another operator."""
    if not isinstance(a, LinearOperator) and not isinstance(b, LinearOperator):
        turned = (transpose_a, transpose_b, adjoint_a, adjoint_b)
        return products.matmul(a, b, *turned, a_is_sparse, b_is_sparse, name)
    if transpose_a or transpose_b:
        raise ValueError("Transposing not supported at this time.")
    if a_is_sparse or b_is_sparse:
        raise ValueError("Sparse methods not supported at this time.")
    if isinstance(a, LinearOperator):
        return a.matmul(b, adjoint=adjoint_a, adjoint_arg=adjoint_b, **_named(name))
    turned_product = b.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a, **_named(name))
    return decompositions.adjoint(turned_product)


def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """The solutions of linear systems, of which an operator may be the left-hand side."""
    if isinstance(matrix, LinearOperator):
        return matrix.solve(rhs, adjoint=adjoint, **_named(name))
    if isinstance(rhs, LinearOperator):
        raise ValueError(
            "Passing in `matrix` as a Tensor and `rhs` as a LinearOperator is not supported."
        )
    return linear_systems.matrix_solve(matrix, rhs, adjoint, name)


def trace(x: Any, name: str | None = None) -> Any:
    """The sums of the main diagonals of matrices, or of an operator."""
    if isinstance(x, LinearOperator):
        return x.trace(**_named(name))
    return aggregates.trace(x, name)
