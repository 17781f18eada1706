"""`tensorflow.python.util.tf_inspect`: Python's `inspect`, by the names of its time."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple


class ArgSpec(NamedTuple):
    """A function's arguments in the form that Python 3.11 dropped."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def getargspec(obj: Any) -> ArgSpec:
    """A function's arguments, without keyword-only ones."""
    spec = inspect.getfullargspec(obj)
    return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)


def __getattr__(name: str) -> Any:
    return getattr(inspect, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(inspect)})
