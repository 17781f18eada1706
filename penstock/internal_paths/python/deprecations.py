"""`tensorflow.python.util.deprecation`: decorators that warn of what will go."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from penstock.internal_paths import python_inspect
from penstock.internal_paths.python import stack_frames
from penstock.internal_paths.python.decorators import make_decorator
from penstock.internal_paths.python.docstring_notices import (
    add_notice_to_docstring,
    get_qualified_name,
    validate_callable,
)
from penstock.platform import logging

_PRINT_DEPRECATION_WARNINGS = True
_PRINTED_WARNING: dict[Any, bool] = {}
_DATE = re.compile(r"20\d\d-[01]\d-[0123]\d")

Decorator = Callable[[Any], Any]


class DeprecatedNamesAlreadySet(Exception):
    """A symbol's deprecated names are said once."""


class DeprecatedArgSpec(NamedTuple):
    """Where a deprecated argument stands, and the value of it that needs no warning."""

    position: int
    has_ok_value: bool
    ok_value: Any


def _validate_deprecation_args(date: str | None, instructions: str) -> None:
    if date is not None and not _DATE.match(date):
        raise ValueError("Date must be YYYY-MM-DD.")
    if not instructions:
        raise ValueError("Don't deprecate things without conversion instructions!")


def _when(date: str | None) -> str:
    return "in a future version" if date is None else f"after {date}"


def _call_location(outer: bool = False) -> str:
    """File and line of the call of the function that asks for it, or of the one around it."""
    frames = stack_frames.extract_stack(limit=4)
    frame = frames[max(len(frames) - (4 if outer else 3), 0)]
    return f"{frame.filename}:{frame.lineno}"


def _first_time(key: Any, warn_once: bool) -> bool:
    """Whether to warn now; what is warned of once is remembered."""
    if not _PRINT_DEPRECATION_WARNINGS or key in _PRINTED_WARNING:
        return False
    if warn_once:
        _PRINTED_WARNING[key] = True
    return True


def _function_notice(doc: str | None, date: str | None, instructions: str) -> str:
    notice = [f"THIS FUNCTION IS DEPRECATED. It will be removed {_when(date)}."]
    if instructions:
        notice.append("Instructions for updating:")
    return add_notice_to_docstring(doc, instructions, "DEPRECATED FUNCTION", "(deprecated)", notice)


def _arguments_notice(
    doc: str | None, date: str | None, instructions: str, listed: str, values: bool
) -> str:
    what = "ARGUMENT VALUES" if values else "ARGUMENTS"
    return add_notice_to_docstring(
        doc,
        instructions,
        f"DEPRECATED FUNCTION {what}",
        f"(deprecated {'argument values' if values else 'arguments'})",
        [
            f"SOME {what} ARE DEPRECATED: `({listed})`. They will be removed {_when(date)}.",
            "Instructions for updating:",
        ],
    )


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Decorator:
    """Lets a function warn when it is called, and say so in its documentation.

    Args:
      date: when it will be removed, YYYY-MM-DD, or None for some day.
      instructions: what to use instead.
      warn_once: whether only the first call warns.
    """
    _validate_deprecation_args(date, instructions)

    def decorate(func: Any) -> Any:
        validate_callable(func, "deprecated")

        @functools.wraps(func)
        def new_func(*args: Any, **kwargs: Any) -> Any:
            if _first_time(func, warn_once):
                logging.warning(
                    "From %s: %s (from %s) is deprecated and will be removed %s.\n"
                    "Instructions for updating:\n%s",
                    _call_location(),
                    get_qualified_name(func),
                    func.__module__,
                    _when(date),
                    instructions,
                )
            return func(*args, **kwargs)

        doc = _function_notice(func.__doc__, date, instructions)
        return make_decorator(func, new_func, "deprecated", doc)

    return decorate


