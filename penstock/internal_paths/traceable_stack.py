"""`tensorflow.python.framework.traceable_stack`: objects with the line that pushed them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any


class TraceableObject:
    """An object and the line of code that it came from."""

    SUCCESS, HEURISTIC_USED, FAILURE = 0, 1, 2

    def __init__(self, obj: Any, filename: str | None = None, lineno: int | None = None):
        self.obj = obj
        self.filename = filename
        self.lineno = lineno

    def set_filename_and_line_from_caller(self, offset: int = 0) -> int:
        """Remembers the caller's line, or that of a caller further out."""
        frame: Any = sys._getframe(1)
        outcome = self.SUCCESS
        for _ in range(offset):
            if frame.f_back is None:
                outcome = self.HEURISTIC_USED
                break
            frame = frame.f_back
        self.filename, self.lineno = frame.f_code.co_filename, frame.f_lineno
        return outcome

    def copy_metadata(self) -> TraceableObject:
        """The line alone, without the object."""
        return type(self)(None, filename=self.filename, lineno=self.lineno)


class TraceableStack:
    """A stack of traceable objects."""

    def __init__(self, existing_stack: list[TraceableObject] | None = None):
        self._stack = list(existing_stack or ())

    def push_obj(self, obj: Any, offset: int = 0) -> int:
        """Pushes an object with the caller's line, or that of a caller further out."""
        traced = TraceableObject(obj)
        self._stack.append(traced)
        return traced.set_filename_and_line_from_caller(offset + 1)

    def pop_obj(self) -> Any:
        return self._stack.pop().obj

    def peek_top_obj(self) -> Any:
        return self._stack[-1].obj

    def peek_objs(self) -> Iterator[Any]:
        """The objects, the newest first."""
        return (each.obj for each in reversed(self._stack))

    def peek_traceable_objs(self) -> Iterator[TraceableObject]:
        """The objects with their lines, the newest first."""
        return reversed(self._stack)

    def __len__(self) -> int:
        return len(self._stack)

    def copy(self) -> TraceableStack:
        return TraceableStack(self._stack)
