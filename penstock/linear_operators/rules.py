"""Which operators come out of adjoints, inverses, factors, products and quotients of operators."""

from __future__ import annotations

from typing import Any

from penstock.linear_operators import algebra, hints
from penstock.linear_operators.circulant import LinearOperatorCirculant
from penstock.linear_operators.dense import (
    LinearOperatorDiag,
    LinearOperatorHouseholder,
    LinearOperatorLowerTriangular,
)
from penstock.linear_operators.derived import LinearOperatorAdjoint, LinearOperatorInversion
from penstock.linear_operators.joined import (
    LinearOperatorBlockDiag,
    LinearOperatorComposition,
    LinearOperatorKronecker,
)
from penstock.linear_operators.operator import LinearOperator
from penstock.linear_operators.sized import (
    LinearOperatorIdentity,
    LinearOperatorScaledIdentity,
    LinearOperatorZeros,
)
from penstock.ops import casts, decompositions, elementwise

_DEFINITE: dict[str, Any] = {
    "is_non_singular": True,
    "is_self_adjoint": True,
    "is_positive_definite": True,
    "is_square": True,
}
_FACTOR: dict[str, Any] = {"is_non_singular": True, "is_self_adjoint": False, "is_square": True}


def _hints_of(operator: LinearOperator) -> dict[str, Any]:
    return {
        "is_non_singular": operator.is_non_singular,
        "is_self_adjoint": operator.is_self_adjoint,
        "is_positive_definite": operator.is_positive_definite,
        "is_square": operator.is_square,
    }


def _commuting(a: LinearOperator, b: LinearOperator) -> dict[str, Any]:
    """What is known of the product, or the quotient, of operators that commute."""
    return {
        "is_non_singular": hints.non_singular(a, b),
        "is_self_adjoint": hints.commuting_self_adjoint(a, b),
        "is_positive_definite": hints.commuting_positive_definite(a, b),
        "is_square": True,
    }


def _triangular(a: LinearOperator, b: LinearOperator) -> dict[str, Any]:
    return {**_commuting(a, b), "is_positive_definite": None}


def _product(a: LinearOperator, b: LinearOperator) -> dict[str, Any]:
    is_square = hints.square_product(a, b)
    if is_square is False:
        return {
            "is_non_singular": False,
            "is_self_adjoint": False,
            "is_positive_definite": False,
            "is_square": False,
        }
    return {
        "is_non_singular": hints.non_singular(a, b) if is_square else None,
        "is_square": is_square,
    }


# Adjoints -------------------------------------------------------------------------------------


@algebra.RegisterAdjoint(LinearOperator)
def _(operator: Any) -> LinearOperator:
    return LinearOperatorAdjoint(operator, **_hints_of(operator))


@algebra.RegisterAdjoint(LinearOperatorAdjoint)
def _(operator: Any) -> LinearOperator:
    return operator.operator


@algebra.RegisterAdjoint(LinearOperatorIdentity)
@algebra.RegisterAdjoint(LinearOperatorHouseholder)
def _(operator: Any) -> LinearOperator:
    return operator


@algebra.RegisterAdjoint(LinearOperatorScaledIdentity)
def _(operator: Any) -> LinearOperator:
    multiplier = casts.conj(operator.multiplier)
    return LinearOperatorScaledIdentity(operator.num_rows, multiplier, **_hints_of(operator))


@algebra.RegisterAdjoint(LinearOperatorDiag)
def _(operator: Any) -> LinearOperator:
    return LinearOperatorDiag(casts.conj(operator.diag), **_hints_of(operator))


@algebra.RegisterAdjoint(LinearOperatorBlockDiag)
@algebra.RegisterAdjoint(LinearOperatorKronecker)
def _(operator: Any) -> LinearOperator:
    return type(operator)([entry.adjoint() for entry in operator.operators], **_hints_of(operator))


@algebra.RegisterAdjoint(LinearOperatorCirculant)
def _(operator: Any) -> LinearOperator:
    return LinearOperatorCirculant(
        casts.conj(operator.spectrum), operator.dtype, **_hints_of(operator)
    )


