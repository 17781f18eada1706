"""Kernels of least squares."""

import torch

from penstock.kernels.matrix_checks import in_single_precision, invalid, require_system
from penstock.kernels.registry import kernel


@kernel("MatrixSolveLs", "BatchMatrixSolveLs", fresh=True)
def _(node):
    def run(x, rhs, regularizer):
        require_system(x, rhs, is_square=False)
        if regularizer.dim() != 0:
            raise invalid(f"l2_regularizer must be scalar, got shape {list(regularizer.shape)}")
        if 0 in (*x.shape, *rhs.shape):
            return rhs.new_zeros((*rhs.shape[:-2], x.shape[-1], rhs.shape[-1]))
        return solve(x, rhs, regularizer)

    solve = _normal_equations if node.attrs["fast"] else _smallest
    return in_single_precision(node, run)


def _normal_equations(x, rhs, regularizer):
    weight = regularizer.item()
    if weight < 0:
        raise invalid("l2_regularizer must be >= 0.")
    tall = x.shape[-2] >= x.shape[-1]
    gramian = x.mH @ x if tall else x @ x.mH
    if weight:
        gramian.diagonal(dim1=-2, dim2=-1).add_(weight)
    factor, info = torch.linalg.cholesky_ex(gramian)
    if bool(info.any()):
        raise invalid(
            "Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide "
            "a larger l2_regularizer > 0."
        )
    if tall:
        return torch.cholesky_solve(x.mH @ rhs, factor)
    return x.mH @ torch.cholesky_solve(rhs, factor)


def _smallest(x, rhs, regularizer):
    """The solution of the smallest norm, also of matrices without full rank."""
    if x.is_cuda:  # where only the method for full rank is at hand
        return torch.linalg.pinv(x) @ rhs
    return torch.linalg.lstsq(x, rhs, driver="gelsd").solution
