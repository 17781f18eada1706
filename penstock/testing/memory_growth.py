"""Tests of memory: a function that is called again and again must not need more each time."""

from __future__ import annotations

import gc
import importlib
import importlib.util
from collections.abc import Callable
from typing import Any


def memory_profiler_is_available() -> bool:
    """Whether the package that measures is installed."""
    return importlib.util.find_spec("memory_profiler") is not None


def _used() -> float:
    """Megabytes of this process."""
    measured: Any = importlib.import_module("memory_profiler")
    return float(measured.memory_usage(-1)[0])


def assert_no_leak(
    f: Callable[[], Any], num_iters: int = 100000, increase_threshold_absolute_mb: float = 10
) -> None:
    """Raises AssertionError if many calls of `f` leave the process with that much more memory."""
    f()  # what is kept for good is kept from the first call on
    before = _used()
    for _ in range(num_iters):
        f()
    gc.collect()
    grown = _used() - before
    if grown >= increase_threshold_absolute_mb:
        raise AssertionError(
            f"{num_iters} calls left the process with {grown} MB more than the {before} MB "
            f"before; {increase_threshold_absolute_mb} MB are too many"
        )
