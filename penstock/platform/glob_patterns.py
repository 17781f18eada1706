"""Which files match a pattern, by the rules of TensorFlow's file systems.

They differ from those of Python's `glob`: `*` and `?` match a leading dot, `**` is nothing special,
a backslash quotes the character after it, and a relative pattern gives names that start with `./`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

_WILDCARD = re.compile(r"[*?\[\\]")


def matching_files(pattern: str) -> list[str]:
    """The files and directories that a pattern matches, sorted."""
    first = _WILDCARD.search(pattern)
    if first is None:
        return [pattern] if os.path.exists(pattern) else []
    base = os.path.dirname(pattern[: first.start()])
    parts = [part for part in pattern[len(base) :].split("/") if part]
    if not base:
        base = "/" if pattern.startswith("/") else "."
    return sorted(_descend(base, [re.compile(_regex(part), re.DOTALL) for part in parts]))


def _descend(directory: str, parts: list[re.Pattern[str]]) -> Iterator[str]:
    try:
        names = os.listdir(directory)
    except OSError:  # a file, or not ours to read: nothing in it matches
        return
    for name in names:
        if parts[0].fullmatch(name):
            path = os.path.join(directory, name)
            if len(parts) == 1:
                yield path
            else:
                yield from _descend(path, parts[1:])


def _regex(part: str) -> str:
    """The regular expression for one part of a path."""
    found = []
    position = 0
    while position < len(part):
        char = part[position]
        position += 1
        if char == "*":
            found.append(".*")
        elif char == "?":
            found.append(".")
        elif char == "\\" and position < len(part):
            found.append(re.escape(part[position]))
            position += 1
        elif char == "[" and (end := part.find("]", position + 1)) > 0:
            found.append(_character_set(part[position:end]))
            position = end + 1
        else:
            found.append(re.escape(char))
    return "".join(found)


def _character_set(body: str) -> str:
    negated = body[0] in "!^"
    members = body[1:] if negated else body
    quoted = re.sub(r"([\[\]\\&~|^])", r"\\\1", members)
    return f"[{'^' if negated else ''}{quoted}]"
