"""Functions that other types than tensors can answer: a class of values registers its own way.

A function marked with `dispatched` is called as always. Only where it refuses its arguments
(TypeError, ValueError) the dispatchers registered for it are asked, in their order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])

_DISPATCHERS = "_tf_dispatchers"


class OpDispatcher:
    """Answers calls of one function for arguments of its own; `handle` says which it can."""

    NOT_SUPPORTED = object()

    def handle(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of the call, or `NOT_SUPPORTED`."""
        raise NotImplementedError

    def register(self, op: Callable[..., Any]) -> None:
        """Lets this dispatcher answer calls of `op`."""
        if not hasattr(op, _DISPATCHERS):
            raise AssertionError("Dispatching not enabled for {}".format(op))  # noqa: UP032
        getattr(op, _DISPATCHERS).append(self)


class _TypeDispatcher(OpDispatcher):
    """Calls another function where an argument is of one of some types."""

    def __init__(self, override: Callable[..., Any], types: tuple[type, ...]):
        self._types = types
        self._override = override

    def handle(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if any(isinstance(arg, self._types) for arg in (*args, *kwargs.values())):
            return self._override(*args, **kwargs)
        return self.NOT_SUPPORTED


def dispatch(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The answer of the first dispatcher of `op` that has one, or `NOT_SUPPORTED`."""
    for dispatcher in getattr(op, _DISPATCHERS):
        result = dispatcher.handle(args, kwargs)
        if result is not OpDispatcher.NOT_SUPPORTED:
            return result
    return OpDispatcher.NOT_SUPPORTED


def add_dispatch_list(target: Function) -> Function:
    """Gives a function a list of dispatchers, for it to ask itself."""
    if hasattr(target, _DISPATCHERS):
        raise AssertionError(f"{target} already has a dispatch list")
    setattr(target, _DISPATCHERS, [])
    return target


def dispatched(target: Function) -> Function:
    """Marks a function that dispatchers may answer where it refuses its arguments."""

    @functools.wraps(target)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return target(*args, **kwargs)
        except (TypeError, ValueError):
            result = dispatch(wrapper, *args, **kwargs)
            if result is OpDispatcher.NOT_SUPPORTED:
                raise
            return result

    return cast(Function, add_dispatch_list(wrapper))


add_dispatch_support = dispatched


def dispatch_for_types(op: Callable[..., Any], *types: type) -> Callable[[Function], Function]:
    """A decorator: the function answers calls of `op` with arguments of these types."""

    def decorated(override: Function) -> Function:
        _TypeDispatcher(override, types).register(op)
        return override

    return decorated