# Inverses -------------------------------------------------------------------------------------


@algebra.RegisterInverse(LinearOperator)
def _(operator: Any) -> LinearOperator:
    return LinearOperatorInversion(operator, **_hints_of(operator))


@algebra.RegisterInverse(LinearOperatorInversion)
def _(operator: Any) -> LinearOperator:
    return operator.operator


@algebra.RegisterInverse(LinearOperatorIdentity)
@algebra.RegisterInverse(LinearOperatorHouseholder)
def _(operator: Any) -> LinearOperator:
    return operator


@algebra.RegisterInverse(LinearOperatorDiag)
def _(operator: Any) -> LinearOperator:
    return LinearOperatorDiag(1.0 / operator.diag, **_hints_of(operator))


@algebra.RegisterInverse(LinearOperatorScaledIdentity)
def _(operator: Any) -> LinearOperator:
    multiplier = 1.0 / operator.multiplier
    return LinearOperatorScaledIdentity(operator.num_rows, multiplier, **_hints_of(operator))


@algebra.RegisterInverse(LinearOperatorBlockDiag)
@algebra.RegisterInverse(LinearOperatorKronecker)
def _(operator: Any) -> LinearOperator:
    return type(operator)([entry.inverse() for entry in operator.operators], **_hints_of(operator))


@algebra.RegisterInverse(LinearOperatorCirculant)
def _(operator: Any) -> LinearOperator:
    return LinearOperatorCirculant(1.0 / operator.spectrum, operator.dtype, **_hints_of(operator))


# Cholesky factors -----------------------------------------------------------------------------


@algebra.RegisterCholesky(LinearOperator)
def _(operator: Any) -> LinearOperator:
    factor = decompositions.cholesky(operator.to_dense())
    return LinearOperatorLowerTriangular(factor, **_FACTOR)


@algebra.RegisterCholesky(LinearOperatorDiag)
def _(operator: Any) -> LinearOperator:
    return LinearOperatorDiag(elementwise.sqrt(operator.diag), **_DEFINITE)


@algebra.RegisterCholesky(LinearOperatorIdentity)
def _(operator: Any) -> LinearOperator:
    return operator


@algebra.RegisterCholesky(LinearOperatorScaledIdentity)
def _(operator: Any) -> LinearOperator:
    multiplier = elementwise.sqrt(operator.multiplier)
    return LinearOperatorScaledIdentity(operator.num_rows, multiplier, **_DEFINITE)


@algebra.RegisterCholesky(LinearOperatorBlockDiag)
@algebra.RegisterCholesky(LinearOperatorKronecker)
def _(operator: Any) -> LinearOperator:
    factors = [entry.cholesky() for entry in operator.operators]
    # Factors of diagonal operators are self-adjoint, so that their sum or product may be too.
    denied = not all(factor.is_self_adjoint for factor in factors)
    return type(operator)(factors, **(_FACTOR if denied else _DEFINITE))


# Products -------------------------------------------------------------------------------------


@algebra.RegisterMatmul(LinearOperator, LinearOperator)
def _(a: Any, b: Any) -> LinearOperator:
    return LinearOperatorComposition([a, b], **_product(a, b))


@algebra.RegisterMatmul(LinearOperatorIdentity, LinearOperator)
@algebra.RegisterSolve(LinearOperatorIdentity, LinearOperator)
def _(identity: Any, operator: Any) -> LinearOperator:
    return operator


@algebra.RegisterMatmul(LinearOperator, LinearOperatorIdentity)
def _(operator: Any, identity: Any) -> LinearOperator:
    return operator


@algebra.RegisterMatmul(LinearOperator, LinearOperatorZeros)
def _(operator: Any, zeros: Any) -> LinearOperator:
    return _square_zeros(zeros, operator)


@algebra.RegisterMatmul(LinearOperatorZeros, LinearOperator)
def _(zeros: Any, operator: Any) -> LinearOperator:
    return _square_zeros(zeros, operator)


