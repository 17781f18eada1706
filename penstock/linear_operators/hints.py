"""What is known of an operator that is made of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.dtypes import DType

Hint = bool | None


def combined(operator: Any, attribute: str, given: Hint, message: str) -> Hint:
    """A hint that an operator shares with what is made of it; ValueError where they differ."""
    own = getattr(operator, attribute)
    if None not in (own, given) and bool(own) != bool(given):
        raise ValueError(message)
    return given if own is None else own


def implied(operators: Sequence[Any], attribute: str, given: Hint, message: str) -> Hint:
    """True if all operators have a property that carries over; ValueError where that is denied."""
    if not all(getattr(operator, attribute) for operator in operators):
        return given
    if given is False:
        raise ValueError(message)
    return True


def common_type(operators: Sequence[Any]) -> DType:
    """The type of all operators; TypeError where they differ."""
    found: DType = operators[0].dtype
    if any(operator.dtype != found for operator in operators):
        listed = "   ".join(str((operator.name, operator.dtype)) for operator in operators)
        raise TypeError(f"Expected all operators to have the same dtype.  Found {listed}")
    return found


def non_singular(a: Any, b: Any) -> Hint:
    """Whether a product has an inverse."""
    if a.is_non_singular is False or b.is_non_singular is False:
        return False
    return a.is_non_singular and b.is_non_singular


def commuting_self_adjoint(a: Any, b: Any) -> Hint:
    """Whether a product of operators that commute is self-adjoint."""
    if a.is_self_adjoint and b.is_self_adjoint:
        return True
    known = {a.is_self_adjoint, b.is_self_adjoint}
    return False if known == {True, False} else None


def commuting_positive_definite(a: Any, b: Any) -> Hint:
    """Whether a product of operators that commute is positive definite."""
    properties = (
        a.is_positive_definite,
        a.is_self_adjoint,
        b.is_positive_definite,
        b.is_self_adjoint,
    )
    return True if all(entry is True for entry in properties) else None


def square_product(a: Any, b: Any) -> Hint:
    """Whether a product is square."""
    if a.is_square and b.is_square:
        return True
    if a.is_square is False and b.is_square is False:
        rows, cols = a.range_dimension.value, b.domain_dimension.value
        if rows is not None and cols is not None:
            return bool(rows == cols)
    if None not in (a.is_square, b.is_square) and a.is_square != b.is_square:
        return False
    return None


# TensorFlow's names of them.
combined_commuting_self_adjoint_hint = commuting_self_adjoint
combined_commuting_positive_definite_hint = commuting_positive_definite
combined_non_singular_hint = non_singular
is_square = square_product
