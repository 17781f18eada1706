"""The tapes of each thread: who is told of the operations that have run in eager mode.

What a tape does with them is `autodiff/tape.py`. In a graph nothing is told: there the graph itself
is the record.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from penstock.ir.operation import Operation


class Recorder(Protocol):
    """What a tape is to those who tell it."""

    def record(self, op: Operation) -> None: ...

    def knows(self, tensors: Sequence[Any]) -> bool: ...

    def variable_accessed(self, variable: Any) -> None: ...


class _Tapes(threading.local):
    """The tapes of a thread that record, innermost last."""

    def __init__(self) -> None:
        self.recording: list[Recorder] = []


_tapes = _Tapes()


def start(tape: Recorder) -> None:
    _tapes.recording = [*_tapes.recording, tape]


def stop(tape: Recorder) -> None:
    _tapes.recording = [each for each in _tapes.recording if each is not tape]


def recording() -> list[Recorder]:
    """The tapes of this thread that record."""
    return _tapes.recording


def record(op: Operation) -> None:
    """Tells the tapes that an operation has run."""
    for tape in _tapes.recording:
        tape.record(op)


def variable_accessed(variable: Any) -> None:
    """Tells the tapes that a trainable variable is read."""
    if hasattr(variable, "_as_watched"):
        variable = variable._as_watched()
    for tape in _tapes.recording:
        tape.variable_accessed(variable)


@contextmanager
def recording_only(tapes: Sequence[Recorder]) -> Iterator[None]:
    """A block whose operations no other tapes of this thread record."""
    outer, _tapes.recording = _tapes.recording, list(tapes)
    try:
        yield
    finally:
        _tapes.recording = outer


def stop_recording() -> AbstractContextManager[None]:
    """A block whose operations no tape of this thread records."""
    return recording_only(())
