"""Products, decompositions and functions of matrices, and Fourier transforms."""

import numpy as np

from benchmarks.ops.trial import Family, alike, side, takes
from tests.ops.case import array, c64, f32


def _sizes(n: int) -> tuple[int, int]:
    """How many matrices, and their side: one of 32 × 32, or fifteen of 256 × 256."""
    return (1, side(n)) if n < 10**5 else (n // 256**2, 256)


def _matrices(n: int) -> np.ndarray:
    """Well-conditioned matrices."""
    count, size = _sizes(n)
    return f32(count, size, size) * np.float32(0.1) + 4 * np.eye(size, dtype="float32")


def _symmetric(n: int) -> np.ndarray:
    matrices = _matrices(n)
    return (matrices + matrices.transpose(0, 2, 1)) / 2


def _positive(n: int) -> np.ndarray:
    matrices = _matrices(n)
    return matrices @ matrices.transpose(0, 2, 1)


def _right(n: int) -> np.ndarray:
    count, size = _sizes(n)
    return f32(count, size, 8)


def _small_matrices(n: int) -> np.ndarray:
    """For functions that are slow: matrices of 32 × 32, of an eighth of the elements if many."""
    return f32(max(1, n // (8 * 32**2)), 32, 32) * np.float32(0.1) + 4 * np.eye(32, dtype="float32")


def _lower(n: int) -> np.ndarray:
    return np.linalg.cholesky(_positive(n)).astype("float32")


def _batch(n: int) -> np.ndarray:
    return f32(max(1, n // 2500), side(min(n, 2500)), side(min(n, 2500)))


def _signal(n: int, rank: int) -> tuple[int, ...]:
    each = {1: 512, 2: 32, 3: 8}[rank]
    return (max(1, n // each**rank), *[each] * rank)


FAMILY: Family = {
    "MatMul": lambda n: takes(f32(side(n), side(n)), f32(side(n), side(n))),
    "SparseMatMul": lambda n: takes(f32(side(n), side(n)), f32(side(n), side(n))),
    **alike("BatchMatMul BatchMatMulV2", lambda n: takes(_batch(n), _batch(n))),
    "BatchMatMulV3": lambda n: takes(_batch(n), _batch(n), Tout="float32"),
    "Einsum": lambda n: takes([_batch(n), _batch(n)], equation="bij,bkj->bik"),
    "Cholesky": lambda n: takes(_positive(n)),
    "CholeskyGrad": lambda n: takes(_lower(n), _matrices(n)),
    **alike(
        "Lu MatrixDeterminant LogMatrixDeterminant MatrixInverse Qr",
        lambda n: takes(_matrices(n)),
    ),
    "MatrixSolve": lambda n: takes(_matrices(n), _right(n)),
    "MatrixTriangularSolve": lambda n: takes(_lower(n), _right(n)),
    "MatrixSolveLs": lambda n: takes(_matrices(n), _right(n), array(0.1, "float64")),
    "BandedTriangularSolve": lambda n: takes(
        f32(n // 120, 4, 20, lo=1, hi=2), f32(n // 120, 20, 2)
    ),
    "TridiagonalSolve": lambda n: takes(f32(n // 80, 3, 20, lo=1, hi=2), f32(n // 80, 20, 1)),
    "TridiagonalMatMul": lambda n: takes(
        *(f32(n // 80, 1, 20) for _ in range(3)), f32(n // 80, 20, 2)
    ),
    "SelfAdjointEigV2": lambda n: takes(_symmetric(n)),
    "Eig": lambda n: takes(_small_matrices(n), Tout="complex64"),
    "Svd": lambda n: takes(_small_matrices(n)),
    "MatrixSquareRoot": lambda n: takes(_small_matrices(n)),
    "MatrixLogarithm": lambda n: takes(_small_matrices(n).astype("complex64")),
    **alike("FFT IFFT", lambda n: takes(c64(*_signal(n, 1)))),
    **alike("FFT2D IFFT2D", lambda n: takes(c64(*_signal(n, 2)))),
    **alike("FFT3D IFFT3D", lambda n: takes(c64(*_signal(n, 3)))),
    "RFFT": lambda n: takes(f32(*_signal(n, 1)), array([512], "int32")),
    "RFFT2D": lambda n: takes(f32(*_signal(n, 2)), array([32, 32], "int32")),
    "RFFT3D": lambda n: takes(f32(*_signal(n, 3)), array([8, 8, 8], "int32")),
    "IRFFT": lambda n: takes(c64(*_signal(n, 1)[:-1], 257), array([512], "int32")),
    "IRFFT2D": lambda n: takes(c64(*_signal(n, 2)[:-1], 17), array([32, 32], "int32")),
    "IRFFT3D": lambda n: takes(c64(*_signal(n, 3)[:-1], 5), array([8, 8, 8], "int32")),
}
