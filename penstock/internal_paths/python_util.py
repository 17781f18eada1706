"""What `tensorflow.python.util` has for Python code, in modules that hold little else."""

from __future__ import annotations

import collections.abc
import contextlib
import functools
import importlib
import os
import types
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from penstock.internal_paths.python.decorators import make_decorator as make_decorator
from penstock.internal_paths.python.decorators import tf_decorator_unwrap as tf_decorator_unwrap
from penstock.internal_paths.python.decorators import unwrap as unwrap
from penstock.internal_paths.python.deprecations import deprecated as deprecated
from penstock.internal_paths.python.deprecations import (
    deprecated_arg_values as deprecated_arg_values,
)
from penstock.internal_paths.python.deprecations import deprecated_args as deprecated_args
from penstock.internal_paths.python.docstring_notices import validate_callable
from penstock.internal_paths.python.function_facts import fn_args as fn_args
from penstock.internal_paths.python.identity import (
    ObjectIdentityDictionary as ObjectIdentityDictionary,
)
from penstock.internal_paths.python.identity import ObjectIdentitySet as ObjectIdentitySet

_F = TypeVar("_F", bound=Callable[..., Any])

collections_abc = collections.abc


def contextmanager(target: Callable[..., Any]) -> Any:
    """Python's `contextlib.contextmanager`, as a decorator that tells what it decorates."""
    return make_decorator(target, contextlib.contextmanager(target), "contextmanager")


def keyword_args_only(function: _F) -> _F:
    """The function, refusing arguments by position."""
    validate_callable(function, "keyword_args_only")

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if args:
            raise ValueError(f"Must use keyword args to call {function.__name__}.")
        return function(**kwargs)

    return checked  # type: ignore[return-value]


def path_to_str(path: Any) -> Any:
    """A path as a string; anything else as it is."""
    if not hasattr(path, "__fspath__"):
        return path
    return os.fsdecode(path.__fspath__())


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


def IS_IN_GRAPH_MODE() -> bool:
    """Whether the program builds graphs: always."""
    return True


WeakKeyDictionary = weakref.WeakKeyDictionary


def dismantle_ordered_dict(ordered_dict: dict[Any, Any]) -> None:
    """Empties a dictionary that will not be used again."""
    ordered_dict.clear()
