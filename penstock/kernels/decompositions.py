"""Kernels of decompositions into triangular factors."""

import torch

from penstock.kernels.matrix_checks import (
    all_nonzero,
    in_single_precision,
    invalid,
    require_matrices,
    require_square,
)
from penstock.kernels.registry import kernel
from penstock.kernels.values import torch_type


@kernel("Cholesky", "BatchCholesky", fresh=True)
def _(node):
    def run(x):
        require_square(x)
        factor, info = torch.linalg.cholesky_ex(x)
        if bool(info.any()):
            raise invalid(
                "Cholesky decomposition was not successful. The input might not be valid."
            )
        return factor

    return in_single_precision(node, run)


@kernel("CholeskyGrad", "BatchCholeskyGrad", fresh=True)
def _(node):
    def run(factor, grad):
        require_square(factor)
        if factor.shape != grad.shape:
            raise invalid(
                f"l and grad must have one shape, got {list(factor.shape)} and {list(grad.shape)}"
            )
        factor = factor.tril()
        middle = (factor.mT @ grad.tril()).tril()
        middle.diagonal(dim1=-2, dim2=-1).mul_(0.5)
        left = torch.linalg.solve_triangular(factor.mT, middle, upper=True)
        found = torch.linalg.solve_triangular(factor, left, upper=False, left=False)
        return (found + found.mT) * 0.5

    return in_single_precision(node, run)


@kernel("Lu", fresh=True)
def _(node):
    index_type = torch_type(node.attrs["output_idx_type"])

    def run(x):
        require_square(x)
        factors, pivots, _ = torch.linalg.lu_factor_ex(x)
        if not all_nonzero(factors.diagonal(dim1=-2, dim2=-1)):
            raise invalid("Input is not invertible.")
        return factors, _permutation(factors, pivots).to(index_type)

    return in_single_precision(node, run)


def _permutation(factors, pivots):
    """Which row of the input each row of the product is, from the swaps that led there."""
    if factors.shape[-1] == 0:
        return pivots
    matrices = torch.lu_unpack(factors, pivots, unpack_data=False)[0]
    return matrices.real.argmax(-2) if matrices.is_complex() else matrices.argmax(-2)


@kernel("Qr", fresh=True)
def _(node):
    mode = "complete" if node.attrs["full_matrices"] else "reduced"

    def run(x):
        require_matrices(x)
        return torch.linalg.qr(x, mode=mode)

    return in_single_precision(node, run)
