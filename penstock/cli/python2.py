"""Programs in Python 2: where they are not Python 3, and their conversion in memory.

The conversion is fissix's (the kept-up lib2to3), and one thing that it leaves alone: `/` between
two integers rounded down, so without `from __future__ import division` each `/` asks its operands.
"""

from __future__ import annotations

import ast
import functools
import importlib.abc
import importlib.machinery
import importlib.util
import logging
import numbers
import os
import re
import site
import sys
import sysconfig
import tokenize
import types
from collections.abc import Sequence
from typing import Any

# What a line of Python 2 fails with, and what to write instead.
_SIGNS = (
    (r"\bprint\b(?!\s*\()", "write print(...) with parentheses"),
    (r"\bexec\b(?!\s*\()", "write exec(...) with parentheses"),
    (r"\bexcept\b.*,", "write `except Error as name:`"),
    (r"\braise\b.*,", "write `raise Error(message)`"),
    (r"<>", "write != instead of <>"),
    (r"`", "write repr(...) instead of backquotes"),
    (r"\b[uU][rR]['\"]", "write r'...' instead of ur'...'"),
    (r"\b0[0-7]+\b", "write 0o... for an octal number"),
    (r"\b\d+[lL]\b", "write the number without its L"),
    (r"\bdef\b.*\(.*\(", "unpack the tuple inside of the function"),
    (r"^\s*\t|^\t* +\t", "indent with spaces, or with tabs, alone"),
)


def advice(line: str) -> str | None:
    """What to write instead of a line that does not parse, if it looks like Python 2."""
    return next((what for sign, what in _SIGNS if re.search(sign, line)), None)


def read_source(filename: str) -> str:
    """A program's text by the encoding that it declares."""
    try:
        with tokenize.open(filename) as file:
            return file.read()
    except (SyntaxError, UnicodeDecodeError):  # Python 2 took any bytes in comments and strings
        with open(filename, encoding="latin-1") as file:
            return file.read()


@functools.cache
def _refactoring(print_function: bool) -> Any:
    from fissix import refactor

    logging.getLogger("RefactoringTool").setLevel(logging.ERROR)
    skipped = {"fissix.fixes.fix_idioms", "fissix.fixes.fix_set_literal", "fissix.fixes.fix_buffer"}
    fixers = [
        name for name in refactor.get_fixers_from_package("fissix.fixes") if name not in skipped
    ]
    return refactor.RefactoringTool(fixers, {"print_function": print_function})


def converted(source: str, filename: str) -> str:
    """The text of a Python 2 program as Python 3; SyntaxError where it is neither."""
    from fissix.pgen2.parse import ParseError
    from fissix.pgen2.tokenize import TokenError

    source = "\n".join(line.expandtabs(8) for line in source.splitlines()) + "\n"
    for print_function in (False, True):
        # A program that has print() as a function already needs the grammar without the statement.
        try:
            return str(_refactoring(print_function).refactor_string(source, filename))
        except (ParseError, TokenError) as error:
            failure = error
    raise SyntaxError(f"{filename} is neither Python 3 nor Python 2: {failure}")


def compiled(source: str, filename: str) -> types.CodeType:
    """A Python 2 program as code to run."""
    rounds_down = not re.search(r"^from __future__ import .*\bdivision\b", source, re.MULTILINE)
    tree = ast.parse(converted(source, filename), filename)
    if rounds_down:
        tree = ast.fix_missing_locations(_Division().visit(tree))
    return compile(tree, filename, "exec", dont_inherit=True)


class _Division(ast.NodeTransformer):
    """Replaces `a / b` by a call that rounds down where both are integers, as Python 2 did."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Div):
            return node
        return _call("division", node.left, node.right, node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Div):
            return node
        left = ast.parse(ast.unparse(node.target), mode="eval").body
        value = _call("division", left, node.value, node)
        return ast.copy_location(ast.Assign([node.target], value), node)


def _call(name: str, left: ast.expr, right: ast.expr, node: ast.AST) -> ast.expr:
    module = ast.parse(f"__import__('{__name__}', fromlist=['{name}']).{name}", mode="eval").body
    return ast.copy_location(ast.Call(module, [left, right], []), node)


def division(left: Any, right: Any) -> Any:
    """`left / right` by the rule of Python 2."""
    import numpy as np

    def is_integral(value: Any) -> bool:
        if isinstance(value, np.ndarray):
            return bool(np.issubdtype(value.dtype, np.integer))
        return isinstance(value, (numbers.Integral, np.integer))

    if is_integral(left) and is_integral(right):
        return left // right
    return left / right


def _folder_of_package(fullname: str, origin: str) -> str:
    """The folder in which the outermost package of a module lies."""
    folder = os.path.dirname(os.path.abspath(origin))
    levels = fullname.count(".") + (os.path.basename(origin) == "__init__.py")
    return os.path.normpath(os.path.join(folder, *[os.pardir] * levels))


@functools.cache
def _is_of_pip(folder: str) -> bool:
    """Whether pip has put packages into a folder, as `pip install --target` does."""
    return any(entry.name.endswith(".dist-info") for entry in os.scandir(folder))


class _Loader(importlib.machinery.SourceFileLoader):
    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> types.CodeType:  # type: ignore[override]
        return compiled(read_source(path), path)

    def get_code(self, fullname: str) -> types.CodeType:
        return compiled(read_source(self.path), self.path)  # no cached byte code: it is not ours


class _Finder(importlib.abc.MetaPathFinder):
    """Converts the program's own modules: those that neither Python nor a package brought."""

    def __init__(self) -> None:
        paths = sysconfig.get_paths()
        installed = [paths["stdlib"], paths["purelib"], paths["platlib"], *site.getsitepackages()]
        package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        self._installed = tuple(os.path.realpath(path) + os.sep for path in [*installed, package])

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or not spec.origin or not spec.origin.endswith(".py"):
            return None
        if os.path.realpath(spec.origin).startswith(self._installed):
            return None
        if _is_of_pip(_folder_of_package(fullname, spec.origin)):
            return None
        spec.loader = _Loader(fullname, spec.origin)
        return spec


def convert_imports() -> None:
    """Converts what the program imports of its own, too."""
    sys.meta_path.insert(0, _Finder())
