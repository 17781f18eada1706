"""Calls of converted code, and the functions that ask for a conversion or forbid it."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping
from types import BuiltinFunctionType, BuiltinMethodType
from typing import Any

from penstock.autograph import ag_logging, conversion
from penstock.autograph.convertible import (
    has_nothing_to_convert,
    keep_unconverted,
    known_unconverted,
    runs_as_it_is,
)
from penstock.autograph.operators import py_builtins
from penstock.autograph.options import STANDARD_OPTIONS, ConversionOptions, Feature, ProgramContext
from penstock.internal_paths.python import decorators
from penstock.ir.conversion_status import ControlStatusCtx, Status


class AutoGraphError(Exception):
    """What went wrong in a conversion or in converted code."""


class ConversionError(AutoGraphError):
    """A function could not be converted."""


class StagingError(AutoGraphError):
    """Converted code failed."""


def is_autograph_strict_conversion_mode() -> bool:
    """Whether a function that can't be converted is an error, by the environment."""
    return int(os.environ.get("AUTOGRAPH_STRICT_CONVERSION", "0")) > 0


def converted_call(
    f: Any,
    options: ConversionOptions,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None,
    caller_fn_scope: Any = None,
) -> Any:
    """Calls something from converted code, converted if need be.

    Args:
      f: what is called.
      options: how it is converted.
      args: its arguments.
      kwargs: its arguments by name, or None.
      caller_fn_scope: the scope of the function that calls it.
    """
    kwargs = kwargs or {}
    if known_unconverted(f, options):
        return f(*args, **kwargs)
    if _is_builtin(f):
        return _call_builtin(f, args, kwargs, caller_fn_scope)
    if _is_final(f) or (not options.user_requested and runs_as_it_is(f)):
        return _call_as_is(f, options, args, kwargs)
    if not options.internal_convert_user_code:
        return _call_as_is(f, options, args, kwargs)
    while isinstance(f, functools.partial):
        args, kwargs, f = (*f.args, *args), {**f.keywords, **kwargs}, f.func
        if _is_final(f) or _is_builtin(f) or (not options.user_requested and runs_as_it_is(f)):
            return converted_call(f, options, args, kwargs, caller_fn_scope)
    converted, first = _converted(f, options)
    if converted is None:
        return _call_as_is(f, options, args, kwargs)
    return converted(*first, *args, **kwargs)


def _is_builtin(f: Any) -> bool:
    if isinstance(f, (BuiltinFunctionType, BuiltinMethodType)):
        return True
    return inspect.isclass(f) and f.__module__ == "builtins"


def _call_builtin(f: Any, args: Any, kwargs: Any, scope: Any) -> Any:
    if f is eval:
        return py_builtins.eval_in_original_context(f, args, scope)
    if f is locals:
        return py_builtins.locals_in_original_context(scope)
    if f is super:
        return py_builtins.super_in_original_context(f, args, scope)
    return py_builtins.overload_of(f)(*args, **kwargs)


def _is_final(f: Any) -> bool:
    """Whether something is converted already, must not be, or can't be."""
    if hasattr(f, "autograph_info__") or hasattr(f, "__ag_compiled"):
        return True
    if inspect.isclass(f) or isinstance(f, functools._lru_cache_wrapper):
        return True
    return type(f).__module__.partition(".")[0] == "wrapt"  # it shows what it wraps as its own


def _call_as_is(f: Any, options: ConversionOptions, args: Any, kwargs: Any) -> Any:
    keep_unconverted(f, options)
    return f(*args, **kwargs)


def _converted(f: Any, options: ConversionOptions) -> tuple[Any, tuple[Any, ...]]:
    """The converted function and its first arguments, or None."""
    function = f if inspect.isfunction(f) or inspect.ismethod(f) else f.__call__
    code = getattr(function, "__code__", None)
    if code is None or code.co_filename == "<string>":
        return None, ()
    if options == STANDARD_OPTIONS and has_nothing_to_convert(code):
        return None, ()
    owner = getattr(function, "__self__", None)
    try:
        return conversion.convert(function, ProgramContext(options)), (
            () if owner is None else (owner,)
        )
    except Exception as error:
        ag_logging.log(1, "Error transforming entity %s", function, exc_info=True)
        if is_autograph_strict_conversion_mode():
            raise
        ag_logging.warn(
            "Entity %s could not be transformed and will be executed as-is: a tensor can't decide "
            "its branches and loops. AUTOGRAPH_VERBOSITY=10 logs more. Cause: %s",
            function,
            error,
        )
        return None, ()


