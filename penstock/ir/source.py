"""Which line of the user's program made a node: found cheaply, shown in errors."""

from __future__ import annotations

import os
import sys
import traceback
from types import CodeType, FrameType
from typing import Any, NamedTuple

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_EXAMPLES = os.path.join(_PACKAGE, "examples") + os.sep
_own_files: dict[str, bool] = {}

Line = tuple[CodeType, int]


class Placed(NamedTuple):
    """Something that a line of the program said."""

    obj: Any
    filename: str | None
    lineno: int | None


def _is_own(filename: str) -> bool:
    known = _own_files.get(filename)
    if known is None:
        path = os.path.abspath(filename)
        known = path.startswith(_PACKAGE) and not path.startswith(_EXAMPLES)
        known = known or filename.startswith("<frozen")
        # contextlib and threading stand between the user and us in `with` and in threads.
        known = known or filename in (contextlib_file, threading_file)
        _own_files[filename] = known
    return known


contextlib_file = sys.modules["contextlib"].__file__ if "contextlib" in sys.modules else ""
threading_file = sys.modules["threading"].__file__ if "threading" in sys.modules else ""


def user_line() -> Line | None:
    """The innermost frame outside of the package: its code and line number."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        own = _own_files.get(code.co_filename)
        if own is None:
            own = _is_own(code.co_filename)
        if not own:
            return code, frame.f_lineno
        frame = frame.f_back
    return None


def describe(line: Line | None) -> str:
    """`train.py:41`, or an empty string where the line is not known."""
    if line is None:
        return ""
    return f"{os.path.basename(line[0].co_filename)}:{line[1]}"


def summary(line: Line | None) -> list[traceback.FrameSummary]:
    """The line as the standard library's frame summaries."""
    if line is None:
        return []
    return [traceback.FrameSummary(line[0].co_filename, line[1], line[0].co_name)]


def placed(obj: Any, line: Line | None) -> Placed:
    """What a line said, together with its file and number."""
    return Placed(obj, None, None) if line is None else Placed(obj, line[0].co_filename, line[1])


def described_function(function: Any) -> str:
    """`choose<train.py, 12>`: a function with the place where it is defined."""
    name = getattr(function, "__name__", None) or str(function)
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    place = (code.co_filename, code.co_firstlineno) if code is not None else ("unknown", -1)
    return f"{name}<{place[0]}, {place[1]}>"
