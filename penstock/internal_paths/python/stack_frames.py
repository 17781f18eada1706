"""`tensorflow.python.util.tf_stack`: the frames of the current thread, without those filtered."""

from __future__ import annotations

import linecache
import sys
import threading
from collections import defaultdict
from collections.abc import Iterable
from types import FrameType
from typing import Any, ClassVar, NamedTuple

TB_FILENAME = 0
TB_LINENO = 1
TB_FUNCNAME = 2
TB_CODEDICT = 3


class StackFrame(NamedTuple):
    """One frame of a stack; its line of source is looked up when it is shown."""

    filename: str
    lineno: int
    name: str
    globals: dict[str, Any]
    func_start_lineno: int


class StackTraceTransform:
    """Changes the stacks that are taken inside a `with` block of this thread."""

    _active: ClassVar[dict[int, list[Any]]]

    def __enter__(self) -> StackTraceTransform:
        self.reset()
        active = self._active[threading.get_ident()]
        self.parent = active[-1] if active else None
        active.append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        assert self._active[threading.get_ident()].pop() is self, "Concurrent access?"

    def reset(self) -> None:
        """Forgets what an earlier block has found out."""


class StackTraceMapper(StackTraceTransform):
    """Says which lines of generated code stand for which lines of its source."""

    _active: ClassVar[dict[int, list[Any]]] = defaultdict(list)

    def reset(self) -> None:
        self._effective_source_map = None

    def get_effective_source_map(self) -> dict[tuple[str, int], tuple[str, int, str]]:
        """From (file, line) to (file, line, function)."""
        raise NotImplementedError("subclasses need to override this")


class StackTraceFilter(StackTraceTransform):
    """Leaves the frames of some files out."""

    _active: ClassVar[dict[int, list[Any]]] = defaultdict(list)

    def reset(self) -> None:
        self._filtered_filenames: frozenset[str | None] | None = None

    def get_filtered_filenames(self) -> frozenset[str | None]:
        raise NotImplementedError("subclasses need to override this")


class CurrentModuleFilter(StackTraceFilter):
    """Leaves the frames of the file out in which it is made."""

    def __init__(self) -> None:
        self._filename = sys._getframe(1).f_code.co_filename

    def get_filtered_filenames(self) -> frozenset[str | None]:
        if self._filtered_filenames is None:
            outer = self.parent.get_filtered_filenames() if self.parent is not None else frozenset()
            self._filtered_filenames = outer | {self._filename}
        return self._filtered_filenames


def extract_stack(limit: int = -1) -> list[StackFrame]:
    """The frames of the caller, the innermost last; `limit` of them at most."""
    thread = threading.get_ident()
    filters = StackTraceFilter._active[thread]
    mappers = StackTraceMapper._active[thread]
    left_out = filters[-1].get_filtered_filenames() if filters else frozenset()
    lines = mappers[-1].get_effective_source_map() if mappers else {}
    frames: list[StackFrame] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and limit != len(frames):
        code = frame.f_code
        if code.co_filename not in left_out:
            place = code.co_filename, frame.f_lineno
            filename, line, name = lines.get(place, (*place, code.co_name))
            frames.append(StackFrame(filename, line, name, frame.f_globals, code.co_firstlineno))
        frame = frame.f_back
    return frames[::-1]


def convert_stack(
    stack: Iterable[StackFrame], include_func_start_lineno: bool = False
) -> tuple[tuple[Any, ...], ...]:
    """The frames with their lines of source, as the `traceback` module has them."""
    return tuple(
        (frame.filename, frame.lineno, frame.name, _source_line(frame))
        + ((frame.func_start_lineno,) if include_func_start_lineno else ())
        for frame in stack
    )


def _source_line(frame: StackFrame) -> str | None:
    linecache.checkcache(frame.filename)
    return linecache.getline(frame.filename, frame.lineno, frame.globals).strip() or None
