"""Operators that are known by their size alone: identities, their multiples, and zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes, errors
from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.linear_operators import batches
from penstock.linear_operators.operator import Hint, LinearOperator
from penstock.ops import array, casts, elementwise, reductions
from penstock.ops.control import no_op, with_dependencies
from penstock.ops.decompositions import adjoint as adjoint_of
from penstock.ops.rank_assertions import assert_rank
from penstock.ops.value_assertions import assert_equal, assert_non_negative, assert_positive
from penstock.shapes import TensorShape


class Size:
    """An argument that says how large an operator is: a number, or with rank 1 a batch shape."""

    def __init__(self, value: Any, argument: str, rank: int, asserts: bool, name: str):
        batches.assert_not_ref_type(value, argument)
        self.tensor: Any = batches.shape_tensor(value, name=name)
        self.known = constant_value(self.tensor)
        if asserts:
            wrong_rank = f"Argument {argument} must be a {rank}-D Tensor."
            negative = f"Argument {argument} must be non-negative."
            self.tensor = with_dependencies(
                [
                    assert_rank(self.tensor, rank, message=wrong_rank),
                    assert_non_negative(self.tensor, message=negative),
                ],
                self.tensor,
            )
        if not self.tensor.dtype.is_integer:
            raise TypeError(f"Argument {argument} must be integer type.  Found: {self.tensor}")
        if self.known is None:
            return
        if self.known.ndim != rank:
            raise ValueError(f"Argument {argument} must be a {rank}-D Tensor.  Found: {self.known}")
        if np.any(self.known < 0):
            raise ValueError(f"Argument {argument} must be non-negative.  Found: {self.known}")

    def static(self) -> Any:
        return None if self.known is None else self.known.tolist()


class _Sized(LinearOperator):
    """What identities and zeros have in common: sizes in place of tensors."""

    _rows: Size
    _cols: Size
    _batch: Size | None
    _assert_proper_shapes: bool

    def _shape(self) -> TensorShape:
        matrix = TensorShape([self._rows.static(), self._cols.static()])
        if self._batch is None:
            return matrix
        return TensorShape(self._batch.static()).concatenate(matrix)

    def _shape_tensor(self) -> Any:
        matrix = array.stack([self._rows.tensor, self._cols.tensor], axis=0)
        return matrix if self._batch is None else array.concat([self._batch.tensor, matrix], 0)

    def _smaller_side(self) -> Any:
        sides = [self.domain_dimension.value, self.range_dimension.value]
        if None not in sides:
            return min(side for side in sides if side is not None)
        return reductions.reduce_min(self.shape_tensor()[-2:])

    def _diagonal_shape(self) -> Any:
        if self.shape.is_fully_defined():
            return self.batch_shape.concatenate([self._smaller_side()])
        return array.concat([self.batch_shape_tensor(), [self._smaller_side()]], axis=0)

    def _in_batch(self, x: Any) -> Any:
        """`x` repeated for each of the operators of the batch."""
        if self._batch is None:
            return x
        ones = self.batch_shape.concatenate([1, 1])
        stretched = array.broadcast_static_shape(x.shape, ones)
        if ones.is_fully_defined():
            return x if stretched == x.shape else x + array.zeros(ones, dtype=self.dtype)
        sizes = array.concat([self.batch_shape_tensor(), [1, 1]], 0)
        return x + array.zeros(sizes, dtype=self.dtype)

    def _fitting(self, x: Any, adjoint_arg: bool) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        if not self._assert_proper_shapes:
            return x
        return with_dependencies([batches.assert_compatible_matrix_dimensions(self, x)], x)


def _batch_size(batch_shape: Any, asserts: bool) -> Size | None:
    if batch_shape is None:
        return None
    return Size(batch_shape, "batch_shape", 1, asserts, "batch_shape_arg")


class LinearOperatorIdentity(_Sized):
    """The identity, for each of `batch_shape`."""

    def __init__(
        self,
        num_rows: Any,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: Hint = True,
        is_self_adjoint: Hint = True,
        is_positive_definite: Hint = True,
        is_square: Hint = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorIdentity",
    ):
        for hint, what in (
            (is_self_adjoint, "self adjoint"),
            (is_non_singular, "non-singular"),
            (is_positive_definite, "positive-definite"),
            (is_square, "square"),
        ):
            if not hint:
                raise ValueError(f"An identity operator is always {what}.")
        self._assert_proper_shapes = assert_proper_shapes
        with name_scope(name):
            super().__init__(
                dtype=dtype or dtypes.float32,
                is_non_singular=is_non_singular,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=is_positive_definite,
                is_square=is_square,
                name=name,
            )
            self._rows = self._cols = Size(
                num_rows, "num_rows", 0, assert_proper_shapes, "num_rows"
            )
            self._batch = _batch_size(batch_shape, assert_proper_shapes)

    def _assert_non_singular(self) -> Operation:
        return no_op("assert_non_singular")

    def _assert_positive_definite(self) -> Operation:
        return no_op("assert_positive_definite")

    def _assert_self_adjoint(self) -> Operation:
        return no_op("assert_self_adjoint")

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._in_batch(self._fitting(x, adjoint_arg))

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _determinant(self) -> Any:
        return array.ones(self.batch_shape_tensor(), dtype=self.dtype)

    def _log_abs_determinant(self) -> Any:
        return array.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _trace(self) -> Any:
        ones: Any = array.ones(self._known_batch_shape(), dtype=self.dtype)
        return casts.cast(self._smaller_side(), self.dtype) * ones

    def _diag_part(self) -> Any:
        return array.ones(self._diagonal_shape(), dtype=self.dtype)

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Any:
        with self._name_scope(name):
            mat = convert_to_tensor(mat, name="mat")
            diagonal: Any = array.matrix_diag_part(mat)
            return array.matrix_set_diag(mat, 1 + diagonal)


class LinearOperatorScaledIdentity(_Sized):
    """A multiple of the identity, for each number of `multiplier`."""

    def __init__(
        self,
        num_rows: Any,
        multiplier: Any,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorScaledIdentity",
    ):
        self._assert_proper_shapes = assert_proper_shapes
        with name_scope(name, values=[multiplier, num_rows]):
            self._multiplier = batches.as_tensor_or_variable(multiplier, name="multiplier")
            if not self._multiplier.dtype.is_complex:
                if is_self_adjoint is False:
                    raise ValueError("A real diagonal operator is always self adjoint.")
                is_self_adjoint = True
            if not is_square:
                raise ValueError("A ScaledIdentity operator is always square.")
            super().__init__(
                dtype=self._multiplier.dtype.base_dtype,
                is_non_singular=is_non_singular,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=is_positive_definite,
                is_square=is_square,
                name=name,
            )
            self._rows = self._cols = Size(
                num_rows, "num_rows", 0, assert_proper_shapes, "num_rows"
            )

    @property
    def multiplier(self) -> Any:
        """What the identity is multiplied by."""
        return self._multiplier

    @property
    def num_rows(self) -> Any:
        return self._rows.tensor

    def _shape(self) -> TensorShape:
        size = self._rows.static()
        return self.multiplier.shape.concatenate([size, size])

    def _shape_tensor(self) -> Any:
        matrix = array.stack([self._rows.tensor, self._rows.tensor], axis=0)
        return array.concat([array.shape(self.multiplier), matrix], 0)

    def _assert_non_singular(self) -> Operation:
        size = elementwise.abs(self.multiplier)
        return assert_positive(size, message="LinearOperator was singular")

    def _assert_positive_definite(self) -> Operation:
        message = "LinearOperator was not positive definite."
        return assert_positive(casts.real(self.multiplier), message=message)

    def _assert_self_adjoint(self) -> Operation:
        imaginary = casts.imag(self.multiplier)
        message = "LinearOperator was not self-adjoint"
        return assert_equal(array.zeros_like(imaginary), imaginary, message=message)

    def _factors(self, conjugate: bool) -> Any:
        factors = array.expand_dims(array.expand_dims(self.multiplier, -1), -1)
        return casts.conj(factors) if conjugate else factors

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._fitting(x, adjoint_arg) * self._factors(conjugate=adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._fitting(rhs, adjoint_arg) / self._factors(conjugate=adjoint)

    def _determinant(self) -> Any:
        return self.multiplier ** casts.cast(self._rows.tensor, self.dtype)

    def _log_abs_determinant(self) -> Any:
        count: Any = casts.cast(self._rows.tensor, self.dtype.real_dtype)
        return count * elementwise.log(elementwise.abs(self.multiplier))

    def _trace(self) -> Any:
        ones: Any = array.ones(self._known_batch_shape(), dtype=self.dtype)
        return self.multiplier * casts.cast(self._smaller_side(), self.dtype) * ones

    def _diag_part(self) -> Any:
        ones: Any = array.ones(self._diagonal_shape(), dtype=self.dtype)
        return ones * array.expand_dims(self.multiplier, -1)

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Any:
        with self._name_scope(name):
            mat = convert_to_tensor(mat, name="mat")
            diagonal: Any = array.matrix_diag_part(mat)
            return array.matrix_set_diag(mat, array.expand_dims(self.multiplier, -1) + diagonal)


class LinearOperatorZeros(_Sized):
    """Nothing but zeros."""

    def __init__(
        self,
        num_rows: Any,
        num_columns: Any = None,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: Hint = False,
        is_self_adjoint: Hint = True,
        is_positive_definite: Hint = False,
        is_square: Hint = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorZeros",
    ):
        if not is_self_adjoint and is_square:
            raise ValueError("A zero operator is always self adjoint.")
        if is_non_singular:
            raise ValueError("A zero operator is always singular.")
        if is_positive_definite:
            raise ValueError("A zero operator is always not positive-definite.")
        self._assert_proper_shapes = assert_proper_shapes
        with name_scope(name):
            super().__init__(
                dtype=dtype or dtypes.float32,
                is_non_singular=is_non_singular,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=is_positive_definite,
                is_square=is_square,
                name=name,
            )
            columns = num_rows if num_columns is None else num_columns
            self._rows = Size(num_rows, "num_rows", 0, assert_proper_shapes, "num_rows")
            self._cols = Size(columns, "num_columns", 0, assert_proper_shapes, "num_columns")
            rows, cols = self._rows.static(), self._cols.static()
            if is_square and None not in (rows, cols) and rows != cols:
                raise ValueError(
                    f"LinearOperatorZeros initialized as is_square=True, but got num_rows({rows}) "
                    f"!= num_columns({cols})"
                )
            self._batch = _batch_size(batch_shape, assert_proper_shapes)

    def _assert_non_singular(self) -> Operation:
        raise errors.InvalidArgumentError(None, None, "Zero operators are always non-invertible.")

    def _assert_positive_definite(self) -> Operation:
        raise errors.InvalidArgumentError(
            None, None, "Zero operators are always non-positive definite."
        )

    def _assert_self_adjoint(self) -> Operation:
        return no_op("assert_self_adjoint")

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = self._fitting(x, adjoint_arg)
        sizes: Any = array.shape(x)
        rows = (self._cols if adjoint else self._rows).tensor
        product = array.zeros(array.concat([sizes[:-2], [rows, sizes[-1]]], 0), dtype=x.dtype)
        return self._in_batch(product)

    def _determinant(self) -> Any:
        return array.zeros(self._known_batch_shape(), dtype=self.dtype)

    def _trace(self) -> Any:
        return array.zeros(self._known_batch_shape(), dtype=self.dtype)

    def _diag_part(self) -> Any:
        return array.zeros(self._diagonal_shape(), dtype=self.dtype)

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Any:
        return self._in_batch(mat)
