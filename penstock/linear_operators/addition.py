"""Sums of linear operators that keep what is known of their structure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from penstock.ir.name_scope import name_scope
from penstock.linear_operators.dense import (
    LinearOperatorDiag,
    LinearOperatorFullMatrix,
    LinearOperatorLowerTriangular,
)
from penstock.linear_operators.operator import LinearOperator
from penstock.linear_operators.sized import LinearOperatorIdentity, LinearOperatorScaledIdentity
from penstock.ops.broadcasting import broadcast_static_shape
from penstock.ops.filling import ones
from penstock.ops.type_assertions import assert_proper_iterable

_IDENTITIES = (LinearOperatorIdentity, LinearOperatorScaledIdentity)
_DIAGONAL = (*_IDENTITIES, LinearOperatorDiag)
_TRIANGULAR = (*_DIAGONAL, LinearOperatorLowerTriangular)


def add_operators(
    operators: Sequence[Any],
    operator_name: str | None = None,
    addition_tiers: Sequence[Sequence[Any]] | None = None,
    name: str | None = None,
) -> list[Any]:
    """The operators of a sum, with those added up that some adder can add.

    Args:
      operators: the summands, of the same dimensions.
      operator_name: the name of new operators.
      addition_tiers: lists of adders; a list is tried when those before can add nothing more.
      name: of the scope.
    """
    assert_proper_iterable(operators)
    left = list(reversed(operators))
    if not left:
        raise ValueError(f"Argument 'operators' must contain at least one operator.  Found: {left}")
    if not all(isinstance(each, LinearOperator) for each in left):
        raise TypeError(
            f"Argument 'operators' must contain only LinearOperator instances.  Found: {left}"
        )
    _check_dimensions(left)
    parents = [parent for each in left for parent in each.graph_parents]
    with name_scope(name, "add_operators", parents):
        for tier in _DEFAULT_TIERS if addition_tiers is None else addition_tiers:
            left = _added_up(left, tier, operator_name)
    return left


def _added_up(operators: list[Any], tier: Sequence[Any], operator_name: str | None) -> list[Any]:
    waiting, done = list(operators), []
    while waiting:
        first = waiting.pop()
        match = next(
            (
                (place, adder)
                for place in reversed(range(len(waiting)))
                for adder in tier
                if adder.can_add(first, waiting[place])
            ),
            None,
        )
        if match is None:
            done.append(first)
        else:
            place, adder = match
            waiting.append(adder.add(first, waiting.pop(place), operator_name))
    return done


def _check_dimensions(operators: list[Any]) -> None:
    if len(operators) < 2:
        return
    for side in ("domain", "range"):
        sizes = [(each.name, getattr(each, f"{side}_dimension").value) for each in operators]
        known = [entry for entry in sizes if entry[1] is not None]
        if len({size for _, size in known}) > 1:
            raise ValueError(f"Operators must have the same {side} dimension. Found: {known}")
    reduce(broadcast_static_shape, [each.batch_shape for each in operators])


class _Hints:
    """What is known of a sum; None: what follows from the summands."""

    def __init__(
        self,
        is_non_singular: bool | None = None,
        is_positive_definite: bool | None = None,
        is_self_adjoint: bool | None = None,
    ):
        self.is_non_singular = is_non_singular
        self.is_positive_definite = is_positive_definite
        self.is_self_adjoint = is_self_adjoint

    def completed(self, op1: Any, op2: Any) -> dict[str, bool | None]:
        adjoint, definite = self.is_self_adjoint, self.is_positive_definite
        if adjoint is None:
            adjoint = op1.is_self_adjoint and op2.is_self_adjoint
        regular = self.is_non_singular
        if definite is None:
            definite = op1.is_positive_definite and op2.is_positive_definite
            regular = True if definite else regular
        return {
            "is_non_singular": regular,
            "is_self_adjoint": adjoint,
            "is_positive_definite": definite,
        }


class _Adder:
    """Adds two operators of certain classes."""

    def __init__(self, name: str, classes: tuple[type, ...], build: Callable[..., Any]):
        self.name = name
        self._classes = classes
        self._build = build

    def can_add(self, op1: Any, op2: Any) -> bool:
        return isinstance(op1, self._classes) and isinstance(op2, self._classes)

    def add(
        self, op1: Any, op2: Any, operator_name: str | None, hints: _Hints | None = None
    ) -> Any:
        """The sum, named after both if no name is given."""
        name = operator_name or f"Add/{op1.name}__{op2.name}/"
        known = (hints or _Hints()).completed(op1, op2)
        with name_scope(self.name.lstrip("_"), values=[*op1.graph_parents, *op2.graph_parents]):
            return self._build(op1, op2, name=name, **known)


def _multiplier(operator: Any) -> Any:
    if isinstance(operator, LinearOperatorScaledIdentity):
        return operator.multiplier
    return ones(operator.batch_shape_tensor(), operator.dtype)


def _scaled_identity(op1: Any, op2: Any, **known: Any) -> Any:
    return LinearOperatorScaledIdentity(
        num_rows=op1.range_dimension_tensor(),
        multiplier=_multiplier(op1) + _multiplier(op2),
        **known,
    )


def _diag(op1: Any, op2: Any, **known: Any) -> Any:
    return LinearOperatorDiag(op1.diag_part() + op2.diag_part(), **known)


def _dense_sum(op1: Any, op2: Any) -> Any:
    """The sum as a tensor, by the operator that adds itself to one cheaply."""
    if isinstance(op1, _DIAGONAL):
        return op1.add_to_tensor(op2.to_dense())
    return op2.add_to_tensor(op1.to_dense())


def _triangular(op1: Any, op2: Any, **known: Any) -> Any:
    return LinearOperatorLowerTriangular(_dense_sum(op1, op2), **known)


def _matrix(op1: Any, op2: Any, **known: Any) -> Any:
    return LinearOperatorFullMatrix(_dense_sum(op1, op2), **known)


def _AddAndReturnScaledIdentity() -> _Adder:
    return _Adder("_AddAndReturnScaledIdentity", _IDENTITIES, _scaled_identity)


def _AddAndReturnDiag() -> _Adder:
    return _Adder("_AddAndReturnDiag", _DIAGONAL, _diag)


def _AddAndReturnTriL() -> _Adder:
    return _Adder("_AddAndReturnTriL", _TRIANGULAR, _triangular)


def _AddAndReturnMatrix() -> _Adder:
    return _Adder("_AddAndReturnMatrix", (LinearOperator,), _matrix)


_DEFAULT_TIERS = (
    (_AddAndReturnScaledIdentity(),),
    (_AddAndReturnDiag(),),
    (_AddAndReturnTriL(),),
    (_AddAndReturnMatrix(),),
)
