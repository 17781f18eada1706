"""The names that ops on batches of matrices had before those on matrices took batches too.

Nodes of these types stand only in old GraphDefs: no function makes them any more.
"""

from __future__ import annotations

from typing import Any

from penstock.ir.registry import find, op, types
from penstock.ir.type_sets import COMPLEX, SINGLE_DOUBLE

__all__: list[str] = []

BatchCholesky = op("BatchCholesky(input: T) -> output: T", T=SINGLE_DOUBLE)
BatchCholeskyGrad = op("BatchCholeskyGrad(l: T, grad: T) -> output: T", T=SINGLE_DOUBLE)
BatchMatrixBandPart = op(
    "BatchMatrixBandPart(input: T, num_lower: int64, num_upper: int64) -> band: T"
)
BatchMatrixDeterminant = op(
    "BatchMatrixDeterminant(input: T) -> output: T", T=types(SINGLE_DOUBLE, COMPLEX)
)
BatchMatrixDiag = op("BatchMatrixDiag(diagonal: T) -> output: T")
BatchMatrixDiagPart = op("BatchMatrixDiagPart(input: T) -> diagonal: T")
BatchMatrixInverse = op("BatchMatrixInverse(input: T) -> output: T", adjoint=False, T=SINGLE_DOUBLE)
BatchMatrixSetDiag = op("BatchMatrixSetDiag(input: T, diagonal: T) -> output: T")
BatchMatrixSolve = op(
    "BatchMatrixSolve(matrix: T, rhs: T) -> output: T", adjoint=False, T=SINGLE_DOUBLE
)
BatchMatrixSolveLs = op(
    "BatchMatrixSolveLs(matrix: T, rhs: T, l2_regularizer: float64) -> output: T",
    T=SINGLE_DOUBLE,
    fast=True,
)
BatchMatrixTriangularSolve = op(
    "BatchMatrixTriangularSolve(matrix: T, rhs: T) -> output: T",
    lower=True,
    adjoint=False,
    T=SINGLE_DOUBLE,
)
BatchSelfAdjointEig = op("BatchSelfAdjointEig(input: T) -> output: T", T=SINGLE_DOUBLE)
BatchSelfAdjointEigV2 = op(
    "BatchSelfAdjointEigV2(input: T) -> e: T, v: T", compute_v=True, T=SINGLE_DOUBLE
)
BatchSvd = op(
    "BatchSvd(input: T) -> s: T, u: T, v: T",
    compute_uv=True,
    full_matrices=False,
    T=types(SINGLE_DOUBLE, COMPLEX),
)
BatchFFT = op("BatchFFT(input: complex64) -> output: complex64")
BatchIFFT = op("BatchIFFT(input: complex64) -> output: complex64")
BatchFFT2D = op("BatchFFT2D(input: complex64) -> output: complex64")
BatchIFFT2D = op("BatchIFFT2D(input: complex64) -> output: complex64")
BatchFFT3D = op("BatchFFT3D(input: complex64) -> output: complex64")
BatchIFFT3D = op("BatchIFFT3D(input: complex64) -> output: complex64")

OLD_NAMES = (
    BatchCholesky,
    BatchCholeskyGrad,
    BatchMatrixBandPart,
    BatchMatrixDeterminant,
    BatchMatrixDiag,
    BatchMatrixDiagPart,
    BatchMatrixInverse,
    BatchMatrixSetDiag,
    BatchMatrixSolve,
    BatchMatrixSolveLs,
    BatchMatrixTriangularSolve,
    BatchSelfAdjointEig,
    BatchSelfAdjointEigV2,
    BatchSvd,
    BatchFFT,
    BatchIFFT,
    BatchFFT2D,
    BatchIFFT2D,
    BatchFFT3D,
    BatchIFFT3D,
)


def today(old_name: str) -> str:
    """The op type that does today what an old one did."""
    return old_name.removeprefix("Batch")


def _shape_rule_of(name: str) -> Any:
    spec = find(name)
    assert spec is not None, f"{name} must be registered before its old name"
    return spec.shape_rule


for _old in OLD_NAMES:
    _old.shape(_shape_rule_of(today(_old.name)))
