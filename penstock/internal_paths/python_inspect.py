"""`tensorflow.python.util.tf_inspect`: Python's `inspect`, which looks through decorators."""

from __future__ import annotations

import functools
import inspect
import sys
from types import FrameType
from typing import Any, NamedTuple

from penstock.internal_paths.python.decorators import unwrap

FullArgSpec: Any = inspect.FullArgSpec
_LOOK_THROUGH = frozenset(
    "getsourcefile getsourcelines isbuiltin isclass isfunction isframe isgenerator "
    "isgeneratorfunction ismethod ismodule isroutine".split()
)


class ArgSpec(NamedTuple):
    """A function's arguments in the form that Python 3.11 dropped."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def getsource(obj: Any) -> str:
    """The text of a function; of a converted one, that of what it was converted to."""
    target = unwrap(obj)[1]
    return getattr(target, "ag_source__", None) or inspect.getsource(target)


def getargspec(obj: Any) -> ArgSpec:
    """A function's arguments, without keyword-only ones, as its outermost decorator has them."""
    if isinstance(obj, functools.partial):
        return _argspec_of_partial(obj)
    decorators, target = unwrap(obj)
    for decorator in decorators:
        if decorator.decorator_argspec is not None:
            spec: ArgSpec = decorator.decorator_argspec
            return spec
    try:
        full = getfullargspec(target)
    except TypeError:
        full = getfullargspec(type(target).__call__)
    return ArgSpec(full.args, full.varargs, full.varkw, full.defaults)


def _argspec_of_partial(obj: functools.partial[Any]) -> ArgSpec:
    """What a partial still takes; an argument with a default must not come before one without."""
    args, varargs, keywords, given = getargspec(obj.func)
    args = args[len(obj.args) :]
    defaults = dict(zip(args[::-1], (given or ())[::-1], strict=False))
    for name, value in (obj.keywords or {}).items():
        if name in args:
            defaults[name] = value
        elif not keywords:
            raise ValueError(
                "Function does not have **kwargs parameter, but contains an unknown partial "
                "keyword."
            )
    first = next((index for index, name in enumerate(args) if name in defaults), None)
    if first is None:
        return ArgSpec(args, varargs, keywords, None)
    without = [name for name in args[first:] if name not in defaults]
    if without:
        raise ValueError(
            f"Some arguments {without} do not have default value, but they are positioned after "
            "those with default values. This can not be expressed with ArgSpec."
        )
    return ArgSpec(args, varargs, keywords, tuple(defaults[name] for name in args[first:]))


def getfullargspec(obj: Any) -> inspect.FullArgSpec:
    """A function's arguments; those of the API as it is written in TensorFlow.

    Libraries compare the whole specification of a function with that of their replacement for it:
    the API's functions have no annotations there, and their decorators are looked through.
    """
    decorators, target = unwrap(obj)
    for decorator in decorators:
        spec = decorator.decorator_argspec
        if spec is not None:
            if isinstance(spec, inspect.FullArgSpec):
                return spec
            args, varargs, keywords, defaults = spec
            return inspect.FullArgSpec(args, varargs, keywords, defaults, [], None, {})
    if (getattr(target, "__module__", None) or "").split(".")[0] != __name__.split(".")[0]:
        return inspect.getfullargspec(target)
    return inspect.getfullargspec(inspect.unwrap(target))._replace(annotations={})


def getcallargs(*func_and_positional: Any, **named: Any) -> dict[str, Any]:
    """Which arguments of a function a call with these would give which values."""
    func, *positional = func_and_positional
    spec = getfullargspec(func)
    this = getattr(func, "__self__", None)
    if inspect.ismethod(unwrap(func)[1]) and this is not None:
        positional = [this, *positional]
    defaults = spec.defaults or ()
    given = {
        **dict(zip(spec.args[len(spec.args) - len(defaults) :], defaults, strict=True)),
        **(spec.kwonlydefaults or {}),
        **named,
    }
    free = [name for name in spec.args if name not in named]
    return {**given, **dict(zip(free, positional, strict=False))}


def getfile(object: Any) -> str:
    """The file that an object, behind its decorators, was made in."""
    target = unwrap(object)[1]
    if "__file__" in getattr(target, "f_globals", {}):
        return str(target.f_globals["__file__"])
    return inspect.getfile(target)


def currentframe() -> FrameType:
    """The caller's frame."""
    return sys._getframe(1)


def stack(context: int = 1) -> list[inspect.FrameInfo]:
    """The frames of the caller, the innermost first."""
    return inspect.stack(context)[1:]


def __getattr__(name: str) -> Any:
    function = getattr(inspect, name)
    if name not in _LOOK_THROUGH:
        return function

    def of_target(object: Any) -> Any:
        return function(unwrap(object)[1])

    return functools.wraps(function)(of_target)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(inspect)})