def deprecated_args(
    date: str | None, instructions: str, *deprecated_arg_names_or_tuples: Any, **kwargs: Any
) -> Decorator:
    """Lets a function warn when it is called with certain arguments.

    Args:
      date: as for `deprecated`.
      instructions: as for `deprecated`.
      *deprecated_arg_names_or_tuples: names of arguments, or pairs of a name and the value with
        which no warning is due.
      **kwargs: `warn_once`, whether each argument is warned of only once.
    """
    _validate_deprecation_args(date, instructions)
    if not deprecated_arg_names_or_tuples:
        raise ValueError("Specify which argument is deprecated.")
    warn_once = kwargs.pop("warn_once", True)
    if kwargs:
        raise ValueError(f"Illegal argument to deprecated_args: {kwargs}")
    values = dict(
        (entry[0], DeprecatedArgSpec(-1, True, entry[1]))
        if isinstance(entry, tuple)
        else (entry, DeprecatedArgSpec(-1, False, None))
        for entry in deprecated_arg_names_or_tuples
    )

    def decorate(func: Any) -> Any:
        validate_callable(func, "deprecated_args")
        signature = python_inspect.getfullargspec(func)
        named = _placed(values, signature, len(deprecated_arg_names_or_tuples))

        @functools.wraps(func)
        def new_func(*args: Any, **kwargs: Any) -> Any:
            if _PRINT_DEPRECATION_WARNINGS:
                given = python_inspect.getcallargs(func, *args, **kwargs)
                for name in _used(values, named, signature, args, kwargs, given):
                    if _first_time((func, name), warn_once):
                        logging.warning(
                            "From %s: calling %s (from %s) with %s is deprecated and will be "
                            "removed %s.\nInstructions for updating:\n%s",
                            _call_location(),
                            get_qualified_name(func),
                            func.__module__,
                            name,
                            _when(date),
                            instructions,
                        )
            return func(*args, **kwargs)

        listed = ", ".join(sorted(values))
        doc = _arguments_notice(func.__doc__, date, instructions, listed, values=False)
        return make_decorator(func, new_func, "deprecated", doc)

    return decorate


def _placed(
    values: dict[str, DeprecatedArgSpec], signature: Any, expected: int
) -> dict[str, DeprecatedArgSpec]:
    """The deprecated arguments that have a place in the signature; all must be in it somehow."""
    placed = {
        name: spec._replace(position=signature.args.index(name))
        for name, spec in values.items()
        if name in signature.args
    }
    rest = (signature.varargs in values) + (signature.varkw in values)
    if len(placed) + rest != expected:
        known = [*signature.args, signature.varargs, signature.varkw]
        missing = [name for name in values if name not in known]
        raise ValueError(
            "The following deprecated arguments are not present in the function signature: "
            f"{missing}. Found next arguments: {known}."
        )
    return placed


def _used(
    values: dict[str, DeprecatedArgSpec],
    placed: dict[str, DeprecatedArgSpec],
    signature: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    given: dict[str, Any],
) -> list[str]:
    """The deprecated arguments of a call: by position first, then by name."""

    def fine(name: str) -> bool:
        spec = placed[name]
        return spec.has_ok_value and _same_value(given[name], spec.ok_value)

    used = [name for name, spec in placed.items() if spec.position < len(args) and not fine(name)]
    if signature.varargs in values and len(args) > len(signature.args):
        used.append(signature.varargs)
    if signature.varkw in values and kwargs:
        used.append(signature.varkw)
    return used + [name for name in values if name in kwargs and not fine(name)]


def _same_value(left: Any, right: Any) -> bool:
    """Equality, where both have one that answers by yes or no."""
    if left is right:
        return True
    try:
        equal = left == right
    except TypeError:
        return False
    return equal if isinstance(equal, bool) else False


def deprecated_arg_values(
    date: str | None, instructions: str, warn_once: bool = True, **deprecated_kwargs: Any
) -> Decorator:
    """Lets a function warn when an argument has a certain value.

    Args:
      date: as for `deprecated`.
      instructions: as for `deprecated`.
      warn_once: whether each argument is warned of only once.
      **deprecated_kwargs: the arguments and those values.
    """
    _validate_deprecation_args(date, instructions)
    if not deprecated_kwargs:
        raise ValueError("Specify which argument values are deprecated.")

    def decorate(func: Any) -> Any:
        validate_callable(func, "deprecated_arg_values")

        @functools.wraps(func)
        def new_func(*args: Any, **kwargs: Any) -> Any:
            if _PRINT_DEPRECATION_WARNINGS:
                given = python_inspect.getcallargs(func, *args, **kwargs)
                for name, value in deprecated_kwargs.items():
                    hit = name in given and given[name] == value
                    if hit and _first_time((func, name), warn_once):
                        logging.warning(
                            "From %s: calling %s (from %s) with %s=%s is deprecated and will be "
                            "removed %s.\nInstructions for updating:\n%s",
                            _call_location(),
                            get_qualified_name(func),
                            func.__module__,
                            name,
                            value,
                            _when(date),
                            instructions,
                        )
            return func(*args, **kwargs)

        listed = ", ".join(f"{name}={value!r}" for name, value in sorted(deprecated_kwargs.items()))
        doc = _arguments_notice(func.__doc__, date, instructions, listed, values=True)
        return make_decorator(func, new_func, "deprecated", doc)

    return decorate


