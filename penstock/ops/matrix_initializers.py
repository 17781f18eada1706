"""Initializers of matrices: the identity, and random orthogonal ones."""

from __future__ import annotations

import math
from typing import Any

from penstock import dtypes
from penstock.ir.tensor import Tensor
from penstock.ops.diagonals import eye
from penstock.ops.initializers import Initializer, floating, sizes_of
from penstock.ops.slicing import slice as slice_of

__all__ = ["orthogonal_initializer"]


class Identity(Initializer):
    """The identity matrix times `gain`."""

    def __init__(self, gain: float = 1.0, dtype: Any = dtypes.float32):
        self.gain = gain
        self.dtype = floating(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        whole = sizes_of(shape if partition_info is None else partition_info.full_shape)
        if len(whole) != 2:
            raise ValueError(
                "The tensor to initialize, specified by argument `shape` must be at least "
                f"two-dimensional. Received shape={shape}"
            )
        matrix = eye(*whole, dtype=dtype or self.dtype)
        if partition_info is not None:
            matrix = slice_of(matrix, partition_info.var_offset, shape)
        return self.gain * matrix  # type: ignore[operator]

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "dtype": self.dtype.name}
