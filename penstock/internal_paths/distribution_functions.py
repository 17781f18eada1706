"""What `tensorflow.python.ops.distributions.util` has for authors of distributions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["AppendDocstring", "parent_frame_arguments"]


def parent_frame_arguments() -> dict[str, Any]:
    """The arguments of the function that calls this, by name; those of `*args` are left out."""
    here = inspect.currentframe()
    assert here is not None and here.f_back is not None
    names, _, keywords, values = inspect.getargvalues(here.f_back)
    found = {name: values[name] for name in names}
    return found | (values[keywords] if keywords else {})


class AppendDocstring:
    """A decorator that adds a note, and a list of keyword arguments, to a docstring."""

    def __init__(self, additional_note: str = "", kwargs_dict: Mapping[str, str] | None = None):
        self._note = additional_note
        if kwargs_dict:
            lines = [_bullet(name, kwargs_dict[name]) for name in sorted(kwargs_dict)]
            self._note += "\n\n##### `kwargs`:\n\n" + "\n".join(lines)

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fn)
        def documented(*args: Any, **kwargs: Any) -> Any:
            return fn(*args, **kwargs)

        documented.__doc__ = self._note if fn.__doc__ is None else f"{fn.__doc__}\n{self._note}"
        return documented


def _bullet(name: str, description: str) -> str:
    description = description.lstrip()
    if any(letter.isspace() for letter in name):
        raise ValueError(f'Parameter name "{name}" contains whitespace.')
    if "\n" in description:
        raise ValueError(f'Parameter description for "{name}" contains newlines.')
    return f"*  `{name}`: {description}"
