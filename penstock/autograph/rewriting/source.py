"""From a function to its syntax tree."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
from collections.abc import Sequence
from types import CodeType
from typing import Any


def tree_of(function: Any) -> ast.FunctionDef | ast.Lambda:
    """The syntax tree of a function, its nodes at their lines of the file.

    Raises:
      OSError: if there is no source.
      ValueError: if it can't be found there.
    """
    code: CodeType = function.__code__
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if len(lines) < code.co_firstlineno:
        raise OSError("could not get source code")
    if code.co_name == "<lambda>":
        return _lambda(code, lines)
    return _definition(code, lines)


def _definition(code: CodeType, lines: Sequence[str]) -> ast.FunctionDef:
    block = inspect.getblock(lines[code.co_firstlineno - 1 :])
    indented = block[0][:1].isspace()
    # In a block, indentation stays what it is, and with it the text of strings over lines.
    text = ("if True:\n" if indented else "\n") + "".join(block)
    (node,) = ast.parse(text).body
    found: Any = node.body[0] if isinstance(node, ast.If) else node
    if isinstance(found, ast.AsyncFunctionDef):
        raise NotImplementedError("coroutines are not converted")
    if not isinstance(found, ast.FunctionDef) or found.name != code.co_name:
        raise ValueError(f"the source of {code.co_name} is not at line {code.co_firstlineno}")
    ast.increment_lineno(found, code.co_firstlineno - 2)
    return found


def _lambda(code: CodeType, lines: Sequence[str]) -> ast.Lambda:
    """The lambda that begins at a line; there may be several, and one inside of another."""
    candidates = [
        node
        for node in _file_lambdas(tuple(lines))
        if node.lineno == code.co_firstlineno and _parameters(node) == _names_of(code)
    ]
    if len(candidates) > 1:
        candidates = [node for node in candidates if _may_be(node, code)]
        candidates = [node for node in candidates if not _has_other(node, candidates)]
    texts = {ast.dump(node) for node in candidates}
    if len(texts) != 1:
        raise ValueError(
            f"Unable to identify source code of lambda function {code}. It was defined on this "
            f"line: {lines[code.co_firstlineno - 1].strip()}, which must contain a single lambda "
            "with matching signature. To avoid ambiguity, define each lambda in a separate "
            "expression."
        )
    return candidates[0]


@functools.lru_cache(maxsize=16)
def _file_lambdas(lines: tuple[str, ...]) -> tuple[ast.Lambda, ...]:
    tree = ast.parse("".join(lines))
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.Lambda))


def _parameters(node: ast.Lambda) -> tuple[str, ...]:
    args = node.args
    named = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    return tuple(each.arg for each in (*named, args.vararg, args.kwarg) if each is not None)


def _names_of(code: CodeType) -> tuple[str, ...]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_varnames[:count]


def _may_be(node: ast.Lambda, code: CodeType) -> bool:
    """Whether code is where a lambda is; where Python does not tell, whether it has its names."""
    if not hasattr(code, "co_positions"):  # before Python 3.11
        names = {each.id for each in ast.walk(node.body) if isinstance(each, ast.Name)}
        names |= {each.attr for each in ast.walk(node.body) if isinstance(each, ast.Attribute)}
        return names >= {*code.co_names, *code.co_freevars}
    body = node.body
    assert body.end_lineno is not None and body.end_col_offset is not None
    start = body.lineno, body.col_offset
    end = body.end_lineno, body.end_col_offset
    for first, last, column, end_column in code.co_positions():
        if None in (first, last, column, end_column) or (first, column) == (last, end_column):
            continue
        if (first, column) < start or (last, end_column) > end:
            return False
    return True


def _has_other(node: ast.Lambda, others: Sequence[ast.Lambda]) -> bool:
    return any(each is not node and each in others for each in ast.walk(node))
