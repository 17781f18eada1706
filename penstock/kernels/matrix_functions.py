"""Kernels of exponentials, logarithms and square roots of matrices.

Roots and logarithms are computed on the Schur form: A = Q T Qᴴ with an upper triangular T, whose
functions follow from those of its diagonal.
"""

import math

import numpy as np
import torch

from penstock.kernels.matrix_checks import in_single_precision, require_square
from penstock.kernels.registry import kernel


@kernel("MatrixExponential", fresh=True)
def _(node):
    def run(x):
        require_square(x)
        return torch.linalg.matrix_exp(x)

    return in_single_precision(node, run)


@kernel("MatrixSquareRoot", fresh=True)
def _(node):
    def run(x):
        require_square(x)
        if not x.numel():
            return torch.empty_like(x)
        root = _through_schur(x, _triangular_root)
        return root if x.is_complex() else _real_root(x, root)

    return in_single_precision(node, run)


@kernel("MatrixLogarithm", fresh=True)
def _(node):
    def run(x):
        require_square(x)
        return _through_schur(x, _triangular_logarithm)

    return run


def _real_root(x, root):
    """The real part of a root; not a number where the root isn't real."""
    size = root.abs().amax(dim=(-2, -1), keepdim=True)
    noise = math.sqrt(torch.finfo(x.dtype).eps) * size
    is_real = (root.imag.abs() <= noise).all(-1, keepdim=True).all(-2, keepdim=True)
    return torch.where(is_real, root.real, math.nan)


def _through_schur(x, function):
    if not x.numel():
        return x.clone()
    finite = torch.isfinite(x).all(-1, keepdim=True).all(-2, keepdim=True)
    # Twice the precision hides what the detour through eigenvectors costs.
    wide = torch.where(finite, x, 0).to(torch.complex128)
    q, t = _schur(wide)
    result = q @ function(t) @ q.mH
    result = result.masked_fill(~finite, complex(math.nan, math.nan))
    return result.to(x.dtype if x.is_complex() else _COMPLEX[x.dtype])


_COMPLEX = {torch.float32: torch.complex64, torch.float64: torch.complex128}

# The Schur form -------------------------------------------------------------------------------

_BELOW = 1e-13  # relative size of what may be left below the diagonal


def _schur(x):
    """Unitary q and upper triangular t with x = q @ t @ q.mH, of a batch of complex matrices."""
    if not bool(x.tril(-1).any()):
        return torch.eye(x.shape[-1], dtype=x.dtype, device=x.device).expand_as(x), x
    # The spaces that the first k eigenvectors span are kept by x: their orthonormal basis is q.
    _, vectors = torch.linalg.eig(x)
    q, _ = torch.linalg.qr(vectors)
    t = q.mH @ x @ q
    size = torch.linalg.matrix_norm(x)
    failed = ~(torch.linalg.matrix_norm(t.tril(-1)) <= _BELOW * x.shape[-1] * size)
    if bool(failed.any()):  # too few eigenvectors, or nearly parallel ones
        for index in failed.nonzero().tolist():
            place = tuple(index)
            q[place], t[place] = _schur_by_deflation(x[place])
    return q, t.triu()


def _schur_by_deflation(x):
    """The form of one matrix, column by column: one eigenvector is always to be trusted."""
    size = x.shape[-1]
    q = torch.eye(size, dtype=x.dtype, device=x.device)
    t = x.clone()
    for k in range(size - 1):
        _, vectors = torch.linalg.eig(t[k:, k:])
        basis, _ = torch.linalg.qr(vectors[:, :1], mode="complete")
        t[k:, :] = basis.mH @ t[k:, :]
        t[:, k:] = t[:, k:] @ basis
        q[:, k:] = q[:, k:] @ basis
        t[k + 1 :, k] = 0
    return q, t


# Functions of triangular matrices -------------------------------------------------------------


def _triangular_root(t):
    """The root, one diagonal after the other: each follows from those below it."""
    size = t.shape[-1]
    values = t.diagonal(dim1=-2, dim2=-1).sqrt()
    root = torch.diag_embed(values)
    for k in range(1, size):
        sums = values[..., k:] + values[..., : size - k]
        rest = (t - root @ root).diagonal(k, dim1=-2, dim2=-1)
        # Two zeros on the diagonal with nothing between them: nothing is its root.
        entries = torch.where((sums == 0) & (rest == 0), 0, rest / sums)
        root.diagonal(k, dim1=-2, dim2=-1).copy_(entries)
    return root


_DEGREE = 8  # of the Padé approximant; exact to double precision up to this distance from one:
_NEAR_ONE = 0.25
_MOST_ROOTS = 100


def _triangular_logarithm(t):
    """2ᵏ log of the 2ᵏ-th root, which is near one and has a short approximant."""
    identity = torch.eye(t.shape[-1], dtype=t.dtype, device=t.device)
    count = 0
    while count < _MOST_ROOTS:
        distance = torch.linalg.matrix_norm(t - identity, ord=1)
        if not bool((distance > _NEAR_ONE).any()):
            break
        t = _triangular_root(t)
        count += 1
    nodes, weights = np.polynomial.legendre.leggauss(_DEGREE)
    difference = t - identity
    result = torch.zeros_like(t)
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        denominator = identity + node * difference
        result += weight * torch.linalg.solve_triangular(denominator, difference, upper=True)
    return result * 2.0**count
