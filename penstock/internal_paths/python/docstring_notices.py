"""`tensorflow.python.util.decorator_utils`: notices in docstrings, names of functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def get_qualified_name(function: Any) -> str:
    """A function's name with those of the classes and functions that it is in."""
    return str(getattr(function, "__qualname__", None) or function.__name__)


def _normalize_docstring(docstring: str | None) -> str:
    return inspect.cleandoc(docstring) if docstring else ""


def add_notice_to_docstring(
    doc: str | None, instructions: str | None, no_doc_str: str, suffix_str: str, notice: list[str]
) -> str:
    """A docstring with a warning below its first line.

    Args:
      doc: the docstring, or nothing.
      instructions: what to do, at the end of the notice.
      no_doc_str: the first line where there is no docstring.
      suffix_str: added to the first line.
      notice: the lines of the warning, one at least.
    """
    if not notice:
        raise ValueError("The `notice` arg must not be empty.")
    lines = [f"Warning: {notice[0]}", *notice[1:]]
    if instructions:
        lines.append(instructions)
    if not doc:
        return "\n".join([no_doc_str, "", *lines])
    first, *body = _normalize_docstring(doc).splitlines()
    distance = [""] if body and body[0].strip() else []
    return "\n".join([f"{first} {suffix_str}", "", *lines, *distance, *body])


def validate_callable(func: Any, decorator_name: str) -> None:
    """Refuses what cannot be called, such as a property that was decorated too late."""
    if not callable(func):
        raise ValueError(
            f"{func} is not a function. If this is a property, make sure @property appears before"
            f" @{decorator_name} in your source code:\n\n@property\n@{decorator_name}\n"
            "def method(...)"
        )


class classproperty:
    """A property that is read from a class."""

    def __init__(self, func: Callable[[Any], Any]):
        self.func = func

    def __get__(self, owner_self: Any, owner_cls: Any) -> Any:
        return self.func(owner_cls)
