"""Kernels of decompositions into eigenvectors and singular vectors."""

import torch

from penstock.kernels.matrix_checks import (
    in_single_precision,
    invalid,
    require_matrices,
    require_square,
)
from penstock.kernels.registry import kernel
from penstock.kernels.values import torch_type

_NO_EIGENVECTORS = (
    "Self-adjoint eigen decomposition was not successful. The input might not be valid."
)


def _eigenvectors(x):
    """Eigenvalues and eigenvectors from the lower triangles."""
    require_square(x)
    if not bool(torch.isfinite(x).all()):
        raise invalid(_NO_EIGENVECTORS)
    try:
        return torch.linalg.eigh(x, UPLO="L")
    except torch.linalg.LinAlgError as error:
        raise invalid(_NO_EIGENVECTORS) from error


@kernel("SelfAdjointEig", "BatchSelfAdjointEig", fresh=True)
def _(node):
    def run(x):
        values, vectors = _eigenvectors(x)
        return torch.cat([values.unsqueeze(-2), vectors], dim=-2)

    return in_single_precision(node, run)


@kernel("SelfAdjointEigV2", "BatchSelfAdjointEigV2", fresh=True)
def _(node):
    wants_vectors = node.attrs["compute_v"]

    def run(x):
        values, vectors = _eigenvectors(x)
        return values.to(x.dtype), vectors if wants_vectors else x.new_empty(0)

    return in_single_precision(node, run)


@kernel("Eig", fresh=True)
def _(node):
    wants_vectors, target = node.attrs["compute_v"], torch_type(node.attrs["Tout"])

    def run(x):
        require_square(x)
        x = x.to(target)
        try:
            if not wants_vectors:
                return torch.linalg.eigvals(x), x.new_empty(0)
            values, vectors = torch.linalg.eig(x)
        except RuntimeError as error:  # also of what is not finite
            raise invalid(
                "Eigen decomposition was not successful. The input might not be valid."
            ) from error
        return values, vectors

    return run


@kernel("Svd", "BatchSvd", fresh=True)
def _(node):
    full = node.attrs["full_matrices"]

    def vectors(x):
        u, s, v = _finite_svd(x, full)
        return s.to(x.dtype), u, v.mH

    def values(x):
        s = _finite_svd(x, False)[1] if not bool(torch.isfinite(x).all()) else _values(x)
        return s.to(x.dtype), x.new_empty(0), x.new_empty(0)

    return in_single_precision(node, vectors if node.attrs["compute_uv"] else values)


def _values(x):
    require_matrices(x)
    return torch.linalg.svdvals(x)


def _finite_svd(x, full):
    """The decompositions; not a number in those of matrices that are not finite."""
    require_matrices(x)
    finite = torch.isfinite(x).all(-1).all(-1)
    if bool(finite.all()):
        return torch.linalg.svd(x, full_matrices=full)
    blanks = ~finite[..., None, None]
    u, s, v = torch.linalg.svd(x.masked_fill(blanks, 0), full_matrices=full)
    nan = float("nan")
    return (
        u.masked_fill(blanks, nan),
        s.masked_fill(blanks[..., 0], nan),
        v.masked_fill(blanks, nan),
    )
