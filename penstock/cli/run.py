"""`penstock run`: an unmodified TensorFlow 1.x program."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Sequence

from penstock.cli import old_numpy, stand_in

# What a line of Python 2 fails with, and what to write instead.
_PYTHON_2 = (
    ("print", "write print(...) with parentheses"),
    ("exec", "write exec(...) with parentheses"),
    ("except", "write `except Error as name:`"),
    ("raise", "write `raise Error(message)`"),
    ("<>", "write != instead of <>"),
    ("`", "write repr(...) instead of backquotes"),
    ("ur'", "write '...' instead of ur'...'"),
)


def run_program(script: str, arguments: Sequence[str]) -> int:
    """Runs a program's file as `__main__` with penstock in tensorflow's place; the exit status."""
    if not os.path.isfile(script):
        _say(f"there is no file {script!r}")
        return 2
    if not _parses(script):
        return 1
    missing = stand_in.install()
    old_numpy.restore()
    sys.argv = [script, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    try:
        runpy.run_path(script, run_name="__main__")
    except BaseException as error:
        if missing and not (isinstance(error, SystemExit) and error.code in (None, 0)):
            _say(f"the program met what is not there yet: {', '.join(sorted(missing))}")
        raise
    return 0


def _parses(script: str) -> bool:
    """Whether a program is Python 3; says where it is not, and what to write there."""
    with open(script, "rb") as file:
        source = file.read()
    try:
        compile(source, script, "exec", dont_inherit=True)
    except SyntaxError as error:
        line = (error.text or "").strip()
        hints = [advice for sign, advice in _PYTHON_2 if sign in line]
        hint = f" If this is Python 2: {hints[0]}." if hints else ""
        _say(f"{script}:{error.lineno}: {error.msg}: {line}{hint}")
        return False
    return True


def _say(message: str) -> None:
    print(f"penstock run: {message}", file=sys.stderr)
