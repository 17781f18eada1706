"""Operators that Fourier transforms apply: circulant and Toeplitz matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.linear_operators import batches
from penstock.linear_operators.operator import Hint, LinearOperator
from penstock.ops import array, casts, elementwise, fourier, reductions
from penstock.ops.decompositions import adjoint as adjoint_of
from penstock.ops.value_assertions import assert_equal, assert_less, assert_positive
from penstock.shapes import TensorShape, dimension_value

_TRANSFORMS: dict[int, tuple[Callable[..., Any], Callable[..., Any]]] = {
    1: (fourier.fft, fourier.ifft),
    2: (fourier.fft2d, fourier.ifft2d),
    3: (fourier.fft3d, fourier.ifft3d),
}


def _to_complex(x: Any) -> Any:
    if x.dtype.is_complex:
        return x
    return casts.cast(x, dtypes.complex128 if x.dtype == dtypes.float64 else dtypes.complex64)


class _Circulant(LinearOperator):
    """F⁻¹ diag(spectrum) F, where F is the Fourier transform of `depth` dimensions.

    The columns of what it is multiplied with are blocks, written out row by row.
    """

    _depth: int

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = dtypes.complex64,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = True,
        name: str | None = None,
    ):
        name = name or type(self).__name__
        with name_scope(name, values=[spectrum]):
            self._spectrum = convert_to_tensor(spectrum, name="spectrum")
            rank = self._spectrum.shape.ndims
            if rank is not None and rank < self._depth:
                raise ValueError(
                    f"Argument spectrum must have at least {self._depth} dimensions.  Found: "
                    f"{self._spectrum}"
                )
            if not self._spectrum.dtype.is_complex:
                if is_self_adjoint is False:
                    raise ValueError(
                        "A real spectrum always corresponds to a self-adjoint operator."
                    )
                is_self_adjoint = True
            if is_square is False:
                raise ValueError("A [[nested] block] circulant operator is always square.")
            super().__init__(
                dtype=dtypes.as_dtype(input_output_dtype),
                graph_parents=[self._spectrum],
                is_non_singular=is_non_singular,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=is_positive_definite,
                is_square=True,
                name=name,
            )

    @property
    def block_depth(self) -> int:
        """The number of dimensions of a block."""
        return self._depth

    @property
    def block_shape(self) -> TensorShape:
        return self.spectrum.shape[-self._depth :]

    def block_shape_tensor(self) -> Any:
        sizes: Any = array.shape(self.spectrum)
        return sizes[-self._depth :]

    @property
    def spectrum(self) -> Any:
        """The eigenvalues, one per frequency."""
        return self._spectrum

    def _shape(self) -> TensorShape:
        block = self.block_shape
        side = block.num_elements()
        return self.spectrum.shape[: -self._depth].concatenate([side, side])

    def _shape_tensor(self) -> Any:
        sizes: Any = array.shape(self.spectrum)
        side = reductions.reduce_prod(sizes[-self._depth :])
        return array.concat([sizes[: -self._depth], [side, side]], 0)

    def convolution_kernel(self, name: str = "convolution_kernel") -> Any:
        """The kernel with which the operator convolves: its first column, as a block."""
        with self._name_scope(name):
            kernel = _TRANSFORMS[self._depth][1](_to_complex(self.spectrum))
            return casts.cast(kernel, self.dtype)

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> Operation:
        """An operation that fails where the matrix is not real."""
        with self._name_scope(name):
            eps = np.finfo(self.dtype.real_dtype.as_numpy_dtype).eps
            most = eps * casts.cast(self.domain_dimension_tensor(), self.dtype.real_dtype)
            imaginary = elementwise.abs(casts.imag(self.convolution_kernel()))
            return assert_less(imaginary, most, message="Spectrum was not Hermitian")

    def _assert_non_singular(self) -> Operation:
        message = "Singular operator:  Spectrum contained zero values."
        return batches.assert_no_entries_with_modulus_zero(self.spectrum, message=message)

    def _assert_positive_definite(self) -> Operation:
        message = "Not positive definite:  Real part of spectrum was not all positive."
        return assert_positive(casts.real(self.spectrum), message=message)

    def _assert_self_adjoint(self) -> Operation:
        message = "Not self-adjoint:  The spectrum contained non-zero imaginary part."
        return batches.assert_zero_imag_part(self.spectrum, message=message)

    def _filtered(
        self, x: Any, adjoint_arg: bool, apply: Callable[[Any, Any], Any], conj: bool
    ) -> Any:
        """`x` transformed, with `apply(spectrum, transform)` in between, and transformed back."""
        forward, backward = _TRANSFORMS[self._depth]
        spectrum = _to_complex(self.spectrum)
        if conj:
            spectrum = casts.conj(spectrum)
        rows = array.matrix_transpose(
            casts.cast(adjoint_of(x) if adjoint_arg else x, spectrum.dtype)
        )
        sizes: Any = array.shape(rows)
        blocks = array.reshape(rows, array.concat([sizes[:-1], self.block_shape_tensor()], 0))
        result = backward(apply(array.expand_dims(spectrum, -self._depth - 1), forward(blocks)))
        sizes = array.shape(result)
        side = reductions.reduce_prod(self.block_shape_tensor())
        flat = array.reshape(result, array.concat([sizes[: -self._depth], [side]], 0))
        found = casts.cast(array.matrix_transpose(flat), self.dtype)
        if x.shape.ndims is not None:
            batch = array.broadcast_static_shape(x.shape[:-2], self.batch_shape)
            columns = x.shape[-2 if adjoint_arg else -1]
            found.set_shape(batch.concatenate([self.range_dimension, columns]))
        return found

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._filtered(x, adjoint_arg, lambda spectrum, value: spectrum * value, adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._filtered(rhs, adjoint_arg, lambda spectrum, value: value / spectrum, adjoint)

    def _axes(self) -> list[int]:
        return list(range(-self._depth, 0))

    def _determinant(self) -> Any:
        return casts.cast(reductions.reduce_prod(self.spectrum, axis=self._axes()), self.dtype)

    def _log_abs_determinant(self) -> Any:
        logarithms = elementwise.log(elementwise.abs(self.spectrum))
        return casts.cast(reductions.reduce_sum(logarithms, axis=self._axes()), self.dtype)

    def _trace(self) -> Any:
        total = reductions.reduce_sum(self.spectrum, axis=self._axes())
        if not self.dtype.is_complex:
            total = casts.real(total)
        return casts.cast(total, self.dtype)

    def _diag_part(self) -> Any:
        known = self.shape.is_fully_defined()
        shape: Any = self.shape[:-1] if known else self.shape_tensor()[:-1]
        entry = self.trace() / casts.cast(self.domain_dimension_tensor(), self.dtype)
        return array.expand_dims(entry, -1) * array.ones(shape, dtype=self.dtype)


class LinearOperatorCirculant(_Circulant):
    """A circulant matrix, given by the Fourier transform of its first column."""

    _depth = 1


class LinearOperatorCirculant2D(_Circulant):
    """A circulant matrix of circulant blocks, given by a two-dimensional spectrum."""

    _depth = 2


class LinearOperatorCirculant3D(_Circulant):
    """A nested circulant matrix, given by a three-dimensional spectrum."""

    _depth = 3


class LinearOperatorToeplitz(LinearOperator):
    """A matrix whose diagonals are constant, given by its first column and row."""

    def __init__(
        self,
        col: Any,
        row: Any,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str = "LinearOperatorToeplitz",
    ):
        with name_scope(name, values=[row, col]):
            self._row: Any = convert_to_tensor(row, name="row")
            self._col: Any = convert_to_tensor(col, name="col")
            self._check()
            if is_square is False:
                raise ValueError("Only square Toeplitz operators currently supported.")
            # A circulant matrix of twice the size holds the matrix in its corner.
            around = array.concat(
                [
                    self._col,
                    array.zeros_like(self._col[..., :1]),
                    array.reverse(self._row[..., 1:], axis=[-1]),
                ],
                axis=-1,
            )
            self._circulant = LinearOperatorCirculant(
                fourier.fft(_to_complex(around)), input_output_dtype=self._row.dtype
            )
            super().__init__(
                dtype=self._row.dtype,
                graph_parents=[self._row, self._col],
                is_non_singular=is_non_singular,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=is_positive_definite,
                is_square=True,
                name=name,
            )

    def _check(self) -> None:
        for name, tensor in (("row", self._row), ("col", self._col)):
            if tensor.shape.ndims is not None and tensor.shape.ndims < 1:
                raise ValueError(
                    f"Argument {name} must have at least 1 dimension.  Found: {tensor}"
                )
        sizes = [
            dimension_value(x.shape[-1])
            for x in (self._row, self._col)
            if x.shape.ndims is not None
        ]
        if len(sizes) == 2 and None not in sizes and sizes[0] != sizes[1]:
            raise ValueError("Expected square matrix, got row and col with mismatched dimensions.")

    @property
    def col(self) -> Any:
        """The first column."""
        return self._col

    @property
    def row(self) -> Any:
        """The first row."""
        return self._row

    def _shape(self) -> TensorShape:
        shape = array.broadcast_static_shape(self.row.shape, self.col.shape)
        return shape.concatenate(shape[-1:])

    def _shape_tensor(self) -> Any:
        sizes: Any = array.broadcast_dynamic_shape(array.shape(self.row), array.shape(self.col))
        return array.concat([sizes, [sizes[-1]]], 0)

    def _assert_self_adjoint(self) -> Operation:
        message = "row and col are not the same, and so this operator is not self-adjoint."
        return assert_equal(self.row, self.col, message=message)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        doubled = array.concat([x, array.zeros_like(x)], axis=-2)
        product = self._circulant.matmul(doubled, adjoint=adjoint)
        return product[..., : self.domain_dimension_tensor(), :]

    def _trace(self) -> Any:
        return casts.cast(self.domain_dimension_tensor(), self.dtype) * self.col[..., 0]

    def _diag_part(self) -> Any:
        return self.col[..., :1] * array.ones([self.domain_dimension_tensor()], self.dtype)
