"""The base of linear operators: matrices that are known by what they do."""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from penstock import dtypes
from penstock.dtypes import DType
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.linear_operators import algebra, batches
from penstock.module import Module
from penstock.ops import array, casts, decompositions, elementwise, linear_systems, reductions
from penstock.ops.spectral_decompositions import svd
from penstock.ops.value_assertions import assert_equal, assert_less, assert_positive
from penstock.ops.variables import Variable
from penstock.shapes import Dimension, TensorShape, dimension_at_index

Hint = bool | None  # None: it is not known


class LinearOperator(Module, abc.ABC):
    """A matrix, or a batch of matrices, that need not be written out.

    A subclass says how it multiplies (`_matmul`) and what its shape is (`_shape`,
    `_shape_tensor`); what it knows a better way for (`_solve`, `_determinant`, `_to_dense` …) it
    overrides. Hints are promises, not checked; `assert_…` checks them in a step.

    Args:
      dtype: type of the matrix and of what it is multiplied with.
      graph_parents: tensors that the operator depends on.
      is_non_singular: whether the matrix has an inverse.
      is_self_adjoint: whether it equals its conjugate transpose.
      is_positive_definite: whether `xᴴAx` has a positive real part for all x.
      is_square: whether it has as many rows as columns.
    """

    #: Variables are found where an operator keeps them, not among the tensors that it names.
    _TF_MODULE_IGNORED_PROPERTIES = Module._TF_MODULE_IGNORED_PROPERTIES | {"_graph_parents"}

    def __init__(
        self,
        dtype: Any,
        graph_parents: Sequence[Any] | None = None,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str | None = None,
    ):
        if is_positive_definite:
            if is_non_singular is False:
                raise ValueError("A positive definite matrix is always non-singular.")
            is_non_singular = True
        for hint, what in ((is_non_singular, "non-singular"), (is_self_adjoint, "self-adjoint")):
            if hint:
                if is_square is False:
                    raise ValueError(f"A {what} matrix is always square.")
                is_square = True
        for i, parent in enumerate(graph_parents or ()):
            if not isinstance(parent, (Tensor, Variable)):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        self._is_square_set_or_implied_by_hints = is_square
        self._dtype: Any = dtypes.as_dtype(dtype).base_dtype if dtype else dtype
        self._graph_parents = list(graph_parents or ())
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._name = name or type(self).__name__

    @contextlib.contextmanager
    def _name_scope(self, name: str | None = None) -> Iterator[str]:
        """The scope of what a method builds: the operator's name, then the method's."""
        with name_scope(self.name if name is None else f"{self.name}/{name}") as scope:
            yield scope

    # What it is -------------------------------------------------------------------------------

    @property
    def dtype(self) -> DType:
        """The type of the matrix's entries."""
        return self._dtype

    @property
    def name(self) -> str:
        return self._name

    @property
    def graph_parents(self) -> list[Any]:
        """The tensors that the operator depends on."""
        return self._graph_parents

    @property
    def is_non_singular(self) -> Hint:
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> Hint:
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> Hint:
        return self._is_positive_definite

    @property
    def is_square(self) -> Hint:
        """Whether the matrix is square, by its hints or its shape."""
        by_shape: Hint = self.domain_dimension == self.range_dimension
        if self._is_square_set_or_implied_by_hints is False and by_shape:
            raise ValueError("User set is_square hint to False, but the operator was square.")
        if self._is_square_set_or_implied_by_hints is None:
            return by_shape
        return self._is_square_set_or_implied_by_hints

    # Shapes -----------------------------------------------------------------------------------

    @abc.abstractmethod
    def _shape(self) -> TensorShape: ...

    @abc.abstractmethod
    def _shape_tensor(self) -> Any: ...

    @property
    def shape(self) -> TensorShape:
        """The static shape, `[..., rows, columns]`."""
        return self._shape()

    def shape_tensor(self, name: str = "shape_tensor") -> Any:
        """The shape as a tensor."""
        with self._name_scope(name):
            if self.shape.is_fully_defined():
                return batches.shape_tensor(self.shape.as_list())
            return self._shape_tensor()

    @property
    def batch_shape(self) -> TensorShape:
        """The static shape of the batch."""
        return self.shape[:-2]

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Any:
        """The shape of the batch as a tensor."""
        with self._name_scope(name):
            if self.batch_shape.is_fully_defined():
                return batches.shape_tensor(self.batch_shape.as_list(), name="batch_shape")
            return self.shape_tensor()[:-2]

    @property
    def tensor_rank(self) -> int | None:
        """The rank of the shape: two more than that of the batch."""
        return self.shape.ndims

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        with self._name_scope(name):
            if self.tensor_rank is not None:
                return convert_to_tensor(self.tensor_rank)
            return array.size(self.shape_tensor())

    @property
    def domain_dimension(self) -> Dimension:
        """The number of columns."""
        return dimension_at_index(self.shape, -1)

    @property
    def range_dimension(self) -> Dimension:
        """The number of rows."""
        return dimension_at_index(self.shape, -2)

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Any:
        return self._dimension_tensor(name, self.domain_dimension, -1)

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Any:
        return self._dimension_tensor(name, self.range_dimension, -2)

    def _dimension_tensor(self, name: str, known: Dimension, axis: int) -> Any:
        with self._name_scope(name):
            if known.value is not None:
                return convert_to_tensor(known.value)
            return self.shape_tensor()[axis]

    def _known_batch_shape(self) -> Any:
        """The shape of the batch, as a tensor where it is not known."""
        known = self.batch_shape
        return known if known.is_fully_defined() else self.batch_shape_tensor()

    # Assertions -------------------------------------------------------------------------------

    def assert_non_singular(self, name: str = "assert_non_singular") -> Operation:
        """An operation that fails where the matrix has no inverse."""
        with self._name_scope(name):
            return self._assert_non_singular()

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Operation:
        """An operation that fails where the matrix is not positive definite."""
        with self._name_scope(name):
            return self._assert_positive_definite()

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Operation:
        """An operation that fails where the matrix differs from its adjoint."""
        with self._name_scope(name):
            return self._assert_self_adjoint()

    def _assert_non_singular(self) -> Operation:
        if self._can_use_cholesky():
            return self.assert_positive_definite()
        values = svd(self.to_dense(), compute_uv=False)
        ratio: Any = reductions.reduce_max(values, axis=-1) / reductions.reduce_min(values, axis=-1)
        message = "Singular matrix up to precision epsilon."
        return assert_less(ratio, self._largest_condition_number(), message=message)

    def _largest_condition_number(self) -> Any:
        """Above it, a matrix can't be told from one without an inverse."""
        with name_scope("max_nonsingular_condition_number"):
            real = self.dtype.real_dtype
            sizes = [self.range_dimension_tensor(), self.domain_dimension_tensor()]
            widest = reductions.reduce_max([100.0, *(casts.cast(size, real) for size in sizes)])
            return 1.0 / (casts.cast(widest, real) * np.finfo(self.dtype.as_numpy_dtype).eps)

    def _assert_positive_definite(self) -> Operation:
        if not self.is_self_adjoint:
            raise NotImplementedError("assert_positive_definite is not implemented.")
        diagonal = array.matrix_diag_part(decompositions.cholesky(self.to_dense()))
        return assert_positive(casts.real(diagonal), message="Matrix was not positive definite.")

    def _assert_self_adjoint(self) -> Operation:
        dense = self.to_dense()
        message = "Matrix was not equal to its adjoint."
        return assert_equal(dense, decompositions.adjoint(dense), message=message)

    def _can_use_cholesky(self) -> Hint:
        return self.is_self_adjoint and self.is_positive_definite

    # Products ---------------------------------------------------------------------------------

    @abc.abstractmethod
    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any: ...

    def matmul(
        self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul"
    ) -> Any:
        """`A @ x`; with `adjoint` Aᴴ stands for A, with `adjoint_arg` xᴴ for x.

        The product with an operator is an operator.
        """
        if isinstance(x, LinearOperator):
            left, right = self._oriented(adjoint), x._oriented(adjoint_arg)
            _check_operators(left, right, "x")
            with self._name_scope(name):
                return algebra.matmul(left, right)
        with self._name_scope(name):
            x = self._checked(x, "x")
            own = self.range_dimension if adjoint else self.domain_dimension
            own.assert_is_compatible_with(_size(x, -1 if adjoint_arg else -2))
            return self._matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        """The products with the vectors in the last dimension of `x`."""
        with self._name_scope(name):
            x = self._checked(x, "x")
            own = self.range_dimension if adjoint else self.domain_dimension
            own.assert_is_compatible_with(_size(x, -1))
            return self._matvec(x, adjoint=adjoint)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        product = self.matmul(array.expand_dims(x, axis=-1), adjoint=adjoint)
        return array.squeeze(product, axis=-1)

    def _oriented(self, adjoint: bool) -> LinearOperator:
        return self.adjoint() if adjoint else self

    def _checked(self, x: Any, name: str) -> Any:
        x = convert_to_tensor(x, name=name)
        self._check_input_dtype(x)
        return x

    def _check_input_dtype(self, arg: Any) -> None:
        """TypeError for a tensor of another type; subclasses of users call it, too."""
        if arg.dtype.base_dtype != self.dtype:
            raise TypeError(
                f"Expected argument to have dtype {self.dtype}.  Found: {arg.dtype} in tensor {arg}"
            )

    # Solutions --------------------------------------------------------------------------------

    def solve(
        self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve"
    ) -> Any:
        """The x for which `A @ x = rhs`; the arguments are those of `matmul`."""
        for known, what in (
            (self.is_non_singular, "be singular"),
            (self.is_square, "not be square"),
        ):
            if known is False:
                raise NotImplementedError(
                    f"Exact solve not implemented for an operator that is expected to {what}."
                )
        if isinstance(rhs, LinearOperator):
            left, right = self._oriented(adjoint), rhs._oriented(adjoint_arg)
            _check_operators(left, right, "rhs")
            with self._name_scope(name):
                return algebra.solve(left, right)
        with self._name_scope(name):
            rhs = self._checked(rhs, "rhs")
            own = self.domain_dimension if adjoint else self.range_dimension
            own.assert_is_compatible_with(_size(rhs, -1 if adjoint_arg else -2))
            return self._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Any:
        """The solutions for the vectors in the last dimension of `rhs`."""
        with self._name_scope(name):
            rhs = self._checked(rhs, "rhs")
            own = self.domain_dimension if adjoint else self.range_dimension
            own.assert_is_compatible_with(_size(rhs, -1))
            return self._solvevec(rhs, adjoint=adjoint)

    def _solvevec(self, rhs: Any, adjoint: bool = False) -> Any:
        found = self.solve(array.expand_dims(rhs, axis=-1), adjoint=adjoint)
        return array.squeeze(found, axis=-1)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        if self.is_square is False:
            raise NotImplementedError("Solve is not yet implemented for non-square operators.")
        rhs = decompositions.adjoint(rhs) if adjoint_arg else rhs
        dense = self.to_dense()
        if self._can_use_cholesky():
            return batches.cholesky_solve_with_broadcast(decompositions.cholesky(dense), rhs)
        return batches.matrix_solve_with_broadcast(dense, rhs, adjoint=adjoint)

    # Numbers and matrices ---------------------------------------------------------------------

    def determinant(self, name: str = "det") -> Any:
        """The determinants of square matrices."""
        self._require_square()
        with self._name_scope(name):
            return self._determinant()

    def log_abs_determinant(self, name: str = "log_abs_det") -> Any:
        """The logarithms of the determinants' absolute values."""
        self._require_square()
        with self._name_scope(name):
            return self._log_abs_determinant()

    def _require_square(self) -> None:
        if self.is_square is False:
            raise NotImplementedError(
                "Determinant not implemented for an operator that is expected to not be square."
            )

    def _determinant(self) -> Any:
        if self._can_use_cholesky():
            return elementwise.exp(self.log_abs_determinant())
        return linear_systems.matrix_determinant(self.to_dense())

    def _log_abs_determinant(self) -> Any:
        if self._can_use_cholesky():
            diagonal = array.matrix_diag_part(decompositions.cholesky(self.to_dense()))
            return 2 * reductions.reduce_sum(elementwise.log(diagonal), axis=[-1])
        return linear_systems.slogdet(self.to_dense())[1]

    def to_dense(self, name: str = "to_dense") -> Any:
        """The matrix written out."""
        with self._name_scope(name):
            return self._to_dense()

    def _to_dense(self) -> Any:
        known = self.domain_dimension.value
        count = self.domain_dimension_tensor() if known is None else known
        batch = self._known_batch_shape()
        batch = batch.as_list() if isinstance(batch, TensorShape) else batch
        return self.matmul(array.eye(count, batch_shape=batch, dtype=self.dtype))

    def diag_part(self, name: str = "diag_part") -> Any:
        """The main diagonal."""
        with self._name_scope(name):
            return self._diag_part()

    def _diag_part(self) -> Any:
        return array.matrix_diag_part(self.to_dense())

    def trace(self, name: str = "trace") -> Any:
        """The sum of the main diagonal."""
        with self._name_scope(name):
            return self._trace()

    def _trace(self) -> Any:
        return reductions.reduce_sum(self.diag_part(), axis=-1)

    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Any:
        """`A + x`, written out."""
        with self._name_scope(name):
            return self._add_to_tensor(self._checked(x, "x"))

    def _add_to_tensor(self, x: Any) -> Any:
        return self.to_dense() + x

    # Other operators --------------------------------------------------------------------------

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """The operator of the conjugate transpose."""
        if self.is_self_adjoint is True:
            return self
        with self._name_scope(name):
            return algebra.adjoint(self)

    @property
    def H(self) -> LinearOperator:
        """The operator of the conjugate transpose."""
        return self.adjoint()

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """The operator of the inverse."""
        for known, what in ((self.is_square, "non square"), (self.is_non_singular, "singular")):
            if known is False:
                raise ValueError(
                    f"Cannot take the Inverse: This operator represents a {what} matrix."
                )
        with self._name_scope(name):
            return algebra.inverse(self)

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """The operator L, lower triangular, for which `L @ Lᴴ` is this one."""
        if not self._can_use_cholesky():
            raise ValueError(
                "Cannot take the Cholesky decomposition: Not a positive definite self adjoint "
                "matrix."
            )
        with self._name_scope(name):
            return algebra.cholesky(self)


def _size(x: Tensor, axis: int) -> Any:
    return None if x.shape.ndims is None else x.shape[axis]


def _check_operators(left: LinearOperator, right: LinearOperator, argument: str) -> None:
    wanted, given = left.domain_dimension, right.range_dimension
    if wanted.value is not None and given.value is not None and wanted != given:
        raise ValueError(
            f"Operators are incompatible. Expected `{argument}` to have dimension {wanted} but got "
            f"{given}."
        )
