"""`penstock run`: an unmodified TensorFlow 1.x program."""

from __future__ import annotations

import os
import runpy
import sys
import types
from collections.abc import Sequence

from penstock import absent
from penstock.cli import (
    old_keywords,
    old_numpy,
    old_packages,
    old_protobuf,
    old_python,
    python2,
    stand_in,
)
from penstock.internal_paths import table


def run_program(script: str, arguments: Sequence[str], *, py2: bool = False) -> int:
    """Runs a program's file as `__main__` with penstock in tensorflow's place; the exit status.

    `py2` converts the program and its own modules from Python 2 in memory.
    """
    if not os.path.isfile(script):
        _say(f"there is no file {script!r}")
        return 2
    old_code = None if py2 else _code_with_old_names(script)
    if not py2 and old_code is None and not _parses(script):
        return 1
    _take_tensorflow_place()
    sys.argv = [script, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    if py2:
        python2.convert_imports()
    old_protobuf.restore()
    try:
        if py2:
            _run_code(python2.compiled(python2.read_source(script), script), script)
        elif old_code is not None:
            _run_code(old_code, script)
        else:
            runpy.run_path(script, run_name="__main__")
    except BaseException as error:
        missing = _still_missing()
        if missing and not (isinstance(error, SystemExit) and error.code in (None, 0)):
            _say(f"the program met what is not there: {', '.join(missing)}")
        raise
    return 0


def run_module(name: str, arguments: Sequence[str]) -> int:
    """Runs a module as `__main__` with penstock in tensorflow's place, as `python -m` does.

    A module of TensorFlow, such as tensorflow.python.tools.freeze_graph, is Penstock's.
    """
    _take_tensorflow_place()
    old_protobuf.restore()
    root, _, path = name.partition(".")
    if root == "tensorflow":
        sources = table.sources(path)
        if not sources:
            _say(f"there is no module {name!r}")
            return 2
        name = f"penstock.{sources[0]}"
    sys.argv = [name, *arguments]
    sys.path.insert(0, os.getcwd())
    runpy.run_module(name, run_name="__main__", alter_sys=True)
    return 0


def _take_tensorflow_place() -> None:
    """Lets `import tensorflow` give penstock, and brings back what later releases have dropped."""
    stand_in.install()
    old_numpy.restore()
    old_python.restore()
    old_packages.restore()
    old_keywords.restore()


def _still_missing() -> list[str]:
    """What the program asked for in vain. `from x import y` asks x for y before it imports x.y."""
    return sorted(
        symbol for symbol in absent.met if "penstock." + symbol.partition(".")[2] not in sys.modules
    )


def _code_with_old_names(script: str) -> types.CodeType | None:
    """The code of a program that only lacks being Python 3.7 by names that are keywords since."""
    with open(script, "rb") as file:
        source = file.read()
    try:
        compile(source, script, "exec", dont_inherit=True)
    except SyntaxError:
        return old_keywords.compiled(source, script)
    except ValueError:  # null bytes
        return None
    return None


def _run_code(code: types.CodeType, script: str) -> None:
    module = types.ModuleType("__main__")
    module.__file__ = script
    sys.modules["__main__"] = module
    exec(code, module.__dict__)  # the user's own program


def _parses(script: str) -> bool:
    """Whether a program is Python 3; says where it is not, and what to write there."""
    with open(script, "rb") as file:
        source = file.read()
    try:
        compile(source, script, "exec", dont_inherit=True)
    except SyntaxError as error:
        line = (error.text or "").strip("\n")
        what = python2.advice(line)
        hint = f" If this is Python 2: {what}, or add --py2." if what else ""
        _say(f"{script}:{error.lineno}: {error.msg}: {line.strip()}{hint}")
        return False
    return True


def _say(message: str) -> None:
    print(f"penstock run: {message}", file=sys.stderr)
