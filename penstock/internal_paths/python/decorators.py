"""`tensorflow.python.util.tf_decorator`: decorators that tell what they decorate."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

_COPIED = ("__name__", "__qualname__", "__module__")


class TFDecorator:
    """A callable around a target, which knows its own name, documentation and signature."""

    def __init__(
        self,
        decorator_name: str,
        target: Any,
        decorator_doc: str = "",
        decorator_argspec: Any = None,
    ):
        self._decorated_target = target
        self._decorator_name = decorator_name
        self._decorator_doc = decorator_doc
        self._decorator_argspec = decorator_argspec
        for attribute in ("__name__", "__qualname__"):
            if hasattr(target, attribute):
                setattr(self, attribute, getattr(target, attribute))
        self.__doc__ = decorator_doc or getattr(target, "__doc__", None) or ""

    def __get__(self, instance: Any, owner: Any) -> Any:
        return self._decorated_target.__get__(instance, owner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._decorated_target(*args, **kwargs)

    @property
    def decorated_target(self) -> Any:
        return self._decorated_target

    @decorated_target.setter
    def decorated_target(self, target: Any) -> None:
        self._decorated_target = target

    @property
    def decorator_name(self) -> str:
        return self._decorator_name

    @property
    def decorator_doc(self) -> str:
        return self._decorator_doc

    @property
    def decorator_argspec(self) -> Any:
        return self._decorator_argspec


def make_decorator(
    target: Any,
    decorator_func: Any,
    decorator_name: str | None = None,
    decorator_doc: str = "",
    decorator_argspec: Any = None,
) -> Any:
    """Marks `decorator_func` as a decorator of `target`, under the target's name.

    Args:
      target: what is decorated, a callable.
      decorator_func: the callable that stands in its place; it is changed and returned.
      decorator_name: by default the name of the function that calls this one.
      decorator_doc: takes the place of the target's documentation.
      decorator_argspec: the signature, where it differs from the target's.
    """
    if decorator_name is None:
        decorator_name = sys._getframe(1).f_code.co_name
    decorator = TFDecorator(decorator_name, target, decorator_doc, decorator_argspec)
    decorator_func._tf_decorator = decorator
    for attribute in _COPIED:
        if hasattr(target, attribute):
            setattr(decorator_func, attribute, getattr(target, attribute))
    for name, value in getattr(target, "__dict__", {}).items():
        decorator_func.__dict__.setdefault(name, value)
    if hasattr(target, "__doc__"):
        decorator_func.__doc__ = decorator.__doc__
    decorator_func.__wrapped__ = target
    decorator_func.__original_wrapped__ = target
    return decorator_func


def _decorator_of(obj: Any) -> TFDecorator | None:
    if isinstance(obj, TFDecorator):
        return obj
    found = getattr(obj, "_tf_decorator", None)
    return found if isinstance(found, TFDecorator) else None


def _has_tf_decorator_attr(obj: Any) -> bool:
    return isinstance(getattr(obj, "_tf_decorator", None), TFDecorator)


def unwrap(maybe_tf_decorator: Any) -> tuple[list[TFDecorator], Any]:
    """The decorators around a callable, from the outermost, and what they decorate."""
    decorators: list[TFDecorator] = []
    target = maybe_tf_decorator
    while (decorator := _decorator_of(target)) is not None:
        decorators.append(decorator)
        if not hasattr(decorator, "decorated_target"):
            break
        target = decorator.decorated_target
    return decorators, target


def rewrap(
    decorator_func: Any, previous_target: Callable[..., Any], new_target: Callable[..., Any]
) -> Any:
    """Lets the decorators around `previous_target` decorate `new_target`, which must ask their
    `__wrapped__` for it; returns the outermost, or the new target where there are none."""
    innermost = None
    current = decorator_func
    while _has_tf_decorator_attr(current):
        innermost = current
        if current._tf_decorator.decorated_target is previous_target:
            break
        current = current._tf_decorator.decorated_target
    if innermost is None:
        assert decorator_func is previous_target
        return new_target
    innermost._tf_decorator.decorated_target = new_target
    # A bound method takes no attributes: the function that it is bound from does.
    holder: Any = innermost.__func__ if inspect.ismethod(innermost) else innermost
    holder.__wrapped__ = new_target
    return decorator_func


tf_decorator_unwrap = unwrap
