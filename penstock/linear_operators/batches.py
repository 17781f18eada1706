"""Batches of matrices of different shapes, and what operators assert of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops import array, casts, elementwise
from penstock.ops.control import no_op
from penstock.ops.least_squares import cholesky_solve
from penstock.ops.linear_systems import matrix_solve, matrix_triangular_solve
from penstock.ops.value_assertions import assert_equal, assert_less
from penstock.ops.variables import Variable


def as_tensor_or_variable(value: Any, name: str | None = None) -> Any:
    """A tensor; a variable stays one, so that an operator follows its changes."""
    return value if isinstance(value, Variable) else convert_to_tensor(value, name=name)


def assert_not_ref_type(x: Any, arg_name: str) -> None:
    if isinstance(x, Variable):
        raise TypeError(f"Argument {arg_name} cannot be reference type. Found: {type(x)}")


def shape_tensor(shape: Any, name: str | None = None) -> Tensor:
    """A shape as a tensor; an empty list is one of integers too."""
    empty = isinstance(shape, (tuple, list)) and not shape
    return convert_to_tensor(shape, dtype=dtypes.int32 if empty else None, name=name)


# Broadcasting ---------------------------------------------------------------------------------


def broadcast_matrix_batch_dims(
    batch_matrices: Sequence[Any], name: str | None = None
) -> list[Tensor]:
    """Matrices whose batches are broadcast to one shape."""
    with name_scope(name or "broadcast_matrix_batch_dims", values=list(batch_matrices)):
        matrices = [convert_to_tensor(matrix) for matrix in batch_matrices]
        for matrix in matrices:
            if matrix.shape.ndims is not None and matrix.shape.ndims < 2:
                raise ValueError(
                    f"Expected [batch] matrix to have at least two dimensions.  Found: {matrix}"
                )
        if len(matrices) < 2:
            return matrices
        batch = matrices[0].shape[:-2]
        for matrix in matrices[1:]:
            batch = array.broadcast_static_shape(batch, matrix.shape[:-2])
        if batch.is_fully_defined():
            return [
                matrix if matrix.shape[:-2] == batch else _stretched(matrix, batch.as_list())
                for matrix in matrices
            ]
        sizes: Any = array.shape(matrices[0])
        computed = sizes[:-2]
        for matrix in matrices[1:]:
            sizes = array.shape(matrix)
            computed = array.broadcast_dynamic_shape(computed, sizes[:-2])
        return [_stretched(matrix, computed) for matrix in matrices]


def _stretched(matrix: Tensor, batch: Any) -> Tensor:
    sizes: Any = array.shape(matrix)
    return array.broadcast_to(matrix, array.concat([batch, sizes[-2:]], axis=0))


def cholesky_solve_with_broadcast(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """`tf.cholesky_solve` of batches that broadcast."""
    with name_scope(name, "CholeskySolveWithBroadcast", [chol, rhs]):
        chol, rhs = broadcast_matrix_batch_dims([chol, rhs])
        return cholesky_solve(chol, rhs)


def matrix_solve_with_broadcast(
    matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """`tf.matrix_solve` of batches that broadcast."""
    with name_scope(name, "MatrixSolveWithBroadcast", [matrix, rhs]):
        matrix, rhs = broadcast_matrix_batch_dims([matrix, rhs])
        return matrix_solve(matrix, rhs, adjoint=adjoint)


def matrix_triangular_solve_with_broadcast(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """`tf.matrix_triangular_solve` of batches that broadcast, which the op does by itself."""
    with name_scope(name, "MatrixTriangularSolve", [matrix, rhs]):
        return matrix_triangular_solve(matrix, rhs, lower=lower, adjoint=adjoint)


# Assertions -----------------------------------------------------------------------------------


def assert_no_entries_with_modulus_zero(
    x: Any, message: str | None = None, name: str = "assert_no_entries_with_modulus_zero"
) -> Operation:
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        zero = convert_to_tensor(0, dtype=x.dtype.base_dtype.real_dtype)
        return assert_less(zero, elementwise.abs(x), message=message)


def assert_zero_imag_part(
    x: Any, message: str | None = None, name: str = "assert_zero_imag_part"
) -> Operation:
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_floating:
            return no_op()
        zero = convert_to_tensor(0, dtype=x.dtype.base_dtype.real_dtype)
        return assert_equal(zero, casts.imag(x), message=message)


def assert_compatible_matrix_dimensions(operator: Any, x: Tensor) -> Operation:
    sizes: Any = array.shape(x)
    return assert_equal(
        sizes[-2],
        operator.domain_dimension_tensor(),
        message=(
            "Dimensions are not compatible.  shape[-2] of argument to be the same as this operator"
        ),
    )
