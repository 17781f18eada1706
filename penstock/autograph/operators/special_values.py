"""Values that stand for the lack of one: variables without a value, functions without a result."""

from __future__ import annotations

from typing import Any


class Undefined:
    """A variable that has no value (yet).

    Args:
      symbol_name: how the program spells it: `x`, `self.x`.
    """

    def __init__(self, symbol_name: str):
        self.symbol_name = symbol_name

    def __repr__(self) -> str:
        return f"Undefined({self.symbol_name!r})"


class UndefinedReturnValue:
    """The result of a function that has not come to a `return`."""


def is_undefined(value: Any) -> bool:
    """Whether a value stands for a variable without one."""
    return isinstance(value, Undefined)


def is_undefined_return(value: Any) -> bool:
    """Whether a value stands for a result that no `return` has given."""
    return isinstance(value, UndefinedReturnValue)


def retval(value: Any) -> Any:
    """What a function gives back: None if it has come to its end without a `return`."""
    return None if is_undefined_return(value) else value
