"""Assertions about ranks and shapes: at once where they are known, else when the step runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock import dtypes
from penstock.ir.composite import SparseTensor
from penstock.ir.constants import constant_value
from penstock.ir.convert import to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.comparison import equal, greater_equal, logical_or
from penstock.ops.control import no_op, with_dependencies
from penstock.ops.debugging import Assert
from penstock.ops.shaping import rank as rank_of
from penstock.ops.shaping import shape as shape_of
from penstock.ops.type_assertions import assert_type
from penstock.ops.value_assertions import Data, called, message_prefix

__all__ = ["assert_rank", "assert_rank_at_least", "assert_rank_in", "assert_scalar"]


def assert_rank(
    x: Any,
    rank: Any,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts that `x` has `rank` dimensions; ValueError where it is known not to."""
    with name_scope(name, "assert_rank", (x, rank, *(data or ()))):
        check = _RankCheck(x, [rank], "rank", lambda actual, given: actual == given[0])
        return check.build(lambda actual, given: equal(actual, given[0]), data, summarize, message)


def assert_rank_at_least(
    x: Any,
    rank: Any,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts that `x` has at least `rank` dimensions; ValueError where it is known not to."""
    with name_scope(name, "assert_rank_at_least", (x, rank, *(data or ()))):
        check = _RankCheck(x, [rank], "rank at least", lambda actual, given: actual >= given[0])
        return check.build(
            lambda actual, given: greater_equal(actual, given[0]), data, summarize, message
        )


def assert_rank_in(
    x: Any,
    ranks: Sequence[Any],
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts that the rank of `x` is one of `ranks`; ValueError where it is known not to be."""
    with name_scope(name, "assert_rank_in", (x, *ranks, *(data or ()))):
        check = _RankCheck(x, ranks, "rank in", lambda actual, given: actual in given)
        return check.build(_is_any_of, data, summarize, message)


def _is_any_of(actual: Tensor, given: Sequence[Tensor]) -> Tensor:
    if not given:
        return to_tensor(False)
    result = equal(given[0], actual)
    for rank in given[1:]:
        result = logical_or(result, equal(rank, actual))
    return result


class _RankCheck:
    """One assertion about the rank of `x`: the given ranks, and what must hold between them."""

    def __init__(
        self, x: Any, ranks: Sequence[Any], claim: str, holds: Callable[[int, list[int]], bool]
    ):
        self.x: Any
        if isinstance(x, SparseTensor):
            self.x, self.called = x, ""
        else:
            self.x = to_tensor(x, name="x")
            self.called = called(self.x)
        self.ranks = [to_tensor(rank, name="rank") for rank in ranks]
        self.claim = claim
        self.holds = holds

    def build(
        self,
        condition: Callable[[Tensor, list[Tensor]], Tensor],
        data: Data,
        summarize: int | None,
        message: str | None,
    ) -> Operation:
        if data is None:
            data = [
                message or "",
                f"Tensor {self.called} must have {self.claim}",
                *self.ranks,
                "Received shape: ",
                shape_of(self.x),
            ]
        for rank in self.ranks:
            assert_type(rank, dtypes.int32)
        if self._is_settled(message_prefix(message)):
            return no_op(name="static_checks_determined_all_ok")
        holds = condition(rank_of(self.x), self.ranks)
        for rank in self.ranks:
            if constant_value(rank) is None:
                said = ["Rank must be a scalar. Received rank: ", rank]
                holds = with_dependencies([assert_rank(rank, 0, data=said)], holds)
        return Assert(holds, data, summarize=summarize)

    def _is_settled(self, prefix: str) -> bool:
        """Whether everything is known; ValueError where it is known to be wrong."""
        known = []
        for rank in self.ranks:
            value = constant_value(rank)
            if value is None:
                return False
            if value.ndim != 0:
                raise ValueError("Rank must be a scalar.")
            known.append(int(value))
        actual = self.x.get_shape().ndims
        if actual is None:
            return False
        if not self.holds(actual, known):
            wanted = tuple(known) if self.claim == "rank in" else known[0]
            raise ValueError(
                f"{prefix}Tensor {self.called} must have {self.claim} {wanted}.  Received rank "
                f"{actual}, shape {self.x.get_shape()}"
            )
        return True


def assert_scalar(tensor: Any, name: str | None = None, message: str | None = None) -> Tensor:
    """`tensor` as a tensor; ValueError unless it is known to be a scalar."""
    with name_scope(name, "assert_scalar", [tensor]) as scope:
        tensor = to_tensor(tensor, name=scope)
        if tensor.shape.ndims != 0:
            raise ValueError(
                f"{message_prefix(message)}Expected scalar shape for {called(tensor)}, saw shape: "
                f"{tensor.shape}."
            )
        return tensor
