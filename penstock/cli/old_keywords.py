"""Sources from before Python 3.7, to which `async` was a name like any other."""

from __future__ import annotations

import functools
import importlib.machinery
import io
import itertools
import tokenize
import types
from typing import Any

_KEYWORD, _NAME = "async", "async_"
_STATEMENTS = ("def", "for", "with")  # before which `async` is the keyword


def renamed(source: bytes) -> bytes:
    """A module's text with another name in place of `async` wherever that is a name.

    Each module that uses the name is given the same other one, so that arguments still fit.
    """
    tokens = list(tokenize.tokenize(io.BytesIO(source).readline))
    encoding = tokens[0].string
    lines = source.decode(encoding).splitlines(keepends=True)
    for token, following in reversed(list(itertools.pairwise(tokens))):
        if (token.type, token.string) != (tokenize.NAME, _KEYWORD):
            continue
        if following.string in _STATEMENTS:
            continue
        row, (start, end) = token.start[0] - 1, (token.start[1], token.end[1])
        lines[row] = lines[row][:start] + _NAME + lines[row][end:]
    return "".join(lines).encode(encoding)


def compiled(source: bytes, filename: str) -> types.CodeType | None:
    """The code of a module that uses `async` as a name; None if it is no such module."""
    if _KEYWORD.encode() not in source:
        return None
    try:
        return compile(renamed(source), filename, "exec", dont_inherit=True)
    except (SyntaxError, tokenize.TokenError, UnicodeDecodeError):
        return None


def restore() -> None:
    """Lets modules be imported that use `async` as a name."""
    loader = importlib.machinery.SourceFileLoader
    original = loader.source_to_code

    @functools.wraps(original)
    def source_to_code(self: Any, data: Any, path: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(self, data, path, *args, **kwargs)
        except SyntaxError:
            code = compiled(data, path) if isinstance(data, bytes) else None
            if code is None:
                raise
            return code

    if not hasattr(original, "__wrapped__"):  # once in a process is enough
        loader.source_to_code = source_to_code  # type: ignore[method-assign]
