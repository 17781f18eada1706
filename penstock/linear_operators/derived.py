"""Operators that stand for another one's adjoint or inverse."""

from __future__ import annotations

from typing import Any

from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.linear_operators import hints
from penstock.linear_operators.operator import Hint, LinearOperator
from penstock.ops import array, casts
from penstock.ops.decompositions import adjoint as adjoint_of
from penstock.shapes import TensorShape


class _OfOperator(LinearOperator):
    """What shares all its hints with another operator."""

    def __init__(self, operator: LinearOperator, given: dict[str, Hint], what: str, name: str):
        self._operator = operator
        combined = {
            key: hints.combined(
                operator,
                key,
                hint,
                f"An operator is {key.removeprefix('is_').replace('_', '-')} if and only if its "
                f"{what} is.",
            )
            for key, hint in given.items()
        }
        with name_scope(name, values=operator.graph_parents):
            super().__init__(
                dtype=operator.dtype,
                graph_parents=operator.graph_parents,
                name=name,
                **combined,
            )

    @property
    def operator(self) -> LinearOperator:
        """The operator that this one is made of."""
        return self._operator

    def _assert_non_singular(self) -> Operation:
        return self.operator.assert_non_singular()

    def _assert_positive_definite(self) -> Operation:
        return self.operator.assert_positive_definite()

    def _assert_self_adjoint(self) -> Operation:
        return self.operator.assert_self_adjoint()


def _named(
    is_non_singular: Hint, is_self_adjoint: Hint, is_positive_definite: Hint, is_square: Hint
) -> dict[str, Hint]:
    return {
        "is_non_singular": is_non_singular,
        "is_self_adjoint": is_self_adjoint,
        "is_positive_definite": is_positive_definite,
        "is_square": is_square,
    }


class LinearOperatorAdjoint(_OfOperator):
    """The conjugate transpose of an operator."""

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str | None = None,
    ):
        given = _named(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(operator, given, "adjoint", name or f"{operator.name}_adjoint")

    def _shape(self) -> TensorShape:
        shape = self.operator.shape
        return shape[:-2].concatenate([shape[-1], shape[-2]])

    def _shape_tensor(self) -> Any:
        sizes = self.operator.shape_tensor()
        return array.concat([sizes[:-2], [sizes[-1], sizes[-2]]], axis=-1)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self.operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return self.operator.matvec(x, adjoint=not adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self.operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs: Any, adjoint: bool = False) -> Any:
        return self.operator.solvevec(rhs, adjoint=not adjoint)

    def _determinant(self) -> Any:
        return casts.conj(self.operator.determinant())

    def _log_abs_determinant(self) -> Any:
        return self.operator.log_abs_determinant()

    def _trace(self) -> Any:
        return casts.conj(self.operator.trace())

    def _to_dense(self) -> Any:
        dense = self.operator.to_dense()
        return dense if self.is_self_adjoint else adjoint_of(dense)


class LinearOperatorInversion(_OfOperator):
    """The inverse of an operator."""

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str | None = None,
    ):
        for attribute, hint in (("is_non_singular", is_non_singular), ("is_square", is_square)):
            own = getattr(operator, attribute)
            if own is False or hint is False:
                raise ValueError(
                    f"operator and supplied hints must have `{attribute}` equal to `True` or "
                    f"`None`.  Found {own}, {hint}"
                )
        given = _named(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(operator, given, "inverse", name or f"{operator.name}_inv")

    def _shape(self) -> TensorShape:
        return self.operator.shape

    def _shape_tensor(self) -> Any:
        return self.operator.shape_tensor()

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self.operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self.operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _determinant(self) -> Any:
        return 1.0 / self.operator.determinant()

    def _log_abs_determinant(self) -> Any:
        return -1.0 * self.operator.log_abs_determinant()
