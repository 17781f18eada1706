"""Kernels of inverses, determinants and solutions of linear systems."""

import torch

from penstock.kernels.matrix_checks import (
    all_nonzero,
    in_single_precision,
    invalid,
    require_square,
    require_system,
)
from penstock.kernels.registry import kernel


def _factored(x, message):
    """The LU factors of matrices; an error where a matrix has no inverse."""
    factors, pivots, _ = torch.linalg.lu_factor_ex(x)
    if not all_nonzero(factors.diagonal(dim1=-2, dim2=-1)):
        raise invalid(message)
    return factors, pivots


@kernel("MatrixInverse", "BatchMatrixInverse", fresh=True)
def _(node):
    turned = node.attrs["adjoint"]

    def run(x):
        require_square(x)
        factors, pivots = _factored(x.mH if turned else x, "Input is not invertible.")
        identity = torch.eye(x.shape[-1], dtype=x.dtype, device=x.device)
        return torch.linalg.lu_solve(factors, pivots, identity.expand_as(x))

    return in_single_precision(node, run)


@kernel("MatrixDeterminant", "BatchMatrixDeterminant", fresh=True)
def _(node):
    def run(x):
        require_square(x)
        return torch.linalg.det(x)

    return in_single_precision(node, run)


@kernel("LogMatrixDeterminant", fresh=True)
def _(node):
    def run(x):
        require_square(x)
        sign, logarithm = torch.linalg.slogdet(x)
        return sign, logarithm.to(x.dtype)

    return in_single_precision(node, run)


@kernel("MatrixSolve", "BatchMatrixSolve", fresh=True)
def _(node):
    turned = node.attrs["adjoint"]

    def run(x, rhs):
        require_system(x, rhs)
        factors, pivots = _factored(x, "Input matrix is not invertible.")
        return torch.linalg.lu_solve(factors, pivots, rhs, adjoint=turned)

    return in_single_precision(node, run)


@kernel("MatrixTriangularSolve", "BatchMatrixTriangularSolve", fresh=True)
def _(node):
    lower, turned = node.attrs["lower"], node.attrs["adjoint"]

    def run(x, rhs):
        require_system(x, rhs, broadcasts=True)
        return _solve_triangular(x, rhs, lower, turned)

    return in_single_precision(node, run)


def _solve_triangular(x, rhs, lower, turned):
    if bool((x.diagonal(dim1=-2, dim2=-1) == 0).any()):
        raise invalid("Input matrix is not invertible.")
    if turned:
        return torch.linalg.solve_triangular(x.mH, rhs, upper=lower)
    return torch.linalg.solve_triangular(x, rhs, upper=not lower)


@kernel("BandedTriangularSolve", fresh=True)
def _(node):
    lower, turned = node.attrs["lower"], node.attrs["adjoint"]

    def run(bands, rhs):
        count, size = bands.shape[-2:]
        if not 1 <= count <= size or size != rhs.shape[-2]:
            raise invalid(
                f"bands of shape {list(bands.shape)} do not fit a rhs of {list(rhs.shape)}"
            )
        return _solve_triangular(_whole_matrix(bands, lower), rhs, lower, turned)

    return in_single_precision(node, run)


def _whole_matrix(bands, lower):
    """Triangular matrices from their diagonals, which stand in rows, the highest first.

    The unused entries of the shorter ones are at their start below the main diagonal, at their
    end above it.
    """
    count, size = bands.shape[-2:]
    whole = bands.new_zeros((*bands.shape[:-2], size, size))
    for row in range(count):
        offset = -row if lower else count - 1 - row
        length = size - abs(offset)
        entries = bands[..., row, size - length :] if lower else bands[..., row, :length]
        whole.diagonal(offset, dim1=-2, dim2=-1).copy_(entries)
    return whole
