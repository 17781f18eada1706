"""Random matrices with the properties that tests of linear algebra need."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops import random
from penstock.ops.casts import cast
from penstock.ops.casts import complex as complex_
from penstock.ops.diagonals import matrix_band_part, matrix_set_diag
from penstock.ops.elementwise import sign
from penstock.ops.filling import ones_like
from penstock.ops.matmul import matmul
from penstock.ops.permuting import matrix_transpose
from penstock.shapes import TensorShape


def random_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, seed: Any = None
) -> Tensor:
    """Normal numbers; for complex types, both parts are."""
    dtype = dtypes.as_dtype(dtype)
    with name_scope("random_normal"):
        real = random.random_normal(shape, mean, stddev, dtype.real_dtype, seed)
        if not dtype.is_complex:
            return real
        other_seed = None if seed is None else seed + 1234
        imaginary = random.random_normal(shape, mean, stddev, dtype.real_dtype, other_seed)
        return complex_(real, imaginary)


def random_uniform(
    shape: Any,
    minval: Any = None,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    seed: Any = None,
) -> Tensor:
    """Numbers between two bounds; for complex types, both parts are."""
    dtype = dtypes.as_dtype(dtype)
    with name_scope("random_uniform"):
        real = random.random_uniform(shape, minval, maxval, dtype.real_dtype, seed)
        if not dtype.is_complex:
            return real
        other_seed = None if seed is None else seed + 12345
        imaginary = random.random_uniform(shape, minval, maxval, dtype.real_dtype, other_seed)
        return complex_(real, imaginary)


def random_sign_uniform(
    shape: Any,
    minval: Any = None,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    seed: Any = None,
) -> Tensor:
    """`random_uniform`, each number with a random sign."""
    with name_scope("random_sign_uniform"):
        unsigned = random_uniform(shape, minval, maxval, dtype, seed)
        sign_seed = None if seed is None else seed + 12
        signs = sign(random.random_uniform(shape, -1.0, 1.0, seed=sign_seed))
        return unsigned * cast(signs, unsigned.dtype)


def random_tril_matrix(
    shape: Any, dtype: Any, force_well_conditioned: bool = False, remove_upper: bool = True
) -> Tensor:
    """Lower triangular matrices.

    Args:
      shape: of the matrices, with their batch.
      dtype: of their entries.
      force_well_conditioned: whether the moduli of the diagonal shall be from 1 to about 2.
      remove_upper: whether what is above the diagonal shall be zero.
    """
    dtype = dtypes.as_dtype(dtype)
    with name_scope("random_tril_matrix"):
        matrix = random_normal(shape, dtype=dtype)
        if remove_upper:
            matrix = matrix_band_part(matrix, -1, 0)
        if force_well_conditioned:
            largest = convert_to_tensor(np.sqrt(2.0), dtype.real_dtype)
            diagonal = random_sign_uniform(shape[:-1], 1.0, largest, dtype)
            matrix = matrix_set_diag(matrix, diagonal)
        return matrix


def random_positive_definite_matrix(
    shape: Any, dtype: Any, force_well_conditioned: bool = False
) -> Tensor:
    """Hermitian positive definite matrices; well conditioned: eigenvalues from 1 to about 4."""
    if not isinstance(shape, Tensor):
        shape = TensorShape(shape)
        shape.dims[-1].assert_is_compatible_with(shape.dims[-2])
    with name_scope("random_positive_definite_matrix"):
        factor = random_tril_matrix(shape, dtype, force_well_conditioned)
        return matmul(factor, factor, adjoint_b=True)


def random_normal_correlated_columns(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    eps: float = 1e-4,
    seed: Any = None,
) -> Tensor:
    """Normal matrices whose columns nearly depend on each other where they are wide enough.

    Args:
      shape: of the matrices, with their batch: two sizes at least.
      mean: of each entry.
      stddev: of each entry of matrices that are too narrow.
      dtype: of their entries.
      eps: how far a column is from the space that the others are in.
      seed: of the random numbers.
    """
    sizes = list(shape)
    if len(sizes) < 2:
        raise ValueError(f"Argument shape must be at least length 2.  Found: {shape}")
    *batch, rows, columns = sizes
    if columns < 2 or columns < rows:
        return random_normal(sizes, mean, stddev, dtype, seed)
    with name_scope("random_normal_correlated_columns"):
        small = random_normal(
            [*batch, rows, columns - 1], 0.0, 1 / np.sqrt(columns - 1), dtype, seed
        )
        other_seed = None if seed is None else seed + 1287
        embedding = random_normal([*batch, columns, columns - 1], dtype=dtype, seed=other_seed)
        embedded = matrix_transpose(matmul(embedding, small, transpose_b=True))
        noise = random_normal(sizes, stddev=eps, dtype=dtype)
        return embedded + noise + ones_like(embedded) * mean
