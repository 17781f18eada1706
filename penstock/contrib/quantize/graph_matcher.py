"""Trees of op types, found in a graph."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor


class Pattern(ABC):
    """What an operation, seen through one of its outputs, may match."""

    @abstractmethod
    def match(self, op: Operation, tensor: Tensor | None) -> MatchResult | None:
        """What matched which pattern below, or None."""


class MatchResult:
    """Which operation, through which of its outputs, matched a pattern."""

    def __init__(self) -> None:
        self._matched: dict[Pattern, tuple[Operation, Tensor | None]] = {}
        self._named: dict[str, Pattern] = {}

    def add(self, pattern: Any, op: Operation, tensor: Tensor | None) -> None:
        """Notes a match."""
        self._matched[pattern] = op, tensor
        if pattern.name is not None:
            if pattern.name in self._named:
                raise ValueError(f"Name {pattern.name} is already bound to another pattern")
            self._named[pattern.name] = pattern

    def _found(self, pattern_or_name: Any) -> tuple[Operation | None, Tensor | None]:
        if isinstance(pattern_or_name, str):
            pattern_or_name = self._named.get(pattern_or_name)
        elif not isinstance(pattern_or_name, Pattern):
            raise ValueError(
                f"pattern_or_name has type {type(pattern_or_name)}. Expect Pattern or str."
            )
        return self._matched.get(pattern_or_name, (None, None))

    def get_op(self, pattern_or_name: Any) -> Any:
        """The operation that matched a pattern, or None."""
        return self._found(pattern_or_name)[0]

    def get_tensor(self, pattern_or_name: Any) -> Any:
        """The output of it that the pattern above takes, or None."""
        return self._found(pattern_or_name)[1]

    def merge_from(self, other_match_result: MatchResult) -> None:
        """Takes over what another result has."""
        self._matched.update(other_match_result._matched)
        self._named.update(other_match_result._named)


class OpTypePattern(Pattern):
    """An operation of some type, with inputs that match patterns."""

    def __init__(
        self,
        op_type: str,
        name: str | None = None,
        inputs: Sequence[Any] | None = None,
        ordered_inputs: bool = True,
    ):
        """A pattern.

        Args:
          op_type: types with `|` between them, or `*` for any.
          name: by which a result gives the match.
          inputs: patterns, or types, of all inputs; none if they don't matter.
          ordered_inputs: whether inputs must be in that order.
        """
        given = inputs or []
        if len(given) > 8:
            raise ValueError("Only < 8 inputs are allowed when ordered_inputs is False.")
        self._types = None if op_type == "*" else op_type.split("|")
        self._name = name
        self._inputs = [
            each if isinstance(each, Pattern) else OpTypePattern(each) for each in given
        ]
        self._ordered_inputs = ordered_inputs

    @property
    def name(self) -> str | None:
        return self._name

    def match(self, op: Operation, tensor: Tensor | None) -> MatchResult | None:
        if self._types is not None and op.type not in self._types:
            return None
        if self._inputs and len(op.inputs) != len(self._inputs):
            return None
        orders: Iterable[Sequence[Pattern]] = [self._inputs]
        if not self._ordered_inputs:
            orders = itertools.permutations(self._inputs)
        for patterns in orders:
            found = [
                pattern.match(taken.op, taken)
                for pattern, taken in zip(patterns, op.inputs, strict=False)
            ]
            if None not in found:
                result = MatchResult()
                result.add(self, op, tensor)
                for each in found:
                    if each is not None:
                        result.merge_from(each)
                return result
        return None


class OneofPattern(Pattern):
    """The first of several patterns that matches."""

    def __init__(self, sub_patterns: Sequence[Pattern]):
        self._sub_patterns = sub_patterns

    def match(self, op: Operation, tensor: Tensor | None) -> MatchResult | None:
        matches = (pattern.match(op, tensor) for pattern in self._sub_patterns)
        return next((match for match in matches if match is not None), None)


class GraphMatcher:
    """Looks for a pattern."""

    def __init__(self, pattern: Pattern):
        self._pattern = pattern

    def match_op(self, op: Operation) -> MatchResult | None:
        """What an operation and those before it match, or None."""
        return self._pattern.match(op, None)

    def match_ops(self, ops: Iterable[Operation]) -> Iterator[MatchResult]:
        """The matches of operations."""
        for op in ops:
            found = self.match_op(op)
            if found is not None:
                yield found

    def match_graph(self, graph: Graph) -> Iterator[MatchResult]:
        """The matches in a graph."""
        return self.match_ops(graph.get_operations())
