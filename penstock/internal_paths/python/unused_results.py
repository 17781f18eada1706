"""`tensorflow.python.util.tf_should_use`: results that complain when nobody uses them."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any

from penstock.internal_paths.python.decorators import make_decorator
from penstock.platform import logging as tf_logging

_OWN = ("_tf_should_use_helper", "_true_value")
_wrapper_classes: dict[type, type] = {}


class _TFShouldUseHelper:
    """Logs, when it goes, that a value wasn't used, unless it has been told otherwise."""

    def __init__(self, type_: type, repr_: str, stack_frame: FrameType | None, fatal: bool):
        self._type: type | None = type_
        self._repr: str | None = repr_
        self._stack_frame = stack_frame
        self._fatal = fatal
        self._sated = False

    def sate(self) -> None:
        """The value has been used."""
        self._sated = True
        self._type = self._repr = self._stack_frame = None

    def __del__(self) -> None:
        if self._sated:
            return
        made = "".join(line.rstrip() for line in traceback.format_stack(self._stack_frame, limit=5))
        log = tf_logging.fatal if self._fatal else tf_logging.error
        rule = "=" * 34
        log(
            f"{rule}\nObject was never used (type {self._type}):\n{self._repr}\nIf you want to "
            'mark it as used call its "mark_used()" method.\nIt was originally created here:\n'
            f"{made}\n{rule}"
        )


def _read(self: Any, name: str) -> Any:
    if name not in _OWN:
        object.__getattribute__(self, "_tf_should_use_helper").sate()
    if name in (*_OWN, "mark_used"):
        return object.__getattribute__(self, name)
    return getattr(object.__getattribute__(self, "_true_value"), name)


def _write(self: Any, name: str, value: Any) -> None:
    if name in _OWN:
        object.__setattr__(self, name, value)
    else:
        setattr(object.__getattribute__(self, "_true_value"), name, value)


def _mark_used(self: Any, *args: Any, **kwargs: Any) -> Any:
    self._tf_should_use_helper.sate()
    inner = getattr(self._true_value, "mark_used", None)
    return inner(*args, **kwargs) if inner is not None else None


def _made_around(self: Any, true_value: Any, helper: _TFShouldUseHelper) -> None:
    self._tf_should_use_helper = helper
    self._true_value = true_value


def _get_wrapper(x: Any, helper: _TFShouldUseHelper) -> Any:
    """A value of a class below that of `x`, which hands everything on to `x`."""
    made_of = type(x)
    if made_of not in _wrapper_classes:
        _wrapper_classes[made_of] = type(
            made_of.__name__,
            (made_of,),
            {
                "__init__": _made_around,
                "__getattribute__": _read,
                "__setattr__": _write,
                "__module__": made_of.__module__,
                "mark_used": _mark_used,
            },
        )
    result: Any = object.__new__(_wrapper_classes[made_of])
    _made_around(result, x, helper)
    return result


def _add_should_use_warning(x: Any, fatal_error: bool = False) -> Any:
    if x is None or (isinstance(x, list) and not x):
        return x
    helper = _TFShouldUseHelper(type(x), repr(x), sys._getframe(1), fatal_error)
    return _get_wrapper(x, helper)


def should_use_result(fn: Callable[..., Any]) -> Any:
    """Lets the function's result log an error when nobody has used it."""

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return _add_should_use_warning(fn(*args, **kwargs))

    note = "should be used. If it is not, a warning will be logged."
    return make_decorator(fn, wrapped, "should_use_result", _with_note(fn, note))


def must_use_result_or_fatal(fn: Callable[..., Any]) -> Any:
    """Lets the function's result log a fatal error when nobody has used it."""

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return _add_should_use_warning(fn(*args, **kwargs), fatal_error=True)

    note = "must be used. If it is not, a fatal error will be raised."
    return make_decorator(fn, wrapped, "must_use_result_or_fatal", _with_note(fn, note))


def _with_note(fn: Callable[..., Any], note: str) -> str:
    remedy = "To mark the output as used, call its .mark_used() method."
    return f"{fn.__doc__ or ''}\n\n  **NOTE** The output of this function {note} {remedy}"
