"""A stack of values: what a gradient loop remembers of the forward loop."""

from __future__ import annotations

from typing import Any

from penstock import errors
from penstock.dtypes import DType


class Stack:
    """Values of one type, last in first out; `limit` of them at most if that is not negative."""

    __slots__ = ("_values", "closed", "dtype", "limit", "name")

    def __init__(self, name: str, dtype: DType, limit: int = -1):
        self.name = name
        self.dtype = dtype
        self.limit = limit
        self.closed = False
        self._values: list[Any] = []

    def push(self, value: Any) -> None:
        self._check_open()
        if 0 <= self.limit <= len(self._values):
            raise errors.InvalidArgumentError(
                None, None, f"Stack[{self.name}] overflowed its max_size ({self.limit})"
            )
        self._values.append(value)

    def pop(self) -> Any:
        self._check_open()
        if not self._values:
            raise errors.InvalidArgumentError(
                None, None, f"Stack[{self.name}] is empty when calling Pop()."
            )
        return self._values.pop()

    def close(self) -> None:
        self.closed = True
        self._values.clear()

    def _check_open(self) -> None:
        if self.closed:
            raise errors.InvalidArgumentError(
                None, None, f"Stack[{self.name}] has already been closed."
            )
