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
    spec = getfullargspec(obj)
    return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)


def getfullargspec(obj: Any) -> inspect.FullArgSpec:
    """A function's arguments; those of the API as it is written in TensorFlow.

    Libraries compare the whole specification of a function with that of their replacement for it:
    the API's functions have no annotations there, and their decorators are looked through.
    """
    if (getattr(obj, "__module__", None) or "").split(".")[0] != __name__.split(".")[0]:
        return inspect.getfullargspec(obj)
    return inspect.getfullargspec(inspect.unwrap(obj))._replace(annotations={})


def __getattr__(name: str) -> Any:
    return getattr(inspect, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(inspect)})
