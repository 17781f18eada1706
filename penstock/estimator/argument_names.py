"""Calling a user's function with the arguments that it names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.internal_paths.python_util import fn_args

__all__ = ["call_with_named", "fn_args"]


def call_with_named(function: Callable[..., Any], **available: Any) -> Any:
    """Calls a function with those of the available arguments that it has."""
    wanted = fn_args(function)
    return function(**{name: value for name, value in available.items() if name in wanted})
