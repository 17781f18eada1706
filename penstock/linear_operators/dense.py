"""Operators that a tensor holds: diagonals, triangles, whole matrices, reflections."""

from __future__ import annotations

from typing import Any

from penstock import dtypes, errors
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.linear_operators import batches
from penstock.linear_operators.operator import Hint, LinearOperator
from penstock.ops import aggregates, array, casts, elementwise, reductions
from penstock.ops.control import no_op
from penstock.ops.decompositions import adjoint as adjoint_of
from penstock.ops.matmul import matmul
from penstock.ops.value_assertions import assert_positive
from penstock.shapes import TensorShape

_SINGULAR = "Singular operator:  Diagonal contained zero values."


def _require_rank(tensor: Any, rank: int, argument: str) -> None:
    if tensor.shape.ndims is not None and tensor.shape.ndims < rank:
        what = "1 dimension" if rank == 1 else f"{rank} dimensions"
        raise ValueError(f"Argument {argument} must have at least {what}.  Found: {tensor}")


def _square_of(vectors: Any) -> TensorShape:
    """The shape of square matrices as large as vectors are long."""
    return vectors.shape.concatenate(vectors.shape[-1:])


def _square_tensor_of(vectors: Any) -> Any:
    sizes: Any = array.shape(vectors)
    return array.concat([sizes, [sizes[-1]]], 0)


class LinearOperatorDiag(LinearOperator):
    """A diagonal matrix."""

    def __init__(
        self,
        diag: Any,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str = "LinearOperatorDiag",
    ):
        with name_scope(name, values=[diag]):
            self._diag = batches.as_tensor_or_variable(diag, name="diag")
            _require_rank(self._diag, 1, "diag")
            if not self._diag.dtype.is_complex:
                if is_self_adjoint is False:
                    raise ValueError("A real diagonal operator is always self adjoint.")
                is_self_adjoint = True
            if is_square is False:
                raise ValueError("Only square diagonal operators currently supported.")
            super().__init__(
                dtype=self._diag.dtype,
                graph_parents=[self._diag],
                is_non_singular=is_non_singular,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=is_positive_definite,
                is_square=True,
                name=name,
            )

    @property
    def diag(self) -> Any:
        """The diagonal."""
        return self._diag

    def _shape(self) -> TensorShape:
        return _square_of(self._diag)

    def _shape_tensor(self) -> Any:
        return _square_tensor_of(self._diag)

    def _assert_non_singular(self) -> Operation:
        return batches.assert_no_entries_with_modulus_zero(self._diag, message=_SINGULAR)

    def _assert_positive_definite(self) -> Operation:
        if self.dtype.is_complex:
            found = "Diagonal operator had diagonal entries with non-positive real part"
        else:
            found = "Real diagonal operator had non-positive diagonal entries"
        message = f"{found}, thus was not positive definite."
        return assert_positive(casts.real(self._diag), message=message)

    def _assert_self_adjoint(self) -> Operation:
        return batches.assert_zero_imag_part(
            self._diag,
            message=(
                "This diagonal operator contained non-zero imaginary values.   Thus it was not "
                "self-adjoint."
            ),
        )

    def _entries(self, adjoint: bool) -> Any:
        return casts.conj(self._diag) if adjoint else self._diag

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        return array.expand_dims(self._entries(adjoint), -1) * x

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return self._entries(adjoint) * x

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        return rhs * array.expand_dims(1.0 / self._entries(adjoint), -1)

    def _determinant(self) -> Any:
        return reductions.reduce_prod(self._diag, axis=[-1])

    def _log_abs_determinant(self) -> Any:
        logarithms = elementwise.log(elementwise.abs(self._diag))
        return casts.cast(reductions.reduce_sum(logarithms, axis=[-1]), self.dtype)

    def _to_dense(self) -> Any:
        return array.matrix_diag(self._diag)

    def _diag_part(self) -> Any:
        return self.diag

    def _add_to_tensor(self, x: Any) -> Any:
        return array.matrix_set_diag(x, self._diag + array.matrix_diag_part(x))


