"""Convolution filters that keep the length of what they are applied to, of one to three axes.

A filter is the product of filters of width 2, each made of random symmetric projections P: along an
axis one tap projects by P, the other by 1 - P. The product is taken as that of polynomials whose
coefficients are matrices, with an exponent for each axis.
"""

from __future__ import annotations

import itertools
from functools import reduce
from typing import Any

from penstock import dtypes
from penstock.ir.tensor import Tensor
from penstock.ops.casts import cast
from penstock.ops.diagonals import eye
from penstock.ops.initializers import Initializer, floating, sizes_of
from penstock.ops.joining import stack
from penstock.ops.matmul import matmul
from penstock.ops.orthogonal_initializers import _random_orthogonal
from penstock.ops.permuting import matrix_transpose
from penstock.ops.random import random_normal
from penstock.ops.shaping import reshape

#: The matrix of each position of a filter.
Taps = dict[tuple[int, ...], Any]

_RANK_NAMES = {1: "three", 2: "four", 3: "five"}


class ConvolutionOrthogonal(Initializer):
    """Base of the initializers for one, two and three axes.

    Exact where the input is padded with itself, in a circle.

    Args:
      gain: the factor by which the filter lengthens what it is applied to.
      seed: of the random numbers; grows with each draw.
      dtype: the type if a call gives none.
    """

    _axes = 0

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32):
        self.gain = gain
        self.dtype = floating(dtype)
        self.seed = seed

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        if not self._axes:
            raise NotImplementedError
        sizes = sizes_of(shape)
        if len(sizes) != self._axes + 2:
            name = _RANK_NAMES[self._axes]
            raise ValueError(f"The tensor to initialize must be {name}-dimensional")
        *widths, channels_in, channels_out = sizes
        if channels_in > channels_out:
            raise ValueError("In_filters cannot be greater than out_filters.")
        if len(set(widths)) > 1:
            raise ValueError("Kernel sizes must be equal.")
        kernel = self._orthogonal_kernel(widths[0], channels_in, channels_out)
        return kernel * cast(self.gain, dtype=dtypes.as_dtype(dtype or self.dtype))

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}

    def _next_seed(self) -> int | None:
        seed = self.seed
        if self.seed:
            self.seed += 1
        return seed

    def _orthogonal_matrix(self, n: int) -> Any:
        return _random_orthogonal(n, n, self.dtype, self._next_seed())

    def _symmetric_projection(self, n: int) -> Any:
        """A matrix P with P = PP = Pᵀ, on a random space."""
        basis = self._orthogonal_matrix(n)
        chosen = cast(random_normal([n], seed=self._next_seed()) > 0, self.dtype)
        columns = basis * chosen
        return matmul(columns, matrix_transpose(columns))

    def _block_orth(self, *projections: Any) -> Taps:
        """A filter of width 2 with a projection for each axis."""
        sizes = [projection.shape.as_list() for projection in projections]
        if any(size != sizes[0] for size in sizes):
            raise ValueError("The dimension of the matrices must be the same.")
        one = eye(sizes[0][0], dtype=self.dtype)
        pairs = [(projection, one - projection) for projection in projections]
        if self._axes == 3:
            pairs = [(rest, projection) for projection, rest in pairs]
        return {
            position: reduce(matmul, [pair[i] for pair, i in zip(pairs, position, strict=True)])
            for position in itertools.product((0, 1), repeat=len(projections))
        }

    def _matrix_conv(self, m1: Taps, m2: Taps) -> Taps:
        """The product of two filters."""
        n = next(iter(m1.values())).shape.as_list()[0]
        if n != next(iter(m2.values())).shape.as_list()[0]:
            raise ValueError("The entries in matrices m1 and m2 must have the same dimensions!")
        result: Taps = {}
        for (at1, tap1), (at2, tap2) in itertools.product(m1.items(), m2.items()):
            position = tuple(i + j for i, j in zip(at1, at2, strict=True))
            before = result.get(position)
            product = matmul(tap1, tap2)
            result[position] = product if before is None else before + product
        return result

    def _dict_to_tensor(self, taps: Taps, width: int) -> Any:
        positions = itertools.product(range(width), repeat=self._axes)
        stacked = stack([taps[position] for position in positions])
        return reshape(stacked, [width] * self._axes + stacked.shape.as_list()[1:])

    def _orthogonal_kernel(self, ksize: int, cin: int, cout: int) -> Any:
        if cin > cout:
            raise ValueError(
                "The number of input channels cannot exceed the number of output channels."
            )
        rows = self._orthogonal_matrix(cout)[0:cin, :]
        if ksize == 1:
            return reshape(rows, [1] * self._axes + [cin, cout])
        blocks = [
            self._block_orth(*[self._symmetric_projection(cout) for _ in range(self._axes)])
            for _ in range(ksize - 1)
        ]
        taps = reduce(self._matrix_conv, blocks)
        return self._dict_to_tensor({at: matmul(rows, tap) for at, tap in taps.items()}, ksize)


class ConvolutionOrthogonal1D(ConvolutionOrthogonal):
    """An orthogonal filter of shape [width, channels in, channels out]."""

    _axes = 1


class ConvolutionOrthogonal2D(ConvolutionOrthogonal):
    """An orthogonal filter of shape [width, width, channels in, channels out]."""

    _axes = 2


class ConvolutionOrthogonal3D(ConvolutionOrthogonal):
    """An orthogonal filter of shape [width, width, width, channels in, channels out]."""

    _axes = 3


convolutional_orthogonal_1d = ConvolutionOrthogonal1D
convolutional_orthogonal_2d = ConvolutionOrthogonal2D
convolutional_orthogonal_3d = ConvolutionOrthogonal3D
