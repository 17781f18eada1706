"""`tf.linalg`: linear algebra."""

from penstock.linear_operators import (
    LinearOperator,
    LinearOperatorAdjoint,
    LinearOperatorBlockDiag,
    LinearOperatorCirculant,
    LinearOperatorCirculant2D,
    LinearOperatorCirculant3D,
    LinearOperatorComposition,
    LinearOperatorDiag,
    LinearOperatorFullMatrix,
    LinearOperatorHouseholder,
    LinearOperatorIdentity,
    LinearOperatorInversion,
    LinearOperatorKronecker,
    LinearOperatorLowerTriangular,
    LinearOperatorLowRankUpdate,
    LinearOperatorScaledIdentity,
    LinearOperatorToeplitz,
    LinearOperatorZeros,
)
from penstock.linear_operators.functions import (
    adjoint,
    cholesky,
    det,
    diag_part,
    inv,
    logdet,
    matmul,
    solve,
    trace,
)
from penstock.ops.aggregates import norm
from penstock.ops.clip import global_norm
from penstock.ops.decompositions import lu, qr
from penstock.ops.diagonals import diag as tensor_diag
from penstock.ops.diagonals import diag_part as tensor_diag_part
from penstock.ops.diagonals import eye
from penstock.ops.diagonals import matrix_band_part as band_part
from penstock.ops.diagonals import matrix_diag as diag
from penstock.ops.diagonals import matrix_set_diag as set_diag
from penstock.ops.einsum import einsum
from penstock.ops.least_squares import cholesky_solve
from penstock.ops.least_squares import matrix_solve_ls as lstsq
from penstock.ops.linear_algebra import (
    lu_matrix_inverse,
    lu_reconstruct,
    lu_solve,
    matrix_rank,
    matvec,
    normalize,
    pinv,
)
from penstock.ops.linear_systems import banded_triangular_solve, slogdet
from penstock.ops.linear_systems import matrix_triangular_solve as triangular_solve
from penstock.ops.matmul import cross
from penstock.ops.matrix_functions import expm, logm
from penstock.ops.matrix_functions import matrix_square_root as sqrtm
from penstock.ops.normalization import l2_normalize
from penstock.ops.permuting import matrix_transpose
from penstock.ops.permuting import matrix_transpose as transpose
from penstock.ops.spectral_decompositions import eig, eigvals, svd
from penstock.ops.spectral_decompositions import self_adjoint_eig as eigh
from penstock.ops.spectral_decompositions import self_adjoint_eigvals as eigvalsh
from penstock.ops.tensordot import tensordot
from penstock.ops.tridiagonal import tridiagonal_matmul, tridiagonal_solve

# The names that these functions have inside TensorFlow.
matrix_exponential = expm
log_matrix_determinant = slogdet

__all__ = [
    "LinearOperator",
    "LinearOperatorAdjoint",
    "LinearOperatorBlockDiag",
    "LinearOperatorCirculant",
    "LinearOperatorCirculant2D",
    "LinearOperatorCirculant3D",
    "LinearOperatorComposition",
    "LinearOperatorDiag",
    "LinearOperatorFullMatrix",
    "LinearOperatorHouseholder",
    "LinearOperatorIdentity",
    "LinearOperatorInversion",
    "LinearOperatorKronecker",
    "LinearOperatorLowRankUpdate",
    "LinearOperatorLowerTriangular",
    "LinearOperatorScaledIdentity",
    "LinearOperatorToeplitz",
    "LinearOperatorZeros",
    "adjoint",
    "band_part",
    "banded_triangular_solve",
    "cholesky",
    "cholesky_solve",
    "cross",
    "det",
    "diag",
    "diag_part",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "einsum",
    "expm",
    "eye",
    "global_norm",
    "inv",
    "l2_normalize",
    "logdet",
    "logm",
    "lstsq",
    "lu",
    "lu_matrix_inverse",
    "lu_reconstruct",
    "lu_solve",
    "matmul",
    "matrix_rank",
    "matrix_transpose",
    "matvec",
    "norm",
    "normalize",
    "pinv",
    "qr",
    "set_diag",
    "slogdet",
    "solve",
    "sqrtm",
    "svd",
    "tensor_diag",
    "tensor_diag_part",
    "tensordot",
    "trace",
    "transpose",
    "triangular_solve",
    "tridiagonal_matmul",
    "tridiagonal_solve",
]