class LinearOperatorFullMatrix(LinearOperator):
    """A matrix that is written out."""

    def __init__(
        self,
        matrix: Any,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str = "LinearOperatorFullMatrix",
    ):
        with name_scope(name, values=[matrix]):
            self._matrix = batches.as_tensor_or_variable(matrix, name="matrix")
            dtype = self._matrix.dtype.base_dtype
            if not (dtype.is_floating or dtype.is_complex) or dtype == dtypes.bfloat16:
                raise TypeError(
                    "Argument matrix must have dtype in [tf.float16, tf.float32, tf.float64, "
                    f"tf.complex64, tf.complex128].  Found: {dtype!r}"
                )
            _require_rank(self._matrix, 2, "matrix")
            super().__init__(
                dtype=dtype,
                graph_parents=[self._matrix],
                is_non_singular=is_non_singular,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=is_positive_definite,
                is_square=is_square,
                name=name,
            )

    def _shape(self) -> TensorShape:
        return self._matrix.shape

    def _shape_tensor(self) -> Any:
        return array.shape(self._matrix)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return matmul(self._matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _to_dense(self) -> Any:
        return convert_to_tensor(self._matrix)


class LinearOperatorLowerTriangular(LinearOperator):
    """The lower triangle of a square matrix."""

    def __init__(
        self,
        tril: Any,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str = "LinearOperatorLowerTriangular",
    ):
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        with name_scope(name, values=[tril]):
            self._tril = batches.as_tensor_or_variable(tril, name="tril")
            _require_rank(self._tril, 2, "tril")
            super().__init__(
                dtype=self._tril.dtype,
                graph_parents=[self._tril],
                is_non_singular=is_non_singular,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=is_positive_definite,
                is_square=True,
                name=name,
            )

    def _shape(self) -> TensorShape:
        return self._tril.shape

    def _shape_tensor(self) -> Any:
        return array.shape(self._tril)

    def _triangle(self) -> Any:
        return array.matrix_band_part(self._tril, -1, 0)

    def _diag_part(self) -> Any:
        return array.matrix_diag_part(self._tril)

    def _assert_non_singular(self) -> Operation:
        return batches.assert_no_entries_with_modulus_zero(self._diag_part(), message=_SINGULAR)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return matmul(self._triangle(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        return batches.matrix_triangular_solve_with_broadcast(
            self._triangle(), rhs, lower=True, adjoint=adjoint
        )

    def _determinant(self) -> Any:
        return reductions.reduce_prod(self._diag_part(), axis=[-1])

    def _log_abs_determinant(self) -> Any:
        logarithms = elementwise.log(elementwise.abs(self._diag_part()))
        return casts.cast(reductions.reduce_sum(logarithms, axis=[-1]), self.dtype)

    def _to_dense(self) -> Any:
        return self._triangle()


class LinearOperatorHouseholder(LinearOperator):
    """The reflection at the plane that stands upright on `reflection_axis`: I - 2 v vᴴ."""

    def __init__(
        self,
        reflection_axis: Any,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str = "LinearOperatorHouseholder",
    ):
        with name_scope(name, values=[reflection_axis]):
            self._reflection_axis = batches.as_tensor_or_variable(
                reflection_axis, name="reflection_axis"
            )
            _require_rank(self._reflection_axis, 1, "reflection_axis")
            if is_self_adjoint is False:
                raise ValueError("A Householder operator is always self adjoint.")
            if is_positive_definite is True:
                raise ValueError("A Householder operator is always non-positive definite.")
            if is_square is False:
                raise ValueError("A Householder operator is always square.")
            super().__init__(
                dtype=self._reflection_axis.dtype,
                graph_parents=[self._reflection_axis],
                is_non_singular=is_non_singular,
                is_self_adjoint=True,
                is_positive_definite=False,
                is_square=True,
                name=name,
            )

    @property
    def reflection_axis(self) -> Any:
        """The vector that is turned around."""
        return self._reflection_axis

    def _unit_vector(self) -> Any:
        axis = convert_to_tensor(self._reflection_axis)
        length = aggregates.norm(axis, axis=-1, keepdims=True)
        return array.expand_dims(axis / casts.cast(length, self.dtype), -1)

    def _shape(self) -> TensorShape:
        return _square_of(self._reflection_axis)

    def _shape_tensor(self) -> Any:
        return _square_tensor_of(self._reflection_axis)

    def _assert_non_singular(self) -> Operation:
        return no_op("assert_non_singular")

    def _assert_positive_definite(self) -> Operation:
        raise errors.InvalidArgumentError(
            None, None, "Householder operators are always non-positive definite."
        )

    def _assert_self_adjoint(self) -> Operation:
        return no_op("assert_self_adjoint")

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        vector = self._unit_vector()
        return x - 2 * vector * matmul(vector, x, adjoint_a=True)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _trace(self) -> Any:
        ones: Any = array.ones(self.batch_shape_tensor(), dtype=self.dtype)
        return casts.cast(self.domain_dimension_tensor() - 2, self.dtype) * ones

    def _determinant(self) -> Any:
        return -array.ones(self.batch_shape_tensor(), dtype=self.dtype)

    def _log_abs_determinant(self) -> Any:
        return array.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _to_dense(self) -> Any:
        vector = self._unit_vector()
        matrix: Any = -2 * matmul(vector, vector, adjoint_b=True)
        return array.matrix_set_diag(matrix, 1.0 + array.matrix_diag_part(matrix))

    def _diag_part(self) -> Any:
        vector: Any = array.squeeze(self._unit_vector(), axis=-1)
        return 1.0 - 2 * vector * casts.conj(vector)
