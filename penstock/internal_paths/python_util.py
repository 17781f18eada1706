"""What `tensorflow.python.util` has for Python code: decorators, deprecations, identity sets."""

from __future__ import annotations

import collections.abc
import functools
import importlib
import inspect
import types
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager as contextmanager
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])

collections_abc = collections.abc


def make_decorator(
    target: _F,
    decorator_func: Callable[..., Any],
    decorator_name: str | None = None,
    decorator_doc: str = "",
    decorator_argspec: Any = None,
) -> Any:
    """A decorator's function under the name and documentation of what it decorates."""
    return functools.wraps(target)(decorator_func)


def tf_decorator_unwrap(function: Any) -> tuple[list[Any], Any]:
    return [], inspect.unwrap(function)


unwrap = tf_decorator_unwrap


def _same(function: _F) -> _F:
    return function


def _accepted(*args: Any, **kwargs: Any) -> Callable[[_F], _F]:
    """A decorator that only marks: a deprecation, an export."""
    return _same


deprecated = deprecated_args = deprecated_arg_values = deprecated_endpoints = _accepted
tf_export = keras_export = estimator_export = _accepted


@contextmanager
def silence() -> Iterator[None]:
    """What runs inside says nothing of deprecations, which nothing here does."""
    yield


def deprecated_alias(deprecated_name: str, name: str, func_or_class: _F, **kwargs: Any) -> _F:
    return func_or_class


def deprecated_argument_lookup(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """The argument under its new name, or else under its old one."""
    if old_value is not None:
        if new_value is not None:
            raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
        return old_value
    return new_value


def should_use_result(fn: Any = None, warn_in_eager: bool = False, **kwargs: Any) -> Any:
    """Accepted: a result that nobody uses is no error."""
    return fn if fn is not None else _same


def keyword_args_only(function: _F) -> _F:
    """The function, refusing arguments by position."""

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if args:
            raise ValueError(f"Must use keyword args to call {function.__name__}.")
        return function(**kwargs)

    return checked  # type: ignore[return-value]


def fn_args(fn: Any) -> tuple[str, ...]:
    """The names of a function's arguments, without `self` and what a partial has fixed."""
    if isinstance(fn, functools.partial):
        inner = fn_args(fn.func)[len(fn.args) :]
        return tuple(name for name in inner if name not in (fn.keywords or {}))
    if callable(fn) and not inspect.isfunction(fn) and not inspect.ismethod(fn):
        fn = fn.__call__
    names = list(inspect.getfullargspec(inspect.unwrap(fn)).args)
    return tuple(names[1:] if inspect.ismethod(fn) else names)


def has_kwargs(fn: Any) -> bool:
    return inspect.getfullargspec(fn).varkw is not None


def get_func_name(func: Any) -> str:
    """A callable's name, for messages."""
    if not callable(func):
        raise ValueError("Argument must be callable")
    return str(getattr(func, "__name__", None) or type(func).__name__)


def remove_undocumented(
    module_name: str, allowed_exception_list: Any = None, doc_string_modules: Any = None
) -> None:
    """Accepted: a module keeps all of its names."""


def make_all(module_name: str, doc_string_modules: Any = None) -> list[str]:
    """The public names of a module."""
    module = importlib.import_module(module_name)
    return [name for name in dir(module) if not name.startswith("_")]


class LazyLoader(types.ModuleType):
    """A module that is imported when one of its names is asked for."""

    def __init__(self, local_name: str, parent_module_globals: dict[str, Any], name: str):
        super().__init__(name)
        self._local_name = local_name
        self._parent = parent_module_globals

    def __getattr__(self, item: str) -> Any:
        module = importlib.import_module(self.__name__)
        self._parent[self._local_name] = module
        return getattr(module, item)


class ObjectIdentitySet:
    """A set of objects by identity."""

    def __init__(self, values: Iterable[Any] = ()):
        self._values = {id(value): value for value in values}

    def add(self, value: Any) -> None:
        self._values[id(value)] = value

    def discard(self, value: Any) -> None:
        self._values.pop(id(value), None)

    def update(self, values: Iterable[Any]) -> None:
        for value in values:
            self.add(value)

    def __contains__(self, value: Any) -> bool:
        return id(value) in self._values

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values.values())


class ObjectIdentityDictionary(dict[Any, Any]):
    """A dictionary whose keys are equal where they are identical."""

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(_Identity(key), value)

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(_Identity(key))

    def __contains__(self, key: object) -> bool:
        return super().__contains__(_Identity(key))


class _Identity:
    def __init__(self, value: Any):
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self._value is other._value

    def __hash__(self) -> int:
        return id(self._value)


WeakKeyDictionary = weakref.WeakKeyDictionary