def deprecated_endpoints(*args: str) -> Decorator:
    """Notes on a symbol which of its names are deprecated; nothing warns of them."""

    def decorate(func: Any) -> Any:
        if "_tf_deprecated_api_names" in func.__dict__:
            raise DeprecatedNamesAlreadySet(
                f"Cannot set deprecated names for {func.__name__} to {args}. "
                f"Deprecated names are already set to {func._tf_deprecated_api_names}."
            )
        func._tf_deprecated_api_names = args
        return func

    return decorate


def deprecated_alias(
    deprecated_name: str, name: str, func_or_class: Any, warn_once: bool = True
) -> Any:
    """A function or class under its former name, which warns when it is used.

    Args:
      deprecated_name: the former name, for the warning.
      name: the name to use.
      func_or_class: what both names mean.
      warn_once: whether only the first use warns.
    """
    message = "From %s: The name %s is deprecated. Please use %s instead.\n"
    if isinstance(func_or_class, type):
        return _class_alias(message, deprecated_name, name, func_or_class, warn_once)
    validate_callable(func_or_class, "deprecated")

    @functools.wraps(func_or_class)
    def new_func(*args: Any, **kwargs: Any) -> Any:
        if _first_time(new_func, warn_once):
            logging.warning(message, _call_location(), deprecated_name, name)
        return func_or_class(*args, **kwargs)

    doc = _function_notice(func_or_class.__doc__, None, f"Please use {name} instead.")
    return make_decorator(func_or_class, new_func, "deprecated", doc)


def _class_alias(
    message: str, deprecated_name: str, name: str, original: type[Any], warn_once: bool
) -> type[Any]:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if _first_time(alias, warn_once):
            logging.warning(message, _call_location(), deprecated_name, name)
        original.__init__(self, *args, **kwargs)

    doc = add_notice_to_docstring(
        original.__doc__,
        f"Please use {name} instead.",
        "DEPRECATED CLASS",
        "(deprecated)",
        ["THIS CLASS IS DEPRECATED. It will be removed in a future version. "],
    )
    initializer = make_decorator(original.__init__, __init__, "wrapper")
    members = {"__init__": initializer, "__doc__": doc, "__module__": original.__module__}
    metaclass: Any = type(original)
    alias: type[Any] = metaclass(original.__name__, (original,), members)
    return alias


def deprecated_argument_lookup(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """The argument under its new name, or else under its old one."""
    if old_value is not None:
        if new_value is not None:
            raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
        return old_value
    return new_value


def rewrite_argument_docstring(old_doc: str, old_argument: str, new_argument: str) -> str:
    """A docstring in which an argument has another name."""
    quoted = old_doc.replace(f"`{old_argument}`", f"`{new_argument}`")
    return quoted.replace(f"{old_argument}:", f"{new_argument}:")


@contextmanager
def silence() -> Iterator[None]:
    """Nothing that runs inside warns of deprecations."""
    global _PRINT_DEPRECATION_WARNINGS
    before, _PRINT_DEPRECATION_WARNINGS = _PRINT_DEPRECATION_WARNINGS, False
    yield
    _PRINT_DEPRECATION_WARNINGS = before


class HiddenTfApiAttribute(property):
    """An inherited attribute that a class doesn't want to have: reading it is an error."""

    def __init__(self, deprecation_message: str):
        def refuse(_: Any) -> Any:
            raise AttributeError(deprecation_message)

        super().__init__(refuse)


hide_attribute_from_api = HiddenTfApiAttribute
HIDDEN_ATTRIBUTE = HiddenTfApiAttribute("This attribute has been deprecated.")
