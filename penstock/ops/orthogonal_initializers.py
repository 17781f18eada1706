"""Initializers that draw orthogonal matrices."""

from __future__ import annotations

import math
from typing import Any

from penstock import dtypes
from penstock.dtypes import DType
from penstock.ir.tensor import Tensor
from penstock.ops import array, casts, elementwise
from penstock.ops.decompositions import qr
from penstock.ops.initializers import Initializer, floating, sizes_of
from penstock.ops.random import random_normal

__all__ = ["orthogonal_initializer"]


def _random_orthogonal(rows: int, cols: int, dtype: DType, seed: int | None) -> Any:
    """A matrix with orthonormal columns, uniformly distributed among them; rows >= cols."""
    q, r = qr(random_normal([rows, cols], dtype=dtype, seed=seed), full_matrices=False)
    return q * elementwise.sign(array.diag_part(r))


class Orthogonal(Initializer):
    """A random orthogonal matrix times `gain`; of larger shapes, the last axis against the others.

    If there are more columns than rows, the rows are orthonormal, else the columns.
    """

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32):
        self.gain = gain
        self.seed = seed
        self.dtype = floating(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        sizes = sizes_of(shape)
        if len(sizes) < 2:
            raise ValueError(
                f"The tensor to initialize must be at least two-dimensional, got shape={shape}"
            )
        rows, cols = math.prod(sizes[:-1]), sizes[-1]
        wanted = dtypes.as_dtype(dtype or self.dtype)
        matrix = _random_orthogonal(max(rows, cols), min(rows, cols), wanted, self.seed)
        if rows < cols:
            matrix = array.matrix_transpose(matrix)
        return self.gain * array.reshape(matrix, sizes)

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}


class ConvolutionDeltaOrthogonal(Initializer):
    """A convolution filter that is orthogonal in its centre and zero elsewhere."""

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32):
        self.gain = gain
        self.seed = seed
        self.dtype = floating(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        sizes = sizes_of(shape)
        if not 3 <= len(sizes) <= 5:
            raise ValueError(
                "The tensor to initialize must be at least three-dimensional and at most "
                f"five-dimensional, got shape={shape}"
            )
        channels_in, channels_out = sizes[-2:]
        if channels_in > channels_out:
            raise ValueError("In_filters cannot be greater than out_filters.")
        wanted = dtypes.as_dtype(dtype or self.dtype)
        square = _random_orthogonal(channels_out, channels_out, wanted, self.seed)
        kernel = square[:channels_in, :] * casts.cast(self.gain, dtype=wanted)
        centre = [(size - 1) // 2 for size in sizes[:-2]]
        return array.scatter_nd([centre], array.expand_dims(kernel, 0), sizes)

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}


orthogonal_initializer = Orthogonal
convolutional_delta_orthogonal = ConvolutionDeltaOrthogonal
