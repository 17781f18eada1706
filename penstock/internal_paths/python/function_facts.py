"""`tensorflow.python.util.function_utils`: names, arguments and code of callables."""

from __future__ import annotations

import functools
import inspect
from functools import cache
from types import CodeType
from typing import Any

from penstock.internal_paths import python_inspect
from penstock.internal_paths.python.decorators import unwrap


def _is_callable_object(obj: Any) -> bool:
    return callable(obj) and inspect.ismethod(obj.__call__)


def _is_bound_method(fn: Any) -> bool:
    _, fn = unwrap(fn)
    return inspect.ismethod(fn) and fn.__self__ is not None


def fn_args(fn: Any) -> tuple[str, ...]:
    """The names of a function's arguments, without `self` and what a partial has fixed."""
    if isinstance(fn, functools.partial):
        rest = fn_args(fn.func)[len(fn.args) :]
        return tuple(name for name in rest if name not in (fn.keywords or {}))
    if _is_callable_object(fn):
        fn = fn.__call__
    names = tuple(python_inspect.getfullargspec(fn).args)
    return names[1:] if _is_bound_method(fn) else names


def has_kwargs(fn: Any) -> bool:
    """Whether a function takes `**kwargs`."""
    if isinstance(fn, functools.partial):
        fn = fn.func
    elif _is_callable_object(fn):
        fn = fn.__call__
    elif not callable(fn):
        raise TypeError(f"fn should be a function-like object, but is of type {type(fn)}.")
    return python_inspect.getfullargspec(fn).varkw is not None


def get_func_name(func: Any) -> str:
    """A callable's name, for messages."""
    _, func = unwrap(func)
    if not callable(func):
        raise ValueError("Argument must be callable")
    if inspect.isfunction(func):
        return func.__name__
    if inspect.ismethod(func):
        return f"{type(func.__self__).__name__}.{func.__func__.__name__}"
    return str(type(func))


def get_func_code(func: Any) -> CodeType | None:
    """A callable's code, or None where it has none of Python's."""
    _, func = unwrap(func)
    if not callable(func):
        raise ValueError("Argument must be callable")
    if inspect.isfunction(func) or inspect.ismethod(func):
        return func.__code__
    return getattr(func.__call__, "__code__", None)


@cache
def get_disabled_rewriter_config() -> bytes:
    """A serialized ConfigProto that leaves the graph as it is."""
    from penstock.proto import ConfigProto

    config = ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return bytes(config.SerializeToString())
