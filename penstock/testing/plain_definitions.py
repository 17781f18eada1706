"""Functions and a class for tests of code that reads source: `pyct.testing.basic_definitions`."""

# What a function's module has imported of `__future__` is what some tests ask.
from __future__ import (  # noqa: UP010
    absolute_import,
    annotations,
    division,
    print_function,
    with_statement,
)

from typing import Any


def simple_function(x: Any) -> Any:
    """Gives back what it gets."""
    return x  # and nothing else


def nested_functions(x: Any) -> Any:
    """Calls a function of its own."""

    def inner_fn(y: Any) -> Any:
        return y

    return inner_fn(x)


def function_with_print() -> None:
    print("foo")  # noqa: T201


simple_lambda = lambda: None  # noqa: E731 - a lambda with a name is what is tested


class SimpleClass:
    """Has methods."""

    def simple_method(self) -> SimpleClass:
        return self

    def method_with_print(self) -> None:
        print("foo")  # noqa: T201


def function_with_multiline_call(x: Any) -> Any:
    """Has a call on several lines."""
    return range(
        x,
        x + 1,
    )
