"""An operator plus a product of thin matrices."""

from __future__ import annotations

from typing import Any

from penstock.ir.name_scope import name_scope
from penstock.linear_operators import batches
from penstock.linear_operators.dense import LinearOperatorDiag
from penstock.linear_operators.operator import Hint, LinearOperator
from penstock.linear_operators.sized import LinearOperatorIdentity
from penstock.ops import array, casts, elementwise, reductions
from penstock.ops.decompositions import cholesky
from penstock.ops.linear_systems import matrix_determinant
from penstock.ops.matmul import matmul
from penstock.shapes import TensorShape, dimension_value


class LinearOperatorLowRankUpdate(LinearOperator):
    """L + U D Vᴴ, solved by way of the small matrix D⁻¹ + Vᴴ L⁻¹ U (Woodbury's identity).

    Args:
      base_operator: L.
      u: the columns of U.
      diag_update: the diagonal of D, by default ones.
      v: the columns of V, by default those of U.
      is_diag_update_positive: whether D is positive.
    """

    def __init__(
        self,
        base_operator: LinearOperator,
        u: Any,
        diag_update: Any = None,
        v: Any = None,
        is_diag_update_positive: Hint = None,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str = "LinearOperatorLowRankUpdate",
    ):
        if diag_update is None:
            if is_diag_update_positive is False:
                raise ValueError(
                    "Default diagonal is the identity, which is positive.  However, user set "
                    "'is_diag_update_positive' to False."
                )
            is_diag_update_positive = True
        self._use_cholesky = bool(
            base_operator.is_positive_definite
            and base_operator.is_self_adjoint
            and is_diag_update_positive
            and v is None
        )
        if base_operator.is_self_adjoint and v is None and not base_operator.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError(
                    "A = L + UDU^H, with L self-adjoint and D real diagonal.  Since UDU^H is "
                    "self-adjoint, this must be a self-adjoint operator."
                )
            is_self_adjoint = True
        if self._use_cholesky:
            if False in (is_positive_definite, is_self_adjoint, is_non_singular):
                raise ValueError("Arguments imply this is self-adjoint positive-definite operator.")
            is_positive_definite = is_self_adjoint = True
        self._base_operator = base_operator
        self._is_diag_update_positive = is_diag_update_positive
        with name_scope(name, values=[*base_operator.graph_parents, u, diag_update, v]):
            self._u = batches.as_tensor_or_variable(u, name="u")
            self._v = self._u if v is None else batches.as_tensor_or_variable(v, name="v")
            self._diag_update = (
                None
                if diag_update is None
                else batches.as_tensor_or_variable(diag_update, name="diag_update")
            )
            own = [part for part in (self._u, self._diag_update, self._v) if part is not None]
            super().__init__(
                dtype=base_operator.dtype,
                graph_parents=[*base_operator.graph_parents, *own],
                is_non_singular=is_non_singular,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=is_positive_definite,
                is_square=is_square,
                name=name,
            )
            self._diag_operator = self._middle()
            self._check_shapes()

    def _middle(self) -> LinearOperator:
        if self._diag_update is not None:
            return LinearOperatorDiag(
                self._diag_update, is_positive_definite=self._is_diag_update_positive
            )
        sizes: Any = array.shape(self._u)
        known = None if self._u.shape.ndims is None else dimension_value(self._u.shape[-1])
        return LinearOperatorIdentity(sizes[-1] if known is None else known, dtype=self.dtype)

    def _check_shapes(self) -> None:
        shape = array.broadcast_static_shape(self.u.shape, self.v.shape)
        if shape.ndims is None:
            return
        batch = array.broadcast_static_shape(self.base_operator.batch_shape, shape[:-2])
        self.base_operator.domain_dimension.assert_is_compatible_with(shape[-2])
        if self._diag_update is not None and self._diag_update.shape.ndims is not None:
            shape[-1:].assert_is_compatible_with(self._diag_update.shape[-1:])
            array.broadcast_static_shape(batch, self._diag_update.shape[:-1])

    @property
    def u(self) -> Any:
        return self._u

    @property
    def v(self) -> Any:
        return self._v

    @property
    def diag_update(self) -> Any:
        return self._diag_update

    @property
    def diag_operator(self) -> LinearOperator:
        """D as an operator."""
        return self._diag_operator

    @property
    def is_diag_update_positive(self) -> Hint:
        return self._is_diag_update_positive

    @property
    def base_operator(self) -> LinearOperator:
        """L."""
        return self._base_operator

    def _shape(self) -> TensorShape:
        base = self.base_operator
        batch = array.broadcast_static_shape(base.batch_shape, self.u.shape[:-2])
        return batch.concatenate(base.shape[-2:])

    def _shape_tensor(self) -> Any:
        base, sizes = self.base_operator, self._u_sizes()
        batch = array.broadcast_dynamic_shape(base.batch_shape_tensor(), sizes[:-2])
        return array.concat([batch, base.shape_tensor()[-2:]], axis=0)

    def _u_sizes(self) -> Any:
        return array.shape(self.u)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        outer, inner = (self.v, self.u) if adjoint else (self.u, self.v)
        leading = self.base_operator.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        middle = matmul(inner, x, adjoint_a=True, adjoint_b=adjoint_arg)
        return leading + matmul(outer, self.diag_operator.matmul(middle, adjoint=adjoint))

    def _capacitance(self) -> Any:
        inner = matmul(self.v, self.base_operator.solve(self.u), adjoint_a=True)
        return self._diag_operator.inverse().add_to_tensor(inner)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        base = self.base_operator
        if base.is_non_singular is False:
            raise ValueError(
                "Solve not implemented unless this is a perturbation of a non-singular "
                "LinearOperator."
            )
        outer, inner = (self.v, self.u) if adjoint else (self.u, self.v)
        leading = base.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        small = matmul(inner, leading, adjoint_a=True)
        if self._use_cholesky:
            factor = cholesky(self._capacitance())
            solved = batches.cholesky_solve_with_broadcast(factor, small)
        else:
            solved = batches.matrix_solve_with_broadcast(
                self._capacitance(), small, adjoint=adjoint
            )
        return leading - base.solve(matmul(outer, solved), adjoint=adjoint)

    def _determinant(self) -> Any:
        if self.is_positive_definite:
            return elementwise.exp(self.log_abs_determinant())
        small: Any = matrix_determinant(self._capacitance())
        return small * self.diag_operator.determinant() * self.base_operator.determinant()

    def _log_abs_determinant(self) -> Any:
        if self._use_cholesky:
            diagonal = array.matrix_diag_part(cholesky(self._capacitance()))
            small: Any = 2 * reductions.reduce_sum(elementwise.log(diagonal), axis=[-1])
        else:
            determinant = matrix_determinant(self._capacitance())
            small = casts.cast(elementwise.log(elementwise.abs(determinant)), self.dtype)
        others = self.diag_operator.log_abs_determinant() + self.base_operator.log_abs_determinant()
        return small + others
