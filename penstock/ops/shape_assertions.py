"""`tf.debugging.assert_shapes`: shapes of several tensors, with names for sizes that agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.ir.composite import SparseTensor
from penstock.ir.convert import to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ops.comparison import equal
from penstock.ops.conditionals import cond
from penstock.ops.constants import constant
from penstock.ops.control import group
from penstock.ops.debugging import Assert
from penstock.ops.rank_assertions import assert_rank, assert_rank_at_least, assert_rank_in
from penstock.ops.shaping import rank as rank_of
from penstock.ops.shaping import shape as shape_of
from penstock.ops.value_assertions import Data, called, message_prefix

__all__ = ["assert_shapes"]


def assert_shapes(
    shapes: Any,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts the shapes of tensors, given as (tensor, shape) pairs or a dict.

    An entry of a shape is a size, a name that stands for the same size wherever it occurs, or None
    for any size; `...` as the first entry stands for any number of leading dimensions.

    >>> tf.debugging.assert_shapes([(x, ("batch", 10)), (labels, ("batch",))])
    """
    pairs = shapes.items() if isinstance(shapes, Mapping) else shapes
    with name_scope(name, "assert_shapes", [list(pairs), data]):
        wanted = [_Wanted.of(x, shape, message) for x, shape in pairs if shape is not None]
        options: dict[str, Any] = {"data": data, "summarize": summarize}
        ranks = [
            check for entry in wanted for check in entry.check_rank(**options, message=message)
        ]
        sizes = _SizeChecks(ranks, data, summarize, message_prefix(message))
        for entry in wanted:
            sizes.add(entry)
    with get_default_graph().control_dependencies(ranks):
        return group(sizes.made)


@dataclass
class _Wanted:
    """One tensor, the sizes that it should have, and those that it has (a scalar has one of 1)."""

    tensor: Any
    is_tail: bool  # whether only the last dimensions are given
    actual: Any
    sizes: tuple[Any, ...]

    @staticmethod
    def of(x: Any, shape: Any, message: str | None) -> _Wanted:
        tensor = x if isinstance(x, SparseTensor) else to_tensor(x)
        if not hasattr(shape, "__iter__") and not hasattr(shape, "__getitem__"):
            raise ValueError(
                f"{message_prefix(message)}Tensor {_called(tensor)}.  Specified shape must be an "
                "iterable.  An iterable has the attribute `__iter__` or `__getitem__`.  Received "
                f"specified shape: {shape}"
            )
        sizes = tuple(getattr(size, "value", size) for size in shape)
        for i, size in enumerate(sizes):
            if i > 0 and size in (Ellipsis, "*"):
                raise ValueError(
                    f"{message_prefix(message)}Tensor {_called(tensor)} specified shape index {i}."
                    "  Symbol `...` or `*` for a variable number of unspecified dimensions is "
                    "only allowed as the first entry"
                )
        is_tail = bool(sizes) and sizes[0] in (Ellipsis, "*")
        sizes = sizes[1:] if is_tail else sizes
        return _Wanted(tensor, is_tail, _actual_sizes(tensor), sizes or (1,))

    def check_rank(self, **options: Any) -> list[Operation]:
        count = len(self.sizes)
        if self.is_tail:
            # A scalar counts as one dimension of size 1: any rank has that many.
            return [] if count <= 1 else [assert_rank_at_least(self.tensor, count, **options)]
        if count <= 1:
            return [assert_rank_in(self.tensor, [0, 1], **options)]
        return [assert_rank(self.tensor, count, **options)]


def _called(tensor: Any) -> str:
    if isinstance(tensor, SparseTensor):
        return f"shape={tensor.shape} dtype={tensor.dtype.name}"
    return called(tensor)


def _actual_sizes(tensor: Any) -> Any:
    dynamic = shape_of(tensor)
    known = tensor.get_shape()
    if known.ndims is None:
        return cond(equal(rank_of(tensor), 0), lambda: constant([1]), lambda: dynamic)
    if known.ndims == 0:
        return (1,)
    return [dynamic[i] if size is None else size for i, size in enumerate(known.as_list())]


def _number(size: Any) -> int | None:
    try:
        return int(size)
    except (TypeError, ValueError):
        return None


class _SizeChecks:
    """The assertions about single sizes, and what the names of sizes stand for so far."""

    def __init__(
        self, ranks: list[Operation], data: Data, summarize: int | None, prefix: str
    ) -> None:
        self.ranks = ranks
        self.data = data
        self.summarize = summarize
        self.prefix = prefix
        self.made: list[Operation] = []
        self._named: dict[Any, tuple[Any, Any, int]] = {}

    def add(self, entry: _Wanted) -> None:
        for i, size in enumerate(entry.sizes):
            if size in (None, "."):
                continue
            axis = i - len(entry.sizes) if entry.is_tail else i
            # A size can be read only once the rank is known to be large enough.
            with get_default_graph().control_dependencies(self.ranks):
                actual = entry.actual[axis]
            number = _number(size)
            if number is not None:
                self._check(entry.tensor, axis, actual, number, "Specified explicitly")
            elif size in self._named:
                wanted, source, source_axis = self._named[size]
                said = f"Specified by tensor {_called(source)} dimension {source_axis}"
                self._check(entry.tensor, axis, actual, wanted, said)
            else:
                self._named[size] = (actual, entry.tensor, axis)

    def _check(self, tensor: Any, axis: int, actual: Any, wanted: Any, said: str) -> None:
        has, needs = _number(actual), _number(wanted)
        if has is not None and needs is not None:
            if has != needs:
                raise ValueError(
                    f"{self.prefix}{said}.  Tensor {_called(tensor)} dimension {axis} must have "
                    f"size {needs}.  Received size {has}, shape {tensor.get_shape()}"
                )
            return
        condition = equal(to_tensor(actual), to_tensor(wanted))
        data = self.data
        if data is None:
            data = [
                self.prefix,
                said,
                f"Tensor {_called(tensor)} dimension",
                axis,
                "must have size",
                wanted,
                "Received shape: ",
                shape_of(tensor),
            ]
        self.made.append(Assert(condition, data, summarize=self.summarize))
