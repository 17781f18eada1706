"""Default arguments for functions, set for a block: `with arg_scope([conv2d], stride=2):`."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

__all__ = [
    "add_arg_scope",
    "arg_scope",
    "arg_scope_func_key",
    "arg_scoped_arguments",
    "current_arg_scope",
    "has_arg_scope",
]

#: For each function, by its key, the arguments that blocks have set.
Scope = dict[str, dict[str, Any]]

_optional_arguments: dict[str, tuple[str, ...]] = {}


class _Scopes(threading.local):
    """The open blocks of one thread, innermost last."""

    def __init__(self) -> None:
        self.open: list[Scope] = [{}]


_scopes = _Scopes()


def current_arg_scope() -> Scope:
    """The defaults in force: a dict of dicts of arguments, by function."""
    return _scopes.open[-1]


def arg_scope_func_key(op: Any) -> str:
    """The key under which a scope keeps a function's arguments."""
    return str(getattr(op, "_key_op", str(op)))


def has_arg_scope(func: Any) -> bool:
    """Whether a function was decorated with `add_arg_scope`."""
    return arg_scope_func_key(func) in _optional_arguments


def arg_scoped_arguments(func: Any) -> tuple[str, ...]:
    """The names of the arguments that a scope can set for a function."""
    assert has_arg_scope(func)
    return _optional_arguments[arg_scope_func_key(func)]


def _with_arguments(functions: Sequence[Any], arguments: dict[str, Any]) -> Scope:
    scope = dict(current_arg_scope())
    for function in functions:
        if not has_arg_scope(function):
            named = (function.__module__, function.__name__)
            raise ValueError("%s is not decorated with @add_arg_scope", named)
        key = arg_scope_func_key(function)
        scope[key] = {**scope.get(key, {}), **arguments}
    return scope


@contextmanager
def arg_scope(list_ops_or_scope: Any, **kwargs: Any) -> Iterator[Scope]:
    """Sets default arguments of functions for a block; inner blocks override outer ones.

    Args:
      list_ops_or_scope: functions decorated with `add_arg_scope`; or a scope that an earlier block
        gave, to be opened again, then without `kwargs`.
      **kwargs: the arguments.
    """
    if isinstance(list_ops_or_scope, dict):
        if kwargs:
            raise ValueError(
                "When attempting to re-use a scope by suppling a dictionary, kwargs must be empty."
            )
        scope = dict(list_ops_or_scope)
    elif isinstance(list_ops_or_scope, (list, tuple)):
        scope = _with_arguments(list_ops_or_scope, kwargs)
    else:
        raise TypeError("list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict)")
    _scopes.open.append(scope)
    try:
        yield scope
    finally:
        _scopes.open.pop()


def _names_with_defaults(func: Callable[..., Any]) -> tuple[str, ...]:
    count = len(func.__defaults__ or ())
    names = func.__code__.co_varnames[: func.__code__.co_argcount]
    return names[len(names) - count :]


def add_arg_scope(func: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a function so that `arg_scope` can set its default arguments."""
    key = arg_scope_func_key(func)

    @functools.wraps(func)
    def with_scope(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **{**current_arg_scope().get(key, {}), **kwargs})

    _optional_arguments[key] = _names_with_defaults(inspect.unwrap(func))
    with_scope._key_op = key  # type: ignore[attr-defined] # read by arg_scope_func_key
    return with_scope
