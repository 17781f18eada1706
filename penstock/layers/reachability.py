"""Which tensors and operations depend on given inputs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor


def depends_on(target: Any, inputs: Iterable[Any]) -> bool:
    """Whether a tensor or operation needs one of `inputs`, or is one of them."""
    wanted = {id(_element(value)) for value in inputs}
    seen: set[int] = set()
    pending = [target]
    while pending:
        value = pending.pop()
        if id(value) in wanted:
            return True
        if id(value) not in seen:
            seen.add(id(value))
            pending += _needs(value)
    return False


def _element(value: Any) -> Any:
    """Where the search ends for an input: a variable's is its operation."""
    return value if isinstance(value, (Tensor, Operation)) else getattr(value, "op", value)


def _needs(value: Any) -> list[Any]:
    if isinstance(value, Tensor):
        return [value.op]
    if isinstance(value, Operation):
        return [*value.inputs, *value.control_inputs]
    return []
