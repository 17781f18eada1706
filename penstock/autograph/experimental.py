"""`tf.autograph.experimental`: marks and options for a conversion that never takes place."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["Feature", "do_not_convert", "set_loop_options"]


class Feature(enum.Enum):
    """Parts of the conversion of Python code that a program may ask for."""

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """Every feature."""
        return tuple(cls)

    @classmethod
    def all_but(cls, exclude: Feature | Sequence[Feature]) -> tuple[Feature, ...]:
        """Every feature that is not excluded."""
        excluded = exclude if isinstance(exclude, (list, tuple, set)) else (exclude,)
        return tuple(feature for feature in cls if feature not in excluded)


def do_not_convert(func: Callable[..., Any] | None = None) -> Any:
    """The function itself, which runs as Python as every function here does; or a decorator."""
    return do_not_convert if func is None else func


def set_loop_options(
    parallel_iterations: Any = None,
    back_prop: Any = None,
    swap_memory: Any = None,
    maximum_iterations: Any = None,
) -> None:
    """Accepted: a Python loop is unrolled into the graph, and `tf.while_loop` takes the options."""