def _square_zeros(zeros: Any, operator: Any) -> LinearOperator:
    if not zeros.is_square or not operator.is_square:
        raise ValueError(
            "Matmul with non-square `LinearOperator`s or non-square `LinearOperatorZeros` not "
            "supported at this time."
        )
    return zeros


@algebra.RegisterMatmul(LinearOperatorDiag, LinearOperatorDiag)
def _(a: Any, b: Any) -> LinearOperator:
    return LinearOperatorDiag(a.diag * b.diag, **_commuting(a, b))


@algebra.RegisterMatmul(LinearOperatorDiag, LinearOperatorScaledIdentity)
def _(diagonal: Any, scaled: Any) -> LinearOperator:
    entries = diagonal.diag * scaled.multiplier[..., None]
    return LinearOperatorDiag(entries, **_commuting(diagonal, scaled))


@algebra.RegisterMatmul(LinearOperatorScaledIdentity, LinearOperatorDiag)
def _(scaled: Any, diagonal: Any) -> LinearOperator:
    entries = diagonal.diag * scaled.multiplier[..., None]
    return LinearOperatorDiag(entries, **_commuting(diagonal, scaled))


@algebra.RegisterMatmul(LinearOperatorDiag, LinearOperatorLowerTriangular)
def _(diagonal: Any, triangle: Any) -> LinearOperator:
    entries = diagonal.diag[..., None] * triangle.to_dense()
    return LinearOperatorLowerTriangular(entries, **_triangular(diagonal, triangle))


@algebra.RegisterMatmul(LinearOperatorLowerTriangular, LinearOperatorDiag)
def _(triangle: Any, diagonal: Any) -> LinearOperator:
    entries = triangle.to_dense() * diagonal.diag[..., None, :]
    return LinearOperatorLowerTriangular(entries, **_triangular(diagonal, triangle))


@algebra.RegisterMatmul(LinearOperatorCirculant, LinearOperatorCirculant)
def _(a: Any, b: Any) -> LinearOperator:
    return LinearOperatorCirculant(a.spectrum * b.spectrum, a.dtype, **_commuting(a, b))


# Quotients ------------------------------------------------------------------------------------


@algebra.RegisterSolve(LinearOperator, LinearOperator)
def _(a: Any, b: Any) -> LinearOperator:
    return LinearOperatorComposition([LinearOperatorInversion(a), b], **_product(a, b))


@algebra.RegisterSolve(LinearOperatorInversion, LinearOperator)
def _(a: Any, b: Any) -> LinearOperator:
    return a.operator.matmul(b)


@algebra.RegisterSolve(LinearOperatorDiag, LinearOperatorDiag)
def _(a: Any, b: Any) -> LinearOperator:
    return LinearOperatorDiag(b.diag / a.diag, **_commuting(a, b))


@algebra.RegisterSolve(LinearOperatorDiag, LinearOperatorScaledIdentity)
def _(diagonal: Any, scaled: Any) -> LinearOperator:
    entries = scaled.multiplier[..., None] / diagonal.diag
    return LinearOperatorDiag(entries, **_commuting(diagonal, scaled))


@algebra.RegisterSolve(LinearOperatorScaledIdentity, LinearOperatorDiag)
def _(scaled: Any, diagonal: Any) -> LinearOperator:
    entries = diagonal.diag / scaled.multiplier[..., None]
    return LinearOperatorDiag(entries, **_commuting(diagonal, scaled))


@algebra.RegisterSolve(LinearOperatorDiag, LinearOperatorLowerTriangular)
def _(diagonal: Any, triangle: Any) -> LinearOperator:
    entries = triangle.to_dense() / diagonal.diag[..., None]
    return LinearOperatorLowerTriangular(entries, **_triangular(diagonal, triangle))


@algebra.RegisterSolve(LinearOperatorCirculant, LinearOperatorCirculant)
def _(a: Any, b: Any) -> LinearOperator:
    return LinearOperatorCirculant(b.spectrum / a.spectrum, a.dtype, **_commuting(a, b))