def convert(
    recursive: bool = False, optional_features: Any = None, user_requested: bool = True
) -> Callable[[Any], Any]:
    """A decorator: the function is converted when it is called.

    Args:
      recursive: whether functions that it calls are converted, too.
      optional_features: a `Feature` or several.
      user_requested: whether it is converted wherever it comes from.
    """
    options = ConversionOptions(
        recursive=recursive, user_requested=user_requested, optional_features=optional_features
    )

    def decorated(f: Any) -> Any:
        def call_converted(*args: Any, **kwargs: Any) -> Any:
            return converted_call(f, options, args, kwargs)

        return _marked(decorators.make_decorator(f, _like(f, call_converted)))

    return decorated


def requested(f: Any, features: Any = None) -> Any:
    """A function that a program has asked to be converted, with the decorators around it."""
    _, inner = decorators.unwrap(f)
    converted = convert(recursive=True, optional_features=features)(inner)
    return decorators.rewrap(f, inner, converted)


def _like(f: Any, wrapper: Any) -> Any:
    if inspect.isfunction(f) or inspect.ismethod(f):
        return functools.update_wrapper(wrapper, f)
    return wrapper


def _marked(f: Any) -> Any:
    setattr(f, "__ag_compiled", True)
    return f


def do_not_convert(func: Any = None) -> Any:
    """The function, which is not converted, nor what it calls; or a decorator."""
    return do_not_convert if func is None else _with_status(func, Status.DISABLED)


def call_with_unspecified_conversion_status(func: Any) -> Any:
    """The function as if nothing had been said of conversion."""
    return _with_status(func, Status.UNSPECIFIED)


def _with_status(func: Any, status: Status) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        with ControlStatusCtx(status):
            return func(*args, **kwargs)

    return _marked(_like(func, call))


def do_not_convert_internal(f: Any) -> Any:
    """The function itself, marked as one that needs no conversion."""
    return _marked(f)


def tf_convert(
    f: Any, ctx: ControlStatusCtx, convert_by_default: bool = True, user_requested: bool = False
) -> Any:
    """A function that someone gave to be called inside of a graph.

    Args:
      f: the function.
      ctx: what was said of conversion where it was given.
      convert_by_default: whether it is converted if nothing was.
      user_requested: whether it is converted wherever it comes from.
    """
    if hasattr(f, "__ag_compiled"):
        return f
    wrappers, inner = decorators.unwrap(f)
    wanted = ctx.status is Status.ENABLED or (
        ctx.status is Status.UNSPECIFIED and convert_by_default
    )
    if wanted:
        made = convert(recursive=True, user_requested=user_requested)(inner)
    elif ctx.status is Status.DISABLED:
        made = do_not_convert(inner)
    else:
        made = call_with_unspecified_conversion_status(inner)
    return _marked(decorators.rewrap(f, inner, made) if wrappers else made)


def to_graph(
    entity: Any,
    recursive: bool = True,
    arg_values: Any = None,
    arg_types: Any = None,
    experimental_optional_features: Feature | tuple[Feature, ...] | None = None,
) -> Any:
    """The converted function, whose branches and loops on tensors are nodes of the graph.

    >>> absolute = tf.autograph.to_graph(lambda x: x if x > 0 else -x)

    Args:
      entity: a function, a method (which becomes a function of `self`), or a class.
      recursive: whether functions that it calls are converted, too.
      arg_values: not used.
      arg_types: not used.
      experimental_optional_features: what of Python else is converted.
    """
    options = ConversionOptions(
        recursive=recursive, user_requested=True, optional_features=experimental_optional_features
    )
    try:
        return conversion.convert(entity, ProgramContext(options))
    except (ValueError, AttributeError, KeyError, NameError, AssertionError) as error:
        ag_logging.error(1, "Error converting %s", entity, exc_info=True)
        raise ConversionError(f"converting {entity}: {type(error).__name__}: {error}") from error


def to_code(
    entity: Any,
    recursive: bool = True,
    arg_values: Any = None,
    arg_types: Any = None,
    indentation: str = "  ",
    experimental_optional_features: Feature | tuple[Feature, ...] | None = None,
) -> str:
    """The Python code of the converted function; the arguments are those of `to_graph`."""
    converted = to_graph(
        entity,
        recursive=recursive,
        experimental_optional_features=experimental_optional_features,
    )
    text: str = converted.ag_source__
    return text + "\n"
