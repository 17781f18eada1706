"""Runs that need no thread while they wait: generators, which yield at each wait.

A kernel that has to wait leaves word where it waits, and raises `Parked`. Its line yields, and the
thread is free. When the wait is over, the gate of the run is opened; whoever has it go on calls the
kernel again, which finds what it has waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from penstock.state.waiting import Parked

Stretches = Generator[None, None, Any]


def resumable(function: Callable[..., Any]) -> Callable[..., Stretches]:
    """A kernel's function, called again after its wait; where a thread is to wait, as it is.

    One that knows how to go on by itself has an attribute `in_stretches`.
    """
    own: Callable[..., Stretches] | None = getattr(function, "in_stretches", None)
    if own is not None:
        return own

    def run(step: Any, *inputs: Any) -> Stretches:
        while True:
            step.gate = step.resumption
            try:
                return function(step, *inputs)
            except Parked:
                pass
            finally:
                step.gate = None
            yield

    return run


def run_through(stretches: Stretches) -> Any:
    """The result of a run whose waits are its thread's."""
    try:
        next(stretches)
    except StopIteration as end:
        return end.value
    raise AssertionError("a run that has a thread to wait with has left it")
