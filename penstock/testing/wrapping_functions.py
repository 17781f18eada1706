"""Decorators of another module, for tests of code that reads source: `pyct.testing.decorators`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def wrapping_decorator(f: Callable[..., Any]) -> Callable[..., Any]:
    """Tells of what is wrapped."""

    @functools.wraps(f)
    def wrapper(*args, **kwargs):  # type: ignore[no-untyped-def]  # tests compare this text
        return f(*args, **kwargs)

    return wrapper


def standalone_decorator(f: Callable[..., Any]) -> Callable[..., Any]:
    """Tells nothing of what is wrapped."""

    def standalone_wrapper(*args, **kwargs):  # type: ignore[no-untyped-def]
        return f(*args, **kwargs)

    return standalone_wrapper


def functional_decorator() -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Is called for the decorator."""

    def decorator(f: Callable[..., Any]) -> Callable[..., Any]:
        def functional_wrapper(*args, **kwargs):  # type: ignore[no-untyped-def]
            return f(*args, **kwargs)

        return functional_wrapper

    return decorator
